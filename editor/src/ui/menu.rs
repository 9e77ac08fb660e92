//! A menu of commands behind one button, by pointer and by keyboard.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::icon::{Glyph, Icon};

/// One command of a menu.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    pub(crate) words: &'static str,
    pub(crate) glyph: Glyph,
    pub(crate) tone: CommandTone,
    pub(crate) run: Callback<()>,
}

/// Whether a command takes something away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandTone {
    Plain,
    Destructive,
}

/// A button that opens a menu. Arrows move in it, Escape and a press elsewhere close it.
#[component]
pub(crate) fn Menu(#[prop(into)] name: String, commands: Vec<Command>) -> impl IntoView {
    let open = RwSignal::new(false);
    let root = NodeRef::<html::Div>::new();
    let outside = window_event_listener(ev::pointerdown, move |event| {
        let inside = root.get_untracked().is_some_and(|root| {
            event
                .target()
                .and_then(|target| target.dyn_into::<web_sys::Node>().ok())
                .is_some_and(|target| root.contains(Some(&target)))
        });
        if !inside && open.try_get_untracked() == Some(true) {
            open.set(false);
        }
    });
    on_cleanup(move || outside.remove());
    Effect::new(move |_| {
        if open.get() {
            request_animation_frame(move || focus_item(root, Step::First));
        }
    });
    let commands = StoredValue::new(commands);
    view! {
        <div class="menu" node_ref=root
            on:keydown=move |event| {
                let step = match event.key().as_str() {
                    "ArrowDown" => Step::Next,
                    "ArrowUp" => Step::Previous,
                    "Escape" => {
                        open.set(false);
                        return;
                    }
                    _ => return,
                };
                event.prevent_default();
                focus_item(root, step);
            }>
            <button type="button" class="btn icon-btn" aria-haspopup="menu" aria-label=name
                aria-expanded=move || if open.get() { "true" } else { "false" }
                on:click=move |event| {
                    event.prevent_default();
                    event.stop_propagation();
                    open.update(|open| *open = !*open);
                }>
                <Icon glyph=Glyph::Dots size=17 />
            </button>
            <Show when=move || open.get()>
                <div class="menu-list" role="menu">
                    {commands
                        .get_value()
                        .into_iter()
                        .map(|command| {
                            let class = match command.tone {
                                CommandTone::Plain => "menu-item",
                                CommandTone::Destructive => "menu-item destructive",
                            };
                            view! {
                                <button type="button" role="menuitem" class=class
                                    on:click=move |event| {
                                        event.prevent_default();
                                        event.stop_propagation();
                                        open.set(false);
                                        command.run.run(());
                                    }>
                                    <Icon glyph=command.glyph size=15 />
                                    {command.words}
                                </button>
                            }
                        })
                        .collect_view()}
                </div>
            </Show>
        </div>
    }
}

enum Step {
    First,
    Next,
    Previous,
}

fn focus_item(root: NodeRef<html::Div>, step: Step) {
    let Some(items) = root.get_untracked().and_then(|root| root.query_selector_all("[role=menuitem]").ok()) else {
        return;
    };
    let items: Vec<web_sys::HtmlElement> =
        (0..items.length()).filter_map(|at| items.item(at)?.dyn_into().ok()).collect();
    let active = document().active_element();
    let at = items.iter().position(|item| active.as_ref().is_some_and(|active| active == item.unchecked_ref()));
    let next = match (step, at) {
        (Step::First, _) | (Step::Next, None) => 0,
        (Step::Next, Some(at)) => (at + 1) % items.len().max(1),
        (Step::Previous, None | Some(0)) => items.len().saturating_sub(1),
        (Step::Previous, Some(at)) => at - 1,
    };
    if let Some(item) = items.get(next) {
        let _ = item.focus();
    }
}
