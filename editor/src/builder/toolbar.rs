//! The bar over the builder: whose flow this is, what is saved, what is wrong, and the big verbs.

use leptos::prelude::*;
use leptos_router::components::A;
use weir_shared::finding::FindingCounts;

use crate::backend::api::Api;
use crate::model::edit::{Edit, FlowField};
use crate::state::builder::{Builder, RunPart, Saving};
use crate::ui::button::{Button, IconButton, Weight};
use crate::ui::chip::{Chip, Tone};
use crate::ui::icon::{Glyph, Mark};

/// The bar.
#[component]
pub(crate) fn Toolbar(findings_open: RwSignal<bool>, webhooks_open: RwSignal<bool>) -> impl IntoView {
    let builder: Builder = expect_context();
    let api = Api::from_context();
    let dirty = Memo::new(move |_| builder.is_dirty());
    let save_state = move || {
        builder.saving.with(|saving| match saving {
            Saving::UnderWay => (Tone::Active, "Saving…".to_owned()),
            Saving::Failed(_) => (Tone::Bad, "Not saved".to_owned()),
            Saving::Conflict(_) => (Tone::Bad, "Changed on disk".to_owned()),
            Saving::Idle if dirty.get() => (Tone::Active, "Unsaved changes".to_owned()),
            Saving::Idle => (Tone::Good, "Saved".to_owned()),
        })
    };
    let tone = Signal::derive(move || save_state().0);
    let words = Signal::derive(move || save_state().1);
    let counts = Memo::new(move |_| builder.findings.with(|findings| FindingCounts::of(findings)));
    let problems = move || {
        let FindingCounts { errors, warnings } = counts.get();
        match (errors, warnings) {
            (0, 0) => builder.findings.with(|findings| match findings.len() {
                0 => "No findings".to_owned(),
                1 => "1 remark".to_owned(),
                count => format!("{count} remarks"),
            }),
            (0, 1) => "1 warning".to_owned(),
            (0, warnings) => format!("{warnings} warnings"),
            (1, 0) => "1 error".to_owned(),
            (errors, 0) => format!("{errors} errors"),
            (errors, warnings) => format!("{errors} + {warnings} findings"),
        }
    };
    let problems_class = move || match counts.get() {
        FindingCounts { errors: 0, warnings: 0 } => "findings-button",
        FindingCounts { errors: 0, .. } => "findings-button warning",
        FindingCounts { .. } => "findings-button error",
    };
    let name = move || builder.flow.with(|flow| flow.name.clone());
    let run_hint = Signal::derive(move || {
        if counts.get().errors > 0 { "Mend the errors first".to_owned() } else { "Run this flow".to_owned() }
    });
    let no_undo = Signal::derive(move || !builder.can_undo());
    let no_redo = Signal::derive(move || !builder.can_redo());
    view! {
        <header class="toolbar">
            <A href="/" attr:class="toolbar-home" attr:aria-label="All flows">
                <Mark />
                <span>"Flows /"</span>
            </A>
            <input class="toolbar-name" aria-label="Name of the flow" autocomplete="off" spellcheck="false"
                size=move || (name().chars().count() + 1).clamp(8, 48).to_string() prop:value=name
                on:input=move |event| builder.apply(Edit::Flow(FlowField::Name(event_target_value(&event))))
                on:blur=move |_| builder.pause_typing() />
            <span class="save-state" role="status">
                <Chip tone text=words />
            </span>
            <span class="push"></span>
            <button type="button" class=problems_class aria-expanded=move || findings_open.get().to_string()
                on:click=move |_| findings_open.update(|open| *open = !*open)>
                {problems}
            </button>
            <IconButton glyph=Glyph::Undo name="Undo (Ctrl Z)" disabled=no_undo on_press=move || builder.undo() />
            <IconButton glyph=Glyph::Redo name="Redo (Ctrl Shift Z)" disabled=no_redo on_press=move || builder.redo() />
            <IconButton glyph=Glyph::Link name="Webhooks" on_press=move || webhooks_open.set(true) />
            <span class="toolbar-line"></span>
            <Button weight=Weight::Outline disabled=Signal::derive(move || !dirty.get()) on_press=move || builder.save(api)>
                "Save"
                <kbd aria-hidden="true">"Ctrl S"</kbd>
            </Button>
            <Button weight=Weight::Primary glyph=Glyph::Play hint=run_hint
                disabled=Signal::derive(move || { counts.get().errors > 0 })
                on_press=move || builder.ask_run(RunPart::Whole)>
                "Run"
            </Button>
        </header>
    }
}
