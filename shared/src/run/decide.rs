//! What follows from an input: facts to record and actions to take.
//!
//! `decide` is pure: it reads a state, never changes one. Whoever drives a run reduces the facts it gets back and
//! asks again with [`Input::Continue`] until nothing more follows; then commits all of them at once, and only then
//! acts. Asking the guard is the one action that is answered before the commit, so that a step's end and the start
//! of what follows it stand in one commit.

mod ending;

use std::sync::Arc;

use serde_json::Value;

pub use self::ending::after_crash;
use self::ending::{completion, ending, never_called, storage_failed, wind_down};
use crate::ids::{GateId, StepIndex, Timestamp};
use crate::plan::{Plan, Step};
use crate::reference::{Resolved, Unresolved, resolve_args};
use crate::run::covered;
use crate::run::event::{CoveredFile, Event, ProcessReport, SkipReason, StepEnd, VerdictKind};
use crate::run::skip;
use crate::run::state::{OpenGate, RunState, StepState};
use crate::run::values::{RunValues, WholeResults};
use crate::tool::Catalog;

/// What can happen to a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A slot was granted for the first time.
    Begin {
        queue_wait_ms: u64,
    },
    /// Nothing new: whatever follows from the state itself.
    Continue,
    /// The guard's answer about a step.
    Judged {
        index: StepIndex,
        args: Arc<Value>,
        verdict: Verdict,
    },
    /// The files that an approved command names, as they are now.
    Rechecked {
        index: StepIndex,
        files: Vec<CoveredFile>,
    },
    /// A tool's call ended.
    Ended {
        index: StepIndex,
        attempt: u32,
        ending: Ending,
        duration_ms: u64,
        report: Option<Box<ProcessReport>>,
    },
    /// The wait before an attempt is over. Nothing follows while there is no room: it is said again later.
    RetryDue {
        index: StepIndex,
    },
    /// A person (or the gate's expiry) answered a gate.
    Answered {
        gate: GateId,
        approved: bool,
        by: String,
        reason: Option<String>,
        /// At a plan gate: the plan to run instead, checked by whoever took it.
        plan: Option<Arc<Plan>>,
    },
    Cancel {
        by: String,
    },
    /// The store did not take what has happened: the run ends, and says why.
    StorageFailed(StorageFault),
}

/// Why the store did not take something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageFault {
    /// It has no space.
    Full,
    /// It cannot be read or written.
    Broken,
}

/// The guard's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub kind: VerdictKind,
    /// What decided, for people.
    pub source: String,
    /// The part of a command that decided.
    pub segment: Option<String>,
    /// Of an ask: what an approval is to cover beside the arguments.
    pub files: Vec<CoveredFile>,
}

/// How one attempt ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// `result` is as the event will hold it; `truncated` when the whole is kept elsewhere.
    Done {
        result: Arc<Value>,
        truncated: bool,
    },
    Failed {
        error: String,
        timed_out: bool,
    },
    /// It was stopped by a cancel.
    Cancelled {
        error: String,
    },
    /// It was stopped by the end of the worker.
    Interrupted {
        error: String,
    },
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Ask the guard, and answer with [`Input::Judged`] before the commit.
    Judge { index: StepIndex, resolved: Box<Resolved> },
    /// Look again at the files that an approval covers, and answer with [`Input::Rechecked`] before the commit.
    Recheck { index: StepIndex },
    /// Call the tool, and answer with [`Input::Ended`].
    Start { index: StepIndex, attempt: u32 },
    /// Answer with [`Input::RetryDue`] after this time.
    Wake { index: StepIndex, after_ms: u64 },
    /// Ask the running tool to stop because the run is cancelled.
    Stop { index: StepIndex },
}

/// What follows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decided {
    pub events: Vec<Event>,
    pub actions: Vec<Action>,
}

/// What a decision may look at beside the state.
#[derive(Debug)]
pub struct Surroundings<'a> {
    pub catalog: &'a Catalog,
    pub whole: &'a WholeResults,
    /// Steps that may run at once; 0 while the run holds no slot.
    pub parallel: usize,
    /// The worker is ending: nothing starts, and the run ends as interrupted.
    pub interrupting: bool,
    pub now: Timestamp,
}

impl Decided {
    fn event(event: Event) -> Self {
        Self { events: vec![event], actions: Vec::new() }
    }
}

/// What follows from this input. An input that comes too late (a tool's end after the step's, a second answer to a
/// gate, a cancel of an ended run) changes nothing.
pub fn decide(state: &RunState, input: Input, around: &Surroundings<'_>) -> Decided {
    if state.end.is_some() {
        return Decided::default();
    }
    match input {
        Input::Begin { queue_wait_ms } => begin(state, queue_wait_ms),
        Input::Continue => proceed(state, around),
        Input::Judged { index, args, verdict } => judged(state, index, args, verdict),
        Input::Rechecked { index, files } => rechecked(state, index, files),
        Input::Ended { index, attempt, ending, duration_ms, report } => {
            let end = StepEnd { index, attempt, error: String::new(), timed_out: false, duration_ms, report };
            attempt_ended(state, end, ending)
        }
        Input::RetryDue { index } => retry_due(state, index, around),
        Input::Answered { gate, approved, by, reason, plan } => {
            let Some(open) = state.gates.get(&gate) else {
                return Decided::default();
            };
            let plan = plan.filter(|_| approved && matches!(open, OpenGate::Plan { .. }));
            let edited_plan = plan.is_some();
            let mut decided =
                Decided::event(Event::ApprovalResolved { gate_id: gate, approved, by, reason, edited_plan });
            decided.events.extend(plan.map(Event::PlanReady));
            decided
        }
        Input::Cancel { by } => cancel(state, by),
        Input::StorageFailed(fault) => storage_failed(state, fault),
    }
}

fn begin(state: &RunState, queue_wait_ms: u64) -> Decided {
    if state.started_at.is_some() {
        return Decided::default();
    }
    Decided::event(Event::RunStarted { queue_wait_ms })
}

/// What follows from the state itself: the plan gate, steps to pass over, to judge, to start, or the run's end.
fn proceed(state: &RunState, around: &Surroundings<'_>) -> Decided {
    let (Some(created), Some(plan)) = (&state.created, &state.plan) else {
        return Decided::default();
    };
    if let Some(ending) = ending(state, around) {
        return wind_down(state, &ending);
    }
    if state.started_at.is_none() {
        return Decided::default();
    }
    if created.config.require_plan_approval && !state.plan_approved {
        if !state.gates.is_empty() {
            return Decided::default();
        }
        return Decided::event(Event::PlanApprovalRequested { gate_id: next_gate(state) });
    }
    let mut decided = Decided::default();
    let mut room = around.parallel.saturating_sub(state.index.running.len());
    for index in &state.index.ready {
        let (Some(step), Some(at)) = (plan.step(*index), state.step(*index)) else {
            continue;
        };
        // A refusal needs no room; anything else waits for some.
        if room > 0 || matches!(at, StepState::Refused { .. }) {
            room -= usize::from(advance(state, step, at, around, &mut decided));
        }
    }
    if decided == Decided::default() && state.index.ended == state.steps.len() {
        return Decided::event(completion(state));
    }
    decided
}

/// Moves one ready step on; says whether that takes a place among the running.
fn advance(state: &RunState, step: &Step, at: &StepState, around: &Surroundings<'_>, decided: &mut Decided) -> bool {
    let index = step.index;
    let args = match at {
        StepState::Refused { error } => {
            decided.events.push(Event::StepFailed(Box::new(never_called(index, error.clone()))));
            return false;
        }
        StepState::Allowed { args: Some(args) } => {
            if state.covered.contains_key(&index) {
                decided.actions.push(Action::Recheck { index });
            } else {
                start(step, 1, args.clone(), decided);
            }
            return true;
        }
        StepState::Ready => match judge_or_pass(state, step, around) {
            Ready::Pass(event) => {
                decided.events.push(event);
                return false;
            }
            Ready::Judge(resolved) => {
                decided.actions.push(Action::Judge { index, resolved });
                return true;
            }
            Ready::Pinned(args) => args,
        },
        _ => return false,
    };
    pinned(step, args, decided);
    false
}

enum Ready {
    Pass(Event),
    Judge(Box<Resolved>),
    Pinned(Arc<Value>),
}

fn judge_or_pass(state: &RunState, step: &Step, around: &Surroundings<'_>) -> Ready {
    let index = step.index;
    let skipped = |reason| Ready::Pass(Event::StepSkipped { index, reason });
    if let Some(reason) = skip::by_prerequisites(state, index) {
        return skipped(reason);
    }
    let Some(tool) = around.catalog.get(step.tool_name.as_str()) else {
        let error = format!("the tool {} is not available any more", step.tool_name);
        return Ready::Pass(Event::StepFailed(Box::new(never_called(index, error))));
    };
    let values = RunValues { state, whole: around.whole };
    match resolve_args(step, tool, &values) {
        Err(Unresolved::Skipped { .. }) => skipped(SkipReason::Reference),
        _ if step.disabled => skipped(SkipReason::Disabled),
        Ok(resolved) if step.pinned_result.is_some() => Ready::Pinned(Arc::new(Value::Object(resolved.shown))),
        Ok(resolved) => Ready::Judge(Box::new(resolved)),
        Err(Unresolved::Failed { message }) => Ready::Pass(Event::StepFailed(Box::new(never_called(index, message)))),
    }
}

fn start(step: &Step, attempt: u32, args: Arc<Value>, decided: &mut Decided) {
    decided.events.push(Event::StepStart {
        index: step.index,
        node_id: step.node_id.clone(),
        tool_name: step.tool_name.clone(),
        attempt,
        args,
    });
    decided.actions.push(Action::Start { index: step.index, attempt });
}

/// A pinned step serves its value: it starts and ends in one breath, and no tool is called.
fn pinned(step: &Step, args: Arc<Value>, decided: &mut Decided) {
    let index = step.index;
    decided.events.push(Event::StepStart {
        index,
        node_id: step.node_id.clone(),
        tool_name: step.tool_name.clone(),
        attempt: 1,
        args,
    });
    let value = step.pinned_result.clone().unwrap_or(Value::Null);
    decided.events.push(match refusal_of(&value) {
        Some(error) => Event::StepFailed(Box::new(StepEnd {
            index,
            attempt: 1,
            error,
            timed_out: false,
            duration_ms: 0,
            report: None,
        })),
        None => Event::StepComplete {
            index,
            result: Arc::new(value),
            result_truncated: false,
            duration_ms: 0,
            report: None,
        },
    });
}

/// A result that says of itself that it failed: `success: false`, with `error` or else `summary`.
fn refusal_of(result: &Value) -> Option<String> {
    if result.get("success") != Some(&Value::Bool(false)) {
        return None;
    }
    let said = ["error", "summary"].iter().find_map(|key| result.get(*key).and_then(Value::as_str));
    Some(said.unwrap_or("the tool reported that it did not succeed").to_owned())
}

fn judged(state: &RunState, index: StepIndex, args: Arc<Value>, verdict: Verdict) -> Decided {
    let Some(step) = state.plan.as_deref().and_then(|plan| plan.step(index)) else {
        return Decided::default();
    };
    if !matches!(state.step(index), Some(StepState::Ready)) {
        return Decided::default();
    }
    let Verdict { kind, source, segment, files } = verdict;
    let reason = source.clone();
    let mut decided = Decided::event(Event::StepDecided { index, verdict: kind, source, segment });
    match kind {
        VerdictKind::Allow => start(step, 1, args, &mut decided),
        VerdictKind::Ask => decided.events.push(Event::StepApprovalRequested {
            gate_id: next_gate(state),
            index,
            tool_name: step.tool_name.clone(),
            args,
            reason,
            files,
        }),
        VerdictKind::Deny => {}
    }
    decided
}

/// An approval covers the files as they were shown. Right before the start they are looked at again: when one has
/// changed, a person is asked again; between two attempts, the step ends.
fn rechecked(state: &RunState, index: StepIndex, files: Vec<CoveredFile>) -> Decided {
    let Some(step) = state.plan.as_deref().and_then(|plan| plan.step(index)) else {
        return Decided::default();
    };
    let changes = covered::changes(state.covered.get(&index).map_or(&[], Vec::as_slice), &files);
    let mut decided = Decided::default();
    match (state.step(index), changes) {
        (Some(StepState::Allowed { args: Some(args) }), None) => start(step, 1, args.clone(), &mut decided),
        (Some(StepState::Allowed { args: Some(args) }), Some(changes)) => {
            decided.events.push(Event::StepApprovalRequested {
                gate_id: next_gate(state),
                index,
                tool_name: step.tool_name.clone(),
                args: args.clone(),
                reason: format!("it was approved, and has changed since: {changes}"),
                files,
            });
        }
        (Some(StepState::Retrying { next_attempt, args, .. }), None) => {
            start(step, *next_attempt, args.clone(), &mut decided);
        }
        (Some(StepState::Retrying { next_attempt, error, .. }), Some(changes)) => {
            decided.events.push(Event::StepFailed(Box::new(StepEnd {
                index,
                attempt: next_attempt - 1,
                error: format!("{error}; not tried again, since what was approved has changed: {changes}"),
                timed_out: false,
                duration_ms: 0,
                report: None,
            })));
        }
        _ => {}
    }
    decided
}

fn attempt_ended(state: &RunState, mut end: StepEnd, ending: Ending) -> Decided {
    let index = end.index;
    match state.step(index) {
        Some(StepState::Running { attempt, .. }) if *attempt == end.attempt => {}
        _ => return Decided::default(),
    }
    let (error, timed_out) = match ending {
        Ending::Done { result, truncated } => match refusal_of(&result) {
            Some(error) => (error, false),
            None => {
                return Decided::event(Event::StepComplete {
                    index,
                    result,
                    result_truncated: truncated,
                    duration_ms: end.duration_ms,
                    report: end.report,
                });
            }
        },
        Ending::Failed { error, timed_out } => (error, timed_out),
        Ending::Cancelled { error } => {
            end.error = error;
            return Decided::event(Event::StepCancelled(Box::new(end)));
        }
        Ending::Interrupted { error } => {
            end.error = error;
            return Decided::event(Event::StepInterrupted(Box::new(end)));
        }
    };
    let policy = state.plan.as_deref().and_then(|plan| plan.step(index)).map(|step| step.retry_policy);
    if let Some(policy) = policy.filter(|policy| end.attempt < policy.max_attempts && !state.cancel_requested) {
        let delay_ms = retry_delay(policy.backoff_ms, end.attempt);
        return Decided {
            events: vec![Event::StepRetry {
                index,
                next_attempt: end.attempt + 1,
                max_attempts: policy.max_attempts,
                delay_ms,
                error,
            }],
            actions: vec![Action::Wake { index, after_ms: delay_ms }],
        };
    }
    end.error = error;
    end.timed_out = timed_out;
    Decided::event(Event::StepFailed(Box::new(end)))
}

/// Milliseconds before the attempt after this one: the back-off doubled for each attempt already made, at most 30 s.
pub fn retry_delay(backoff_ms: u64, attempt: u32) -> u64 {
    let factor = 1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX);
    backoff_ms.saturating_mul(factor).min(crate::limits::MAX_BACKOFF_MS)
}

fn retry_due(state: &RunState, index: StepIndex, around: &Surroundings<'_>) -> Decided {
    let has_room = state.index.running.len() < around.parallel;
    if !has_room || around.interrupting || state.cancel_requested {
        return Decided::default();
    }
    let step = state.plan.as_deref().and_then(|plan| plan.step(index));
    let (Some(step), Some(StepState::Retrying { next_attempt, args, .. })) = (step, state.step(index)) else {
        return Decided::default();
    };
    let mut decided = Decided::default();
    if state.covered.contains_key(&index) {
        decided.actions.push(Action::Recheck { index });
    } else {
        start(step, *next_attempt, args.clone(), &mut decided);
    }
    decided
}

fn cancel(state: &RunState, by: String) -> Decided {
    if state.cancel_requested {
        return Decided::default();
    }
    Decided {
        events: vec![Event::CancelRequested { by }],
        actions: state.index.running.iter().map(|index| Action::Stop { index: *index }).collect(),
    }
}

fn next_gate(state: &RunState) -> GateId {
    GateId::numbered(state.gates_opened + 1)
}
