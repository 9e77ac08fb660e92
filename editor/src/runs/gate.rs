//! An open gate: what would run, exactly as it would, and the two answers.

use leptos::prelude::*;
use serde_json::Value;
use weir_shared::ids::StepIndex;
use weir_shared::run::event::{CoveredFile, Found};
use weir_shared::wire::{Approve, Gate};

use super::timeline::title;
use super::view::RunView;
use crate::ui::button::{Button, Weight};
use crate::ui::dialog::Dialog;
use crate::ui::field::Field;
use crate::ui::readable::bytes;
use crate::ui::readout::{Json, local_time};
use crate::ui::text::TextArea;

/// Every open gate of a run.
#[component]
pub(crate) fn Gates(
    view: RunView,
    on_answer: Callback<(Approve,)>,
    chosen: RwSignal<Option<StepIndex>>,
) -> impl IntoView {
    let gates = Memo::new(move |_| view.with(weir_shared::run::view::gates));
    view! {
        <For each=move || gates.get() key=|gate| gate.gate_id.clone() let(gate)>
            <GateCard gate view on_answer chosen />
        </For>
    }
}

#[component]
fn GateCard(
    gate: Gate,
    view: RunView,
    on_answer: Callback<(Approve,)>,
    chosen: RwSignal<Option<StepIndex>>,
) -> impl IntoView {
    let rejecting = RwSignal::new(false);
    let reason = RwSignal::new(String::new());
    // Answered once: a second press of a slow connection would be a stale answer.
    let sent = RwSignal::new(false);
    let id = StoredValue::new(gate.gate_id.clone());
    let index = gate.index;
    let name = move || {
        index
            .and_then(|index| view.with(|state| state.plan.as_ref().and_then(|plan| plan.step(index).map(title))))
            .unwrap_or_else(|| "The plan".to_owned())
    };
    let answer = move |approved: Verdict| {
        sent.set(true);
        let (approved, reason) = match approved {
            Verdict::Approved => (true, None),
            Verdict::Rejected => (false, Some(reason.get_untracked()).filter(|reason| !reason.trim().is_empty())),
        };
        on_answer.run((Approve { gate_id: Some(id.get_value()), approved: Some(approved), reason },));
    };
    view! {
        <section class="gate" aria-label="Waits for your approval">
            <p>
                <b>{name}</b>
                " waits for you"
                <span class="faint">" · " {gate.reason.clone()}</span>
            </p>
            {gate.args.clone().map(|args| view! { <AsItRuns args /> })}
            <Files files=gate.files.clone() />
            <div class="gate-acts small">
                <Button weight=Weight::Primary disabled=sent on_press=move || answer(Verdict::Approved)>"Approve"</Button>
                <Button weight=Weight::Outline disabled=sent on_press=move || rejecting.set(true)>"Reject…"</Button>
                {index.map(|index| view! { <Button on_press=move || chosen.set(Some(index))>"Show the step"</Button> })}
            </div>
            <Dialog open=rejecting title="Reject this step?">
                <div class="dialog-body">
                    <p class="muted">"The step fails, and nothing that waits for it starts. The reason is kept with the run."</p>
                    <Field label="Reason" control="reject-reason">
                        <TextArea id="reject-reason" value=reason on_input=move |typed| reason.set(typed) />
                    </Field>
                </div>
                <div class="dialog-foot">
                    <Button on_press=move || rejecting.set(false)>"Back"</Button>
                    <Button weight=Weight::Danger
                        on_press=move || {
                            rejecting.set(false);
                            answer(Verdict::Rejected);
                        }>
                        "Reject"
                    </Button>
                </div>
            </Dialog>
        </section>
    }
}

/// The files that an answer covers: a step whose files change after it is asked about again.
#[component]
fn Files(files: Vec<CoveredFile>) -> impl IntoView {
    (!files.is_empty()).then(|| {
        let rows = files
            .into_iter()
            .map(|file| {
                let (digest, told) = match file.found {
                    Found::Nothing => (String::new(), "not there".to_owned()),
                    Found::Digest { sha256, size } => {
                        let short = sha256.get(..12).unwrap_or(&sha256).to_owned();
                        (sha256, format!("{short} · {}", bytes(size)))
                    }
                    Found::Stamp { size, modified } => {
                        (String::new(), format!("{} · {}", bytes(size), local_time(modified)))
                    }
                };
                view! {
                    <li title=digest>
                        <code>{file.path}</code>
                        <span class="faint">{told}</span>
                    </li>
                }
            })
            .collect_view();
        view! {
            <div class="gate-files">
                <h4>"Covers these files as they are now"</h4>
                <ul>{rows}</ul>
            </div>
        }
    })
}

#[derive(Debug, Clone, Copy)]
enum Verdict {
    Approved,
    Rejected,
}

/// Resolved arguments: a command as the text it is, anything else as JSON.
#[component]
pub(crate) fn AsItRuns(args: Value) -> impl IntoView {
    let command = args.get("command").and_then(Value::as_str).map(str::to_owned);
    match command {
        Some(command) => {
            let rest: serde_json::Map<String, Value> = args
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(name, _)| *name != "command")
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            view! {
                <pre class="command">{command}</pre>
                {(!rest.is_empty()).then(|| view! { <Json value=Value::Object(rest) /> })}
            }
            .into_any()
        }
        None => view! { <Json value=args /> }.into_any(),
    }
}
