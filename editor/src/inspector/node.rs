//! The inspector of one node: what it is, its inputs, what it gives, how it behaves.

use leptos::prelude::*;
use weir_shared::finding::{Finding, Severity};
use weir_shared::flow::Node;

use super::argument::Arguments;
use super::behaviour::Behaviour;
use super::output::Outputs;
use crate::face::look::Look;
use crate::model::edit::{Edit, NodeField};
use crate::state::builder::{Builder, RunPart};
use crate::ui::button::{Button, Weight};
use crate::ui::choice::Choice;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::tabs::Tabs;

/// The inspector of the node with this id.
#[component]
pub(crate) fn NodeInspector(id: String) -> impl IntoView {
    let builder: Builder = expect_context();
    let id = StoredValue::new(id);
    let tab = RwSignal::new("inputs".to_owned());
    let tool_name = Memo::new(move |_| {
        builder.flow.with(|flow| id.with_value(|id| flow.node(id).map(|node| node.tool.clone()))).unwrap_or_default()
    });
    let tool = Memo::new(move |_| builder.tool(&tool_name.get()));
    // A finding that was clicked opens the tab its field is in.
    Effect::new(move |_| {
        let field = builder.wanted_field.with(|wanted| {
            let wanted = wanted.as_ref().filter(|wanted| wanted.node.as_deref() == Some(&id.get_value()))?;
            Some(wanted.field.clone().unwrap_or_default())
        });
        if let Some(field) = field {
            tab.set(if field.is_empty() || field.starts_with("args") { "inputs" } else { "behaviour" }.to_owned());
        }
    });
    let tabs =
        vec![Choice::new("inputs", "Inputs"), Choice::new("output", "Output"), Choice::new("behaviour", "Behaviour")];
    view! {
        <NodeHead id tool />
        <Tabs name="Parts of the node" value=tab choices=tabs on_change=move |chosen| tab.set(chosen) />
        <div class="inspector-body" on:focusout=move |_| builder.pause_typing()>
            {move || match tab.get().as_str() {
                "output" => view! { <Outputs id=id.get_value() tool /> }.into_any(),
                "behaviour" => view! { <Behaviour id=id.get_value() tool /> }.into_any(),
                _ => view! { <Arguments id=id.get_value() tool /> }.into_any(),
            }}
        </div>
    }
}

#[component]
fn NodeHead(id: StoredValue<String>, tool: Memo<Option<weir_shared::tool::ToolDeclaration>>) -> impl IntoView {
    let builder: Builder = expect_context();
    let node = Memo::new(move |_| builder.flow.with(|flow| id.with_value(|id| flow.node(id).cloned())));
    let look = Memo::new(move |_| {
        let name = node.with(|node| node.as_ref().map(|node| node.tool.clone())).unwrap_or_default();
        tool.with(|tool| Look::of(&name, tool.as_ref()))
    });
    let glyph = Signal::derive(move || look.with(|look| Glyph::named(&look.glyph)).unwrap_or(Glyph::Tools));
    let about = move || {
        let node = node.get().unwrap_or_default();
        match tool.get() {
            Some(tool) => {
                let label = tool.node.as_ref().map(|display| display.label.clone()).filter(|label| !label.is_empty());
                format!("{} · {} · {}", node.id, label.unwrap_or(tool.title), effect(tool.effect))
            }
            None => format!("{} · {} is not there", node.id, node.tool),
        }
    };
    let help = move || {
        tool.with(|tool| {
            let tool = tool.as_ref()?;
            tool.node.as_ref().and_then(|display| display.help.clone()).or_else(|| Some(tool.description.clone()))
        })
        .filter(|help| !help.is_empty())
    };
    let cannot_run = Signal::derive(move || {
        builder.findings.with(|findings| findings.iter().any(|finding| finding.severity == Severity::Error))
    });
    let why = Signal::derive(move || if cannot_run.get() { "Mend the errors first".to_owned() } else { String::new() });
    let retitle = move |typed: String| {
        let title = (!typed.is_empty()).then_some(typed);
        builder.apply(Edit::Node { id: id.get_value(), field: NodeField::Title(title) });
    };
    view! {
        <div class="inspector-head">
            <span class="inspector-badge" style:background-color=move || look.with(|look| look.color.to_string())
                style:color=move || look.with(|look| look.color.darken(0.75).to_string())>
                <Icon glyph size=20 />
            </span>
            <div class="inspector-title">
                <input class="title-input" aria-label="Title of the node" autocomplete="off" spellcheck="false"
                    placeholder=move || id.get_value()
                    prop:value=move || node.with(|node| node.as_ref().and_then(|node: &Node| node.title.clone())).unwrap_or_default()
                    on:input=move |event| retitle(event_target_value(&event)) on:blur=move |_| builder.pause_typing() />
                <p class="faint ellipsis">{about}</p>
            </div>
        </div>
        <div class="inspector-acts small">
            <Button weight=Weight::Outline glyph=Glyph::Play disabled=cannot_run hint=why
                on_press=move || builder.ask_run(RunPart::UpTo(id.get_value()))>
                "Run to here"
            </Button>
            <Button disabled=cannot_run hint=why on_press=move || builder.ask_run(RunPart::Only(id.get_value()))>
                "Run this node"
            </Button>
        </div>
        {move || help().map(|help| view! { <p class="inspector-help">{help}</p> })}
    }
}

/// An effect in words.
fn effect(effect: weir_shared::tool::Effect) -> &'static str {
    use weir_shared::tool::Effect;
    match effect {
        Effect::Read => "reads only",
        Effect::Write => "writes",
        Effect::Command => "runs a command",
        Effect::External => "reaches outside",
    }
}

/// The findings of a node (or of the flow) whose field begins with `prefix`.
#[component]
pub(crate) fn FindingLines(node: Option<String>, #[prop(into)] prefix: String) -> impl IntoView {
    let builder: Builder = expect_context();
    let found = Memo::new(move |_| {
        builder.findings.with(|findings| {
            let mine = |finding: &&Finding| {
                finding.node_id == node && finding.field.as_deref().unwrap_or_default().starts_with(prefix.as_str())
            };
            findings.iter().filter(mine).cloned().collect::<Vec<_>>()
        })
    });
    view! {
        <For each=move || found.get() key=|finding| (finding.code, finding.message.clone()) let(finding)>
            <FindingLine finding />
        </For>
    }
}

/// One finding: what is wrong, and what to do next.
#[component]
pub(crate) fn FindingLine(finding: Finding) -> impl IntoView {
    let class = match finding.severity {
        Severity::Error => "finding-line error",
        Severity::Warning => "finding-line warning",
        Severity::Info => "finding-line faint",
    };
    view! {
            <p class=class>
    {finding.message.trim_end_matches('.').to_owned()} "."
                {finding.hint.map(|hint| view! { <span class="finding-hint">" " {hint}</span> })}
            </p>
        }
}
