//! What is wrong with the flow, by node; a press leads to the node and the field.

use leptos::prelude::*;
use weir_shared::finding::{Finding, Severity};

use crate::gesture::input::Joining;
use crate::model::item::Item;
use crate::state::builder::{Builder, WantedField};
use crate::state::stage::Stage;
use crate::ui::button::IconButton;
use crate::ui::icon::{Glyph, Icon};

/// Findings of one node, or of the flow itself.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    node: Option<String>,
    label: String,
    findings: Vec<Finding>,
}

fn grouped(builder: Builder) -> Vec<Group> {
    let findings = builder.findings.get();
    let flow = builder.flow.get();
    let mut groups: Vec<Group> = Vec::new();
    for finding in findings.iter() {
        if let Some(group) = groups.iter_mut().find(|group| group.node == finding.node_id) {
            group.findings.push(finding.clone());
            continue;
        }
        let node = finding.node_id.as_deref().and_then(|id| flow.node(id));
        let label = match (node, &finding.node_id) {
            (Some(node), _) => node.label().to_owned(),
            (None, Some(id)) => id.clone(),
            (None, None) => "The flow".to_owned(),
        };
        groups.push(Group { node: finding.node_id.clone(), label, findings: vec![finding.clone()] });
    }
    groups.sort_by_key(|group| group.node.is_some());
    groups
}

/// A message as a sentence of its own: messages are written so that they can also follow a place.
fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The panel, over the canvas at its top right.
#[component]
pub(crate) fn FindingsPanel(open: RwSignal<bool>) -> impl IntoView {
    let builder: Builder = expect_context();
    let stage: Stage = expect_context();
    let groups = Memo::new(move |_| grouped(builder));
    let go = move |finding: &Finding| {
        let item = finding.node_id.clone().map_or(Item::Start, Item::Node);
        if item.exists_in(&builder.flow.get_untracked()) {
            stage.select(item.clone(), Joining::Replace);
            stage.reveal(&item);
        }
        builder.wanted_field.set(Some(WantedField { node: finding.node_id.clone(), field: finding.field.clone() }));
    };
    let row = move |finding: Finding| {
        let (class, glyph, word) = match finding.severity {
            Severity::Error => ("finding error", Glyph::Alert, "Error"),
            Severity::Warning => ("finding warning", Glyph::Alert, "Warning"),
            Severity::Info => ("finding info", Glyph::Info, "Remark"),
        };
        let (message, hint) = (sentence(&finding.message), finding.hint.clone());
        view! {
            <button type="button" class=class on:click=move |_| go(&finding)>
                <Icon glyph />
                <span>
                    <span class="for-readers">{word} ": "</span>
                    {message}
                    {hint.map(|hint| view! { <small>{hint}</small> })}
                </span>
            </button>
        }
    };
    view! {
        <Show when=move || open.get()>
            <section class="findings" aria-label="Findings">
                <header>
                    <h2>"Findings"</h2>
                    <span class="push"></span>
                    <IconButton glyph=Glyph::X name="Close" on_press=move || open.set(false) />
                </header>
                <div class="findings-list">
                    <Show when=move || groups.with(Vec::is_empty)>
                        <p class="findings-none">
                            <Icon glyph=Glyph::Check />
                            "Nothing is wrong with this flow."
                        </p>
                    </Show>
                    {move || {
                        groups
                            .get()
                            .into_iter()
                            .map(|group| {
                                view! {
                                    <h3>{group.label}</h3>
                                    {group.findings.into_iter().map(row).collect_view()}
                                }
                            })
                            .collect_view()
                    }}
                </div>
            </section>
        </Show>
    }
}
