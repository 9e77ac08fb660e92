//! The only transition table of a run.
//!
//! `reduce` takes a state and the next fact and gives the state after it. The worker uses it live and after a
//! restart, the page uses it to follow a stream; so all three agree. A fact that cannot follow is an error, never
//! skipped: a history that does not add up is reported, not guessed at.

use std::sync::Arc;

use crate::ids::{Seq, StepIndex, Timestamp};
use crate::plan::Plan;
use crate::run::event::{Event, Recorded, StepEnd, VerdictKind};
use crate::run::graph::Graph;
use crate::run::state::{Decision, OpenGate, RunEnd, RunState, StepSets, StepState, StepStatus, Times};

/// Why a history does not add up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHistory {
    #[error("event {found} stands where event {expected} should")]
    OutOfOrder { expected: Seq, found: Seq },
    #[error("event {seq} ({event}) cannot follow: {why}")]
    Impossible { seq: Seq, event: &'static str, why: String },
}

/// The state after one more event.
pub fn reduce(mut state: RunState, recorded: &Recorded) -> Result<RunState, BadHistory> {
    let expected = state.last.next();
    if recorded.seq != expected {
        return Err(BadHistory::OutOfOrder { expected, found: recorded.seq });
    }
    apply(&mut state, recorded).map_err(|why| BadHistory::Impossible {
        seq: recorded.seq,
        event: recorded.event.name(),
        why,
    })?;
    state.last = recorded.seq;
    Ok(state)
}

/// The state after a whole history.
pub fn replay<'a>(events: impl IntoIterator<Item = &'a Recorded>) -> Result<RunState, BadHistory> {
    events.into_iter().try_fold(RunState::default(), reduce)
}

fn apply(state: &mut RunState, recorded: &Recorded) -> Result<(), String> {
    let now = recorded.ts;
    if state.end.is_some() {
        return Err("the run has ended".to_owned());
    }
    if state.created.is_none() && !matches!(recorded.event, Event::RunCreated(_)) {
        return Err("the run was not created".to_owned());
    }
    match &recorded.event {
        Event::RunCreated(created) => {
            if state.created.is_some() {
                return Err("the run was created before".to_owned());
            }
            state.created = Some(Arc::new((**created).clone()));
            state.created_at = now;
        }
        Event::RunStarted { .. } => {
            if state.started_at.is_some() {
                return Err("the run was started before".to_owned());
            }
            state.started_at = Some(now);
        }
        Event::PlanReady(plan) => adopt_plan(state, plan)?,
        Event::PlanApprovalRequested { gate_id } => {
            if state.plan.is_none() || state.plan_approved || state.index != sets_before_any_start(state) {
                return Err("there is no plan that waits for approval".to_owned());
            }
            state.gates_opened += 1;
            state.gates.insert(gate_id.clone(), OpenGate::Plan { since: now });
        }
        // Also of a step that was allowed: a file that its command names has changed since.
        Event::StepApprovalRequested { gate_id, index, args, reason, files, .. } => {
            expect(state, *index, &[StepStatus::Ready])?;
            state.gates_opened += 1;
            let (args, reason) = (args.clone(), reason.clone());
            let gate = OpenGate::Step { index: *index, args: args.clone(), reason, since: now };
            state.gates.insert(gate_id.clone(), gate);
            if files.is_empty() {
                state.covered.remove(index);
            } else {
                state.covered.insert(*index, files.clone());
            }
            state.set(*index, StepState::AwaitingApproval { gate: gate_id.clone(), args });
        }
        Event::ApprovalResolved { gate_id, approved, reason, .. } => {
            let gate = state.gates.remove(gate_id).ok_or_else(|| format!("gate {gate_id} is not open"))?;
            match gate {
                OpenGate::Plan { .. } if *approved => state.plan_approved = true,
                OpenGate::Plan { .. } => state.plan_rejected = Some(rejection(reason.as_deref())),
                OpenGate::Step { index, args, .. } if *approved => {
                    state.set(index, StepState::Allowed { args: Some(args) });
                }
                OpenGate::Step { index, .. } => {
                    state.set(index, StepState::Refused { error: rejection(reason.as_deref()) });
                }
            }
        }
        Event::StepDecided { index, verdict, source, segment } => {
            expect(state, *index, &[StepStatus::Ready])?;
            let decision = Decision { verdict: *verdict, source: source.clone(), segment: segment.clone() };
            match verdict {
                VerdictKind::Allow => state.set(*index, StepState::Allowed { args: None }),
                VerdictKind::Ask => {}
                VerdictKind::Deny => state.set(*index, StepState::Refused { error: format!("denied by {source}") }),
            }
            state.decisions.insert(*index, decision);
        }
        Event::StepStart { index, attempt, args, .. } => {
            let follows = match state.step(*index) {
                Some(StepState::Allowed { .. }) => *attempt == 1,
                Some(StepState::Ready) => *attempt == 1 && is_pinned(state, *index),
                Some(StepState::Retrying { next_attempt, .. }) => attempt == next_attempt,
                _ => false,
            };
            if !follows {
                return Err(format!("step {index} cannot start attempt {attempt} now"));
            }
            state.first_started.entry(*index).or_insert(now);
            state.set(*index, StepState::Running { attempt: *attempt, args: args.clone(), since: now });
        }
        Event::StepRetry { index, next_attempt, delay_ms, error, .. } => match state.step(*index) {
            Some(StepState::Running { attempt, args, .. }) if attempt + 1 == *next_attempt => {
                let due = Timestamp(now.0.saturating_add(i64::try_from(*delay_ms).unwrap_or(i64::MAX)));
                let args = args.clone();
                state.set(*index, StepState::Retrying { next_attempt: *next_attempt, args, error: error.clone(), due });
            }
            _ => return Err(format!("step {index} has no attempt {} to follow", next_attempt.saturating_sub(1))),
        },
        Event::StepSkipped { index, reason } => {
            if !matches!(state.step(*index), Some(StepState::Ready)) {
                return Err(format!("step {index} is not ready"));
            }
            state.set(*index, StepState::Skipped { reason: *reason });
        }
        Event::StepComplete { index, result, result_truncated, duration_ms, report } => {
            let Some(StepState::Running { attempt, args, .. }) = state.step(*index) else {
                return Err(format!("step {index} is not running"));
            };
            let (attempts, args) = (*attempt, Some(args.clone()));
            let times = state.times(*index, now, *duration_ms, report.clone());
            let truncated = *result_truncated;
            state.set(*index, StepState::Completed { attempts, args, result: result.clone(), truncated, times });
            state.last_completed = Some(*index);
        }
        Event::StepFailed(end) => {
            let (attempts, args) = ended(state, end, &[StepStatus::Ready, StepStatus::Running, StepStatus::Retrying])?;
            let times = state.times(end.index, now, end.duration_ms, end.report.clone());
            let (error, timed_out) = (end.error.clone(), end.timed_out);
            state.set(end.index, StepState::Failed { attempts, args, error, timed_out, times });
        }
        Event::StepCancelled(end) => {
            let (attempts, args) = ended(state, end, &STOPPABLE)?;
            let times = state.times(end.index, now, end.duration_ms, end.report.clone());
            state.set(end.index, StepState::Cancelled { attempts, args, error: end.error.clone(), times });
        }
        Event::StepInterrupted(end) => {
            let (attempts, args) = ended(state, end, &STOPPABLE)?;
            let times = state.times(end.index, now, end.duration_ms, end.report.clone());
            state.set(end.index, StepState::Interrupted { attempts, args, error: end.error.clone(), times });
        }
        Event::CancelRequested { .. } => state.cancel_requested = true,
        Event::HookFailed { .. } => {}
        Event::Complete { summary, result } => {
            let whole = state.plan.is_some() && state.index.ended == state.steps.len() && state.index.failed.is_empty();
            if !whole || !state.gates.is_empty() {
                return Err("not every step has ended well".to_owned());
            }
            state.ended_at = Some(now);
            state.end = Some(RunEnd::Completed { summary: summary.clone(), result: result.clone() });
        }
        Event::Error { message, code, index } => {
            if !state.index.running.is_empty() {
                return Err("a step is still running".to_owned());
            }
            state.ended_at = Some(now);
            state.gates.clear();
            state.let_waiting_wait();
            state.end = Some(RunEnd::Error { code: *code, message: message.clone(), index: *index });
        }
    }
    Ok(())
}

/// What a step may be in when it is stopped from outside.
const STOPPABLE: [StepStatus; 4] =
    [StepStatus::Ready, StepStatus::Running, StepStatus::Retrying, StepStatus::AwaitingApproval];

fn rejection(reason: Option<&str>) -> String {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("rejected: {reason}"),
        None => "rejected".to_owned(),
    }
}

fn is_pinned(state: &RunState, index: StepIndex) -> bool {
    let step = state.plan.as_deref().and_then(|plan| plan.step(index));
    step.is_some_and(|step| step.pinned_result.is_some())
}

fn expect(state: &RunState, index: StepIndex, allowed: &[StepStatus]) -> Result<(), String> {
    let Some(step) = state.step(index) else {
        return Err(format!("the plan has no step {index}"));
    };
    if allowed.contains(&step.status()) { Ok(()) } else { Err(format!("step {index} is {}", step.status().as_str())) }
}

/// Checks that a step may end like this; gives its attempts and arguments, and closes its gate.
fn ended(
    state: &mut RunState,
    end: &StepEnd,
    allowed: &[StepStatus],
) -> Result<(u32, Option<Arc<serde_json::Value>>), String> {
    expect(state, end.index, allowed)?;
    let (attempt, args) = match state.step(end.index) {
        Some(StepState::Running { attempt, args, .. }) => (*attempt, Some(args.clone())),
        Some(StepState::Retrying { next_attempt, args, .. }) => (next_attempt - 1, Some(args.clone())),
        Some(StepState::AwaitingApproval { gate, args }) => {
            let (gate, args) = (gate.clone(), args.clone());
            state.gates.remove(&gate);
            (0, Some(args))
        }
        Some(StepState::Allowed { args }) => (0, args.clone()),
        _ => (0, None),
    };
    if end.attempt != attempt {
        return Err(format!("step {} is at attempt {attempt}, not {}", end.index, end.attempt));
    }
    Ok((attempt, args))
}

/// A plan is taken once, or again while the plan gate's answer says so and nothing has started.
fn adopt_plan(state: &mut RunState, plan: &Arc<Plan>) -> Result<(), String> {
    if state.plan.is_some() && state.index != sets_before_any_start(state) {
        return Err("steps of the plan before have started".to_owned());
    }
    state.graph = Graph::of(plan);
    state.steps = Vec::with_capacity(plan.steps.len());
    state.index = StepSets::default();
    for position in 0..plan.steps.len() {
        let index = StepIndex::of(position);
        let missing = u32::try_from(state.graph.prerequisites(index).len()).unwrap_or(u32::MAX);
        if missing == 0 {
            state.index.ready.insert(index);
            state.steps.push(StepState::Ready);
        } else {
            state.steps.push(StepState::Waiting { missing });
        }
    }
    state.plan = Some(plan.clone());
    Ok(())
}

fn sets_before_any_start(state: &RunState) -> StepSets {
    let roots = (0..state.steps.len()).map(StepIndex::of).filter(|index| state.graph.prerequisites(*index).is_empty());
    StepSets { ready: roots.collect(), ..StepSets::default() }
}

impl RunState {
    /// Puts a step into a state, keeps the sets right, and tells its dependants when it has ended.
    fn set(&mut self, index: StepIndex, next: StepState) {
        let sets = &mut self.index;
        for set in [&mut sets.ready, &mut sets.running, &mut sets.retrying] {
            set.remove(&index);
        }
        match next.status() {
            StepStatus::Ready => {
                sets.ready.insert(index);
            }
            StepStatus::Running => {
                sets.running.insert(index);
            }
            StepStatus::Retrying => {
                sets.retrying.insert(index);
            }
            StepStatus::Failed => {
                sets.failed.insert(index);
            }
            StepStatus::Waiting
            | StepStatus::AwaitingApproval
            | StepStatus::Completed
            | StepStatus::Skipped
            | StepStatus::Cancelled
            | StepStatus::Interrupted => {}
        }
        let has_ended = next.has_ended();
        // Nothing follows a step that did not end well: its run winds down, and what depends on it stays waiting.
        let ended_well = matches!(next.status(), StepStatus::Completed | StepStatus::Skipped);
        self.steps[index.at()] = next;
        self.index.ended += usize::from(has_ended);
        if ended_well {
            self.tell_dependants(index);
        }
    }

    /// Steps that a run's end found ready were never started: they stay waiting.
    fn let_waiting_wait(&mut self) {
        for index in std::mem::take(&mut self.index.ready) {
            self.steps[index.at()] = StepState::Waiting { missing: 0 };
        }
    }

    fn tell_dependants(&mut self, index: StepIndex) {
        for dependant in self.graph.dependants(index) {
            if let Some(StepState::Waiting { missing }) = self.steps.get_mut(dependant.at()) {
                *missing = missing.saturating_sub(1);
                if *missing == 0 {
                    self.steps[dependant.at()] = StepState::Ready;
                    self.index.ready.insert(*dependant);
                }
            }
        }
    }

    fn times(
        &self,
        index: StepIndex,
        now: Timestamp,
        duration_ms: u64,
        report: Option<Box<crate::run::event::ProcessReport>>,
    ) -> Times {
        let started_at = self.first_started.get(&index).copied().unwrap_or(now);
        Times { started_at, ended_at: now, duration_ms, report }
    }
}
