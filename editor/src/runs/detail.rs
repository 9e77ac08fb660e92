//! One step of a run: its arguments, its output as it comes, its result or what went wrong.

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use weir_shared::ids::StepIndex;
use weir_shared::run::event::ProcessReport;
use weir_shared::run::state::StepState;

use super::fold::{OutputKey, OutputName};
use super::gate::AsItRuns;
use super::timeline::title;
use super::view::RunView;
use super::words;
use crate::ui::readable::{bytes, duration};
use crate::ui::readout::Json;

/// What a step's state holds for the details.
#[derive(Debug, Clone, Default, PartialEq)]
struct Detail {
    args: Option<Value>,
    result: Option<Value>,
    truncated: bool,
    error: Option<String>,
    note: Option<String>,
    report: Option<ProcessReport>,
    attempt: u32,
    duration_ms: Option<u64>,
    ended: bool,
}

impl Detail {
    fn of(step: &StepState) -> Self {
        let ended = step.has_ended();
        match step {
            StepState::Waiting { .. } => Self::noting("It has not started: something before it has not ended."),
            StepState::Ready | StepState::Allowed { .. } | StepState::Refused { .. } => {
                Self::noting("It is about to start.")
            }
            StepState::Skipped { reason } => {
                Self { ended, ..Self::noting(&format!("Skipped: {}.", words::skip_reason(*reason))) }
            }
            StepState::AwaitingApproval { args, .. } => {
                Self { args: Some((**args).clone()), ..Self::noting("It waits for your approval.") }
            }
            StepState::Running { attempt, args, .. } => {
                Self { args: Some((**args).clone()), attempt: *attempt, ..Self::default() }
            }
            StepState::Retrying { next_attempt, args, error, .. } => Self {
                args: Some((**args).clone()),
                attempt: next_attempt.saturating_sub(1),
                error: Some(error.clone()),
                note: Some(format!("Attempt {next_attempt} follows.")),
                ..Self::default()
            },
            StepState::Completed { attempts, args, result, truncated, times } => Self {
                args: args.as_deref().cloned(),
                result: Some((**result).clone()),
                truncated: *truncated,
                attempt: *attempts,
                report: times.report.as_deref().cloned(),
                duration_ms: Some(times.duration_ms),
                ended,
                ..Self::default()
            },
            StepState::Failed { attempts, args, error, times, .. }
            | StepState::Cancelled { attempts, args, error, times }
            | StepState::Interrupted { attempts, args, error, times } => Self {
                args: args.as_deref().cloned(),
                error: Some(error.clone()),
                attempt: *attempts,
                report: times.report.as_deref().cloned(),
                duration_ms: Some(times.duration_ms),
                ended,
                ..Self::default()
            },
        }
    }

    fn noting(note: &str) -> Self {
        Self { note: Some(note.to_owned()), ..Self::default() }
    }
}

/// The details of the chosen step.
#[component]
pub(crate) fn StepDetail(view: RunView, index: StepIndex) -> impl IntoView {
    let detail = Memo::new(move |_| view.with(|state| state.step(index).map(Detail::of)).unwrap_or_default());
    let attempt = Memo::new(move |_| detail.with(|detail| detail.attempt));
    let fetched = StoredValue::new((0_u32, false));
    // The stream tells output only while it comes; of a step that ended the worker has the whole.
    Effect::new(move |_| {
        let now = (attempt.get(), detail.with(|detail| detail.ended));
        if now.0 == 0 || fetched.get_value() == now {
            return;
        }
        fetched.set_value(now);
        let written = detail
            .with_untracked(|detail| detail.report.as_ref().map(|report| (report.stdout_bytes, report.stderr_bytes)));
        for (name, expected) in [(OutputName::Stdout, written.map(|w| w.0)), (OutputName::Stderr, written.map(|w| w.1))]
        {
            let key: OutputKey = (index, now.0, name);
            let have = view.fold.with_untracked(|fold| {
                fold.outputs.get(&key).filter(|output| !output.incomplete).map(super::capture::Capture::bytes)
            });
            let wanted = match expected {
                Some(expected) => expected > 0 && have != Some(expected),
                // A tool in the worker itself has no output, and says so by having no report.
                None => !now.1,
            };
            if wanted {
                spawn_local(view.read_output(key));
            }
        }
    });
    let name =
        move || view.with(|state| state.plan.as_ref().and_then(|plan| plan.step(index).map(title))).unwrap_or_default();
    let facts = move || {
        detail.with(|detail| {
            let mut said = Vec::new();
            if detail.attempt > 1 {
                said.push(format!("attempt {}", detail.attempt));
            }
            said.extend(detail.duration_ms.map(duration));
            said.extend(detail.report.as_ref().map(words::obituary).filter(|said| !said.is_empty()));
            said.join(" · ")
        })
    };
    let part = move |read: fn(&Detail) -> Option<Value>| Memo::new(move |_| detail.with(read));
    let (args, result) = (part(|detail| detail.args.clone()), part(|detail| detail.result.clone()));
    view! {
        <div class="detail">
            <div class="detail-top">
                <h3 class="ellipsis">{name}</h3>
                <span class="faint">{facts}</span>
            </div>
            {move || detail.with(|detail| detail.note.clone()).map(|note| view! { <p class="muted">{note}</p> })}
            {move || {
                detail.with(|detail| detail.error.clone()).map(|error| view! { <p class="detail-error" role="alert">{error}</p> })
            }}
            <Output view attempt index name=OutputName::Stdout />
            <Output view attempt index name=OutputName::Stderr />
            {move || {
                result.get().map(|value| {
                    let cut = detail.with_untracked(|detail| detail.truncated);
                    view! {
                        <section>
                            <h4>"Result" {cut.then_some(" (cut here; the whole is kept with the run)")}</h4>
                            <Json value />
                        </section>
                    }
                })
            }}
            {move || {
                args.get().map(|args| {
                    view! {
                        <section>
                            <h4>"Arguments, as resolved"</h4>
                            <AsItRuns args />
                        </section>
                    }
                })
            }}
        </div>
    }
}

#[component]
fn Output(view: RunView, attempt: Memo<u32>, index: StepIndex, name: OutputName) -> impl IntoView {
    let told = Memo::new(move |_| {
        let key = (index, attempt.get(), name);
        view.fold.with(|fold| {
            fold.outputs.get(&key).map(|output| (output.text().to_owned(), output.bytes(), output.incomplete))
        })
    });
    let (label, class) = match name {
        OutputName::Stdout => ("stdout", "output"),
        OutputName::Stderr => ("stderr", "output stderr"),
    };
    view! {
        <Show when=move || told.get().is_some_and(|(text, ..)| !text.is_empty())>
            <section>
                <h4>
                    {label} " · " {move || told.get().map(|(_, count, _)| bytes(count))}
                    {move || told.get().filter(|(.., incomplete)| *incomplete).map(|_| " · the end of it")}
                </h4>
                <pre class=class aria-live="off">{move || told.get().map(|(text, ..)| text)}</pre>
            </section>
        </Show>
    }
}
