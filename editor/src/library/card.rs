//! One flow as a card: its shape, name, description, and how it stands.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use weir_shared::flow::{Flow, START};
use weir_shared::ids::Timestamp;
use weir_shared::tool::Catalog;
use weir_shared::wire::FlowSummary;

use super::sketch::{HEIGHT, Sketch, WIDTH, sketch};
use crate::backend::api::Api;
use crate::face::look::Look;
use crate::runs::words;
use crate::ui::chip::Fact;
use crate::ui::icon::Glyph;
use crate::ui::menu::{Command, CommandTone, Menu};
use crate::ui::readable::count;

/// What a person may ask of a card.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CardVerbs {
    pub(crate) open: Callback<(FlowSummary,)>,
    pub(crate) duplicate: Callback<(FlowSummary,)>,
    pub(crate) delete: Callback<(FlowSummary,)>,
}

/// A card of the library. It is made anew when its flow's summary changes.
#[component]
pub(crate) fn FlowCard(
    flow: FlowSummary,
    now: Signal<Timestamp>,
    catalog: Signal<Arc<Catalog>>,
    verbs: CardVerbs,
) -> impl IntoView {
    let href = format!("/flows/{}", flow.id);
    let findings = flow.findings;
    let kept = StoredValue::new(flow.clone());
    let commands = vec![
        Command {
            words: "Open",
            glyph: Glyph::Pencil,
            tone: CommandTone::Plain,
            run: Callback::new(move |()| verbs.open.run((kept.get_value(),))),
        },
        Command {
            words: "Duplicate",
            glyph: Glyph::Copy,
            tone: CommandTone::Plain,
            run: Callback::new(move |()| verbs.duplicate.run((kept.get_value(),))),
        },
        Command {
            words: "Delete…",
            glyph: Glyph::Trash,
            tone: CommandTone::Destructive,
            run: Callback::new(move |()| verbs.delete.run((kept.get_value(),))),
        },
    ];
    let run = flow.last_run.clone();
    let ran = move || match &run {
        Some(run) => {
            let said = words::last_run(run, now.get());
            view! { <Fact tone=words::run_tone(run.status) text=said /> }.into_any()
        }
        None => view! { <span class="faint">"never ran"</span> }.into_any(),
    };
    view! {
        <article class="flow-card">
            <Preview flow=flow.clone() catalog />
            <div class="flow-card-body">
                <a class="flow-card-link" href=href>
                    <h2 class="ellipsis" title=flow.name.clone()>{flow.name.clone()}</h2>
                </a>
                <p class="flow-card-text">{flow.description.clone()}</p>
                <div class="flow-card-facts">
                    {ran}
                    <span class="push"></span>
                    {(findings.errors > 0)
                        .then(|| view! { <span class="finding-count bad">{count(findings.errors, "error")}</span> })}
                    {(findings.errors == 0 && findings.warnings > 0)
                        .then(|| view! { <span class="finding-count">{count(findings.warnings, "warning")}</span> })}
                    <span class="pill">{count(flow.step_count, "step")}</span>
                </div>
            </div>
            <div class="flow-card-menu">
                <Menu name=format!("Commands of {}", flow.name) commands />
            </div>
        </article>
    }
}

/// The small drawing at the head of a card; fetched by itself, since the list does not hold the flows.
#[component]
fn Preview(flow: FlowSummary, catalog: Signal<Arc<Catalog>>) -> impl IntoView {
    let api = Api::from_context();
    let fetched = RwSignal::new(None::<Flow>);
    spawn_local(async move {
        if let Ok(view) = api.flow(&flow.id).await {
            // The card may be gone by now.
            fetched.try_set(view.flow);
        }
    });
    let drawn = move || {
        let catalog = catalog.get();
        let color = |tool: &str| {
            let look = if tool == START { Look::start() } else { Look::of(tool, catalog.get(tool)) };
            look.color.to_string()
        };
        fetched.with(|flow| flow.as_ref().map(|flow| sketch(flow, color)).unwrap_or_default())
    };
    view! {
        <svg class="flow-preview" viewBox=format!("0 0 {WIDTH} {HEIGHT}") preserveAspectRatio="xMidYMid meet" aria-hidden="true">
            {move || {
                let Sketch { blocks, lines } = drawn();
                view! {
                    {lines.into_iter().map(|line| view! { <path d=line /> }).collect_view()}
                    {blocks
                        .into_iter()
                        .map(|block| {
                            view! { <rect x=block.x y=block.y width=block.width height=block.height rx="5" fill=block.color /> }
                        })
                        .collect_view()}
                }
            }}
        </svg>
    }
}
