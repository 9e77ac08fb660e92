//! Two versions of the flow side by side, part by part, with the one both began as; a person picks where both changed.

use leptos::prelude::*;
use serde_json::Value;
use weir_shared::flow::Flow;

use crate::backend::api::Api;
use crate::model::merge::{Change, Difference, Part, Side, Versions, placed};
use crate::state::builder::{Builder, Saving};
use crate::ui::button::{Button, Weight};
use crate::ui::choice::{Choice, Segmented};
use crate::ui::dialog::Dialog;
use crate::ui::readout::Json;

/// The dialog; it shows something only while there are two readable versions.
#[component]
pub(crate) fn Compare(open: RwSignal<bool>) -> impl IntoView {
    let builder: Builder = expect_context();
    view! {
        <Dialog open title="Two versions of this flow">
            {move || {
                let theirs = builder.saving.with(|saving| match saving {
                    Saving::Conflict(theirs) => theirs.flow.clone(),
                    Saving::Idle | Saving::UnderWay | Saving::Failed(_) => None,
                });
                theirs.map(|theirs| view! { <Versioned theirs open /> })
            }}
        </Dialog>
    }
}

#[component]
fn Versioned(theirs: Flow, open: RwSignal<bool>) -> impl IntoView {
    let builder: Builder = expect_context();
    let api = Api::from_context();
    let (base, mine) = (builder.base_untracked(), builder.flow.get_untracked());
    let theirs = placed(theirs, &base);
    let differences = Versions { base: &base, mine: &mine, theirs: &theirs }.differences();
    let picked = RwSignal::new(Vec::<(Part, Side)>::new());
    let asked = differences.iter().filter(|difference| difference.is_conflict()).count();
    let told = match asked {
        0 => "No part was changed on both sides, so the two fit together as they are.".to_owned(),
        1 => "One part was changed on both sides. The others fit together.".to_owned(),
        asked => format!("{asked} parts were changed on both sides. The others fit together."),
    };
    let rows = differences
        .into_iter()
        .map(|difference| {
            let texts = [&*mine, &*base, &theirs].map(|flow| shown(&difference.part, flow));
            let name = named(&difference.part, [&*mine, &theirs, &*base]);
            view! { <Row difference name texts picked /> }
        })
        .collect_view();
    let merge = move || {
        open.set(false);
        builder.save_merged(api, &picked.get_untracked());
    };
    view! {
        <div class="dialog-body compare">
            <p class="muted">{told}</p>
            <div class="compare-rows">{rows}</div>
        </div>
        <div class="dialog-foot">
            <Button on_press=move || open.set(false)>"Decide later"</Button>
            <Button weight=Weight::Primary on_press=merge>"Save the two together"</Button>
        </div>
    }
}

#[component]
fn Row(
    difference: Difference,
    name: String,
    /// Mine, the base, theirs.
    texts: [Option<Value>; 3],
    picked: RwSignal<Vec<(Part, Side)>>,
) -> impl IntoView {
    let usual = difference.side();
    let part = StoredValue::new(difference.part.clone());
    let side = Memo::new(move |_| {
        let said =
            picked.with(|picked| picked.iter().find(|(of, _)| part.with_value(|part| part == of)).map(|of| of.1));
        said.unwrap_or(usual)
    });
    let pick = move |word: String| {
        let side = if word == word_of(Side::Theirs) { Side::Theirs } else { Side::Mine };
        picked.update(|picked| {
            picked.retain(|(of, _)| part.with_value(|part| part != of));
            picked.push((part.get_value(), side));
        });
    };
    let choices = [Side::Mine, Side::Theirs].map(|side| Choice::plain(word_of(side))).to_vec();
    let class = if difference.is_conflict() { "compare-row asked" } else { "compare-row" };
    let said = format!("mine {} · theirs {}", words(difference.mine), words(difference.theirs));
    let columns = ["Mine", "Both began as", "Theirs"]
        .into_iter()
        .zip(texts)
        .map(|(head, value)| {
            let body = match value {
                Some(value) => view! { <Json value /> }.into_any(),
                None => view! { <span class="faint">"not there"</span> }.into_any(),
            };
            view! {
                <section>
                    <h4>{head}</h4>
                    {body}
                </section>
            }
        })
        .collect_view();
    view! {
        <details class=class>
            <summary>
                <span class="compare-name">
                    <b class="ellipsis">{name.clone()}</b>
                    <span class="faint">{said}</span>
                </span>
                <span class="push"></span>
                // Choosing a side is not unfolding the row.
                <span on:click=|event| event.prevent_default()>
                    <Segmented name=format!("Version of {name}") value=Signal::derive(move || word_of(side.get()).to_owned()) choices
                        on_change=pick />
                </span>
            </summary>
            <div class="compare-columns">{columns}</div>
        </details>
    }
}

fn word_of(side: Side) -> &'static str {
    match side {
        Side::Mine => "Mine",
        Side::Theirs => "Theirs",
    }
}

fn words(change: Change) -> &'static str {
    match change {
        Change::Untouched => "untouched",
        Change::Added => "added",
        Change::Changed => "changed",
        Change::Removed => "removed",
    }
}

/// What a person calls a part, by the first version that has it.
fn named(part: &Part, versions: [&Flow; 3]) -> String {
    let label = |id: &str| {
        let node = versions.iter().find_map(|flow| flow.node(id));
        node.map_or_else(|| id.to_owned(), |node| node.label().to_owned())
    };
    match part {
        Part::Setting(setting) => setting.words().to_owned(),
        Part::Node(id) => label(id),
        Part::Edge(key) => format!("{} → {}", label(&key.source), label(&key.target)),
        Part::Note(id) => format!("Note {id}"),
    }
}

/// A part as one version has it.
fn shown(part: &Part, flow: &Flow) -> Option<Value> {
    let whole = serde_json::to_value(flow).ok()?;
    let of =
        |list: &str, is_it: &dyn Fn(&Value) -> bool| whole.get(list)?.as_array()?.iter().find(|at| is_it(at)).cloned();
    match part {
        Part::Setting(setting) => match setting.key() {
            Some(pointer) => whole.pointer(pointer).cloned(),
            None => serde_json::to_value(&flow.extensions).ok(),
        },
        Part::Node(id) => {
            let mut node = of("nodes", &|node| node["id"] == **id)?;
            for (key, list) in [("place", "layout"), ("pin", "pins")] {
                if let Some(value) = whole.get(list).and_then(|list| list.get(id)) {
                    node[key] = value.clone();
                }
            }
            Some(node)
        }
        Part::Edge(key) => {
            flow.edges.iter().find(|edge| key.names(edge)).and_then(|edge| serde_json::to_value(edge).ok())
        }
        Part::Note(id) => of("notes", &|note| note["id"] == **id),
    }
}
