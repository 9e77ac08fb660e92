//! How a run ends: what closes what waits, what is stopped, and what the last event says. Pure, like all of `decide`.

use super::{Action, Decided, StorageFault, Surroundings};
use crate::flow::OnFailure;
use crate::ids::StepIndex;
use crate::plan::Step;
use crate::run::event::{EndCode, Event, StepEnd};
use crate::run::state::{OpenGate, RunState, StepState};

/// Nothing more can be recorded for sure: what runs was stopped by the driver, and the run ends.
pub(super) fn storage_failed(state: &RunState, fault: StorageFault) -> Decided {
    let (why, code) = match fault {
        StorageFault::Full => ("the storage is full", EndCode::StorageFull),
        StorageFault::Broken => ("interrupted: the storage could not be written", EndCode::Interrupted),
    };
    let message = match fault {
        StorageFault::Full => format!("{why}: free some space, then run the flow again"),
        StorageFault::Broken => why.to_owned(),
    };
    Decided { events: cut_off(state, why, message, code), actions: Vec::new() }
}

/// Everything that goes on is interrupted for this reason, and the run ends with this message.
fn cut_off(state: &RunState, why: &str, message: String, code: EndCode) -> Vec<Event> {
    let open = state.index.running.iter().chain(&state.index.retrying);
    let mut events: Vec<Event> =
        open.map(|index| Event::StepInterrupted(Box::new(stopped(state, *index, why)))).collect();
    events.push(Event::Error { message, code, index: None });
    events
}

/// Why a run starts nothing more, and what it will end as.
pub(super) enum RunEnding {
    Failed { index: StepIndex, cancels: bool },
    Rejected { reason: String },
    Cancelled,
    Interrupted,
}

pub(super) fn ending(state: &RunState, around: &Surroundings<'_>) -> Option<RunEnding> {
    if state.cancel_requested {
        return Some(RunEnding::Cancelled);
    }
    if let Some(reason) = &state.plan_rejected {
        return Some(RunEnding::Rejected { reason: reason.clone() });
    }
    if let Some(index) = state.index.failed.first() {
        let cancels = state.plan.as_ref().is_some_and(|plan| plan.on_failure == OnFailure::Cancel);
        return Some(RunEnding::Failed { index: *index, cancels });
    }
    (around.interrupting && !state.is_parked()).then_some(RunEnding::Interrupted)
}

/// Brings a run to its end: closes what waits, stops what the ending says, and ends once nothing runs.
pub(super) fn wind_down(state: &RunState, ending: &RunEnding) -> Decided {
    let mut decided = Decided::default();
    let why = match ending {
        RunEnding::Failed { index, .. } => format!("not started: step {index} failed"),
        RunEnding::Rejected { .. } => "not started: the plan was rejected".to_owned(),
        RunEnding::Cancelled => "cancelled".to_owned(),
        RunEnding::Interrupted => "the worker stopped".to_owned(),
    };
    let ends_retries = !matches!(ending, RunEnding::Failed { cancels: false, .. });
    let asked = state.gates.values().filter_map(|gate| match gate {
        OpenGate::Step { index, .. } => Some(*index),
        OpenGate::Plan { .. } => None,
    });
    let retrying = state.index.retrying.iter().copied().filter(|_| ends_retries);
    for index in asked.chain(retrying) {
        let end = Box::new(stopped(state, index, &why));
        decided.events.push(match ending {
            RunEnding::Interrupted => Event::StepInterrupted(end),
            _ => Event::StepCancelled(end),
        });
    }
    for index in &state.index.ready {
        // A refusal is a fact about the step, whatever else ends the run.
        if let Some(StepState::Refused { error }) = state.step(*index) {
            decided.events.push(Event::StepFailed(Box::new(never_called(*index, error.clone()))));
        }
    }
    if let RunEnding::Failed { cancels: true, .. } = ending {
        decided.actions.extend(state.index.running.iter().map(|index| Action::Stop { index: *index }));
    }
    let still_retrying = !ends_retries && !state.index.retrying.is_empty();
    if !decided.events.is_empty() || !state.index.running.is_empty() || still_retrying {
        return decided;
    }
    let (message, code, index) = match ending {
        RunEnding::Failed { index, .. } => (failure(state, *index), EndCode::Failed, Some(*index)),
        RunEnding::Rejected { reason } => (format!("the plan was {reason}"), EndCode::Failed, None),
        RunEnding::Cancelled => ("cancelled".to_owned(), EndCode::Cancelled, None),
        RunEnding::Interrupted => ("interrupted: the worker stopped".to_owned(), EndCode::Interrupted, None),
    };
    decided.events.push(Event::Error { message, code, index });
    decided
}

fn failure(state: &RunState, index: StepIndex) -> String {
    let label = state.plan.as_deref().and_then(|plan| plan.step(index)).map_or("", Step::label);
    match state.step(index) {
        Some(StepState::Failed { error, .. }) => format!("step {index} ({label}) failed: {error}"),
        _ => format!("step {index} ({label}) failed"),
    }
}

pub(super) fn completion(state: &RunState) -> Event {
    let completed = state.steps.iter().filter(|step| step.result().is_some()).count();
    let skipped = state.steps.len() - completed;
    let summary = match (completed, skipped) {
        (1, 0) => "1 step completed".to_owned(),
        (n, 0) => format!("{n} steps completed"),
        (n, s) => format!("{n} of {} steps completed, {s} skipped", n + s),
    };
    let last = state.last_completed.and_then(|index| state.step(index)).and_then(StepState::result);
    Event::Complete { summary, result: last.cloned().unwrap_or_default() }
}

/// The end of a step whose tool was never called.
pub(super) fn never_called(index: StepIndex, error: String) -> StepEnd {
    StepEnd { index, attempt: 0, error, timed_out: false, duration_ms: 0, report: None }
}

/// The end of a step that is stopped from outside.
fn stopped(state: &RunState, index: StepIndex, error: &str) -> StepEnd {
    let attempt = match state.step(index) {
        Some(StepState::Running { attempt, .. }) => *attempt,
        Some(StepState::Retrying { next_attempt, .. }) => next_attempt - 1,
        _ => 0,
    };
    StepEnd { index, attempt, error: error.to_owned(), timed_out: false, duration_ms: 0, report: None }
}

/// What ends a run that the worker's death left behind: its running steps and itself, as interrupted. Nothing for a
/// run that has ended or is parked; those stay as they are.
pub fn after_crash(state: &RunState) -> Vec<Event> {
    if state.end.is_some() || state.is_parked() {
        return Vec::new();
    }
    let message = "interrupted: the worker ended before the run did".to_owned();
    cut_off(state, "the worker ended before this step did", message, EndCode::Interrupted)
}
