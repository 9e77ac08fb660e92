//! What a node gives: its declared outputs, and how to refer to them.

use std::sync::Arc;

use leptos::prelude::*;
use serde_json::Value;
use weir_shared::tool::ToolDeclaration;

use super::tree::{Leaf, outputs};
use crate::model::edit::Edit;
use crate::state::builder::Builder;
use crate::state::card::{CardState, StepResult};
use crate::ui::button::{Button, IconButton, Weight};
use crate::ui::icon::Glyph;
use crate::ui::readable::duration;
use crate::ui::readout::Json;
use crate::ui::toast::Toasts;

/// The outputs of a node.
#[component]
pub(crate) fn Outputs(id: String, tool: Memo<Option<ToolDeclaration>>) -> impl IntoView {
    let builder: Builder = expect_context();
    let root = format!("node.{id}.result");
    let node = StoredValue::new(id.clone());
    let leaves = Memo::new({
        let root = root.clone();
        move |_| tool.with(|tool| tool.as_ref().map(|tool| outputs(tool, &root)).unwrap_or_default())
    });
    let whole = Leaf {
        depth: 0,
        label: "whole result".to_owned(),
        data_type: "any".to_owned(),
        path: root,
        sample: String::new(),
        refusal: None,
    };
    let ports = move || tool.with(|tool| tool.as_ref().map(|tool| tool.ports.join(", ")).unwrap_or_default());
    let last = move || {
        builder.card_states.with(|states| {
            Some(match states.get(&id)? {
                CardState::Waiting => "Not its turn yet in the run shown.".to_owned(),
                CardState::Running { .. } => "Running now.".to_owned(),
                CardState::Retrying { next_attempt } => format!("Attempt {next_attempt} follows."),
                CardState::WaitsForYou => "Waits for your approval in the run panel.".to_owned(),
                CardState::Done { duration_ms, .. } => {
                    format!("Done in {}; its result is in the run panel.", duration(*duration_ms))
                }
                CardState::Failed { message, .. } => format!("Failed: {message}"),
                CardState::Skipped { .. } => "Skipped in the run shown.".to_owned(),
                CardState::Cancelled => "Cancelled in the run shown.".to_owned(),
                CardState::Interrupted => "Interrupted in the run shown.".to_owned(),
            })
        })
    };
    view! {
        <Pinning node />
        {move || last().map(|said| view! { <p class="output-last">{said}</p> })}
        <p class="muted">"What later nodes can refer to. Copy a reference, or pick it in their Inputs."</p>
        <div class="outputs">
            {move || leaves.get().into_iter().map(|leaf| view! { <OutputRow leaf /> }).collect_view()}
            <OutputRow leaf=whole />
        </div>
        {move || {
            Some(ports())
                .filter(|ports| !ports.is_empty())
                .map(|ports| {
                    view! {
                        <p class="muted">
                            "Branches: " <code>{ports}</code> ". An edge from a branch is followed only when it is taken."
                        </p>
                    }
                })
        }}
    }
}

/// The result in the run shown, and the value that is served in its place once it is pinned.
#[component]
fn Pinning(node: StoredValue<String>) -> impl IntoView {
    let builder: Builder = expect_context();
    let pinned = Memo::new(move |_| builder.flow.with(|flow| node.with_value(|node| flow.pins.get(node).cloned())));
    let result = Memo::new(move |_| builder.results.with(|results| node.with_value(|node| results.get(node).cloned())));
    let pin = move |value: Option<Value>| builder.apply(Edit::Pin { node: node.get_value(), value });
    let shown = move || match (pinned.get(), result.get()) {
        (Some(value), _) => view! {
            <section class="last-result pinned">
                <div class="last-result-top small">
                    <b>"Pinned"</b>
                    <span class="faint">"served in place of a call"</span>
                    <span class="push"></span>
                    <Button weight=Weight::Outline on_press=move || pin(None)>"Unpin"</Button>
                </div>
                <Json value />
            </section>
        }
        .into_any(),
        (None, Some(StepResult { value, truncated })) => {
            let hint = if truncated {
                "Only a part of this result is here, so it cannot be pinned"
            } else {
                "Serve this in place of a call"
            };
            let kept = Arc::clone(&value);
            view! {
                <section class="last-result">
                    <div class="last-result-top small">
                        <b>"Result"</b>
                        <span class="faint">"of the run shown"</span>
                        <span class="push"></span>
                        <Button weight=Weight::Outline disabled=truncated hint=hint.to_owned() on_press=move || pin(Some((*kept).clone()))>
                            "Pin"
                        </Button>
                    </div>
                    <Json value=(*value).clone() />
                </section>
            }
            .into_any()
        }
        (None, None) => ().into_any(),
    };
    shown
}

#[component]
fn OutputRow(leaf: Leaf) -> impl IntoView {
    let toasts = Toasts::from_context();
    let indent = format!("{}px", 8 + leaf.depth * 14);
    let dot = format!("dot type-dot type-{}", leaf.data_type);
    let reference = format!("{{{{{}}}}}", leaf.path);
    let title = reference.clone();
    let copy = move || {
        let text = reference.clone();
        leptos::task::spawn_local(async move {
            match crate::ui::copy::copy(&text).await {
                Ok(()) => toasts.say(format!("{text} is copied.")),
                Err(_) => toasts.fail(format!("The browser does not let the page copy here. The reference is {text}")),
            }
        });
    };
    view! {
        <div class="output-row small tip-left" style:padding-left=indent title=title>
            <i class=dot></i>
            <span class="ellipsis">{leaf.label}</span>
            <span class=format!("type type-{}", leaf.data_type)>{leaf.data_type.clone()}</span>
            <em class="ellipsis">{leaf.sample}</em>
            <IconButton glyph=Glyph::Copy name="Copy the reference" on_press=copy />
        </div>
    }
}
