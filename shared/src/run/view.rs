//! A run's state as the API shows it: its row in the history, its open gates, its steps.

use serde_json::Value;

use crate::ids::StepIndex;
use crate::run::event::Event;
use crate::run::state::{OpenGate, RunEnd, RunState, StepState};
use crate::wire::{Execution, Gate, RunRow};

/// The row of a run; `None` before its first event.
pub fn row(state: &RunState) -> Option<RunRow> {
    let created = state.created.as_ref()?;
    let (summary, error) = match &state.end {
        Some(RunEnd::Completed { summary, .. }) => (Some(summary.clone()), None),
        Some(RunEnd::Error { message, .. }) => (None, Some(message.clone())),
        None => (None, None),
    };
    Some(RunRow {
        run_id: created.run_id.clone(),
        task_id: created.task_id.clone(),
        flow_id: created.flow_id.clone(),
        goal: created.goal.clone(),
        status: state.status(),
        cause: created.cause,
        priority: created.priority,
        owner: created.owner.0.clone(),
        summary,
        error,
        resumed_from: created.resumed_from.clone(),
        created_at: state.created_at,
        started_at: state.started_at,
        completed_at: state.ended_at,
        duration_ms: state.started_at.zip(state.ended_at).map(|(start, end)| end.millis_since(start)),
        cancel_requested: state.cancel_requested,
    })
}

/// The gates that are open.
pub fn gates(state: &RunState) -> Vec<Gate> {
    let plan = state.plan.as_deref();
    let gate = |(gate_id, gate): (&crate::ids::GateId, &OpenGate)| match gate {
        OpenGate::Plan { .. } => Gate {
            gate_id: gate_id.clone(),
            index: None,
            tool_name: None,
            args: None,
            reason: "the plan waits for approval".to_owned(),
            files: Vec::new(),
        },
        OpenGate::Step { index, args, reason, .. } => Gate {
            gate_id: gate_id.clone(),
            index: Some(*index),
            tool_name: plan.and_then(|plan| plan.step(*index)).map(|step| step.tool_name.clone()),
            args: Some((**args).clone()),
            reason: reason.clone(),
            files: state.covered.get(index).cloned().unwrap_or_default(),
        },
    };
    state.gates.iter().map(gate).collect()
}

/// The steps of a run, in the order of its plan.
pub fn executions(state: &RunState) -> Vec<Execution> {
    (0..state.steps.len()).map(StepIndex::of).filter_map(|index| execution(state, index)).collect()
}

fn execution(state: &RunState, index: StepIndex) -> Option<Execution> {
    let at = state.step(index)?;
    let mut execution = Execution {
        index,
        node_id: state.plan.as_deref().and_then(|plan| plan.step(index)).and_then(|step| step.node_id.clone()),
        status: at.status(),
        attempts: 0,
        args: None,
        result: None,
        result_truncated: false,
        error: None,
        skip_reason: None,
        decision: state.decisions.get(&index).cloned(),
        reused: false,
        started_at: state.first_started.get(&index).copied(),
        duration_ms: None,
        report: None,
    };
    let arguments = |args: &std::sync::Arc<Value>| Some((**args).clone());
    match at {
        StepState::Waiting { .. } | StepState::Ready => {}
        StepState::Allowed { args } => execution.args = args.as_ref().and_then(arguments),
        StepState::Refused { error } => execution.error = Some(error.clone()),
        StepState::AwaitingApproval { args, .. } => execution.args = arguments(args),
        StepState::Running { attempt, args, .. } => {
            execution.attempts = *attempt;
            execution.args = arguments(args);
        }
        StepState::Retrying { next_attempt, args, error, .. } => {
            execution.attempts = next_attempt - 1;
            execution.args = arguments(args);
            execution.error = Some(error.clone());
        }
        StepState::Skipped { reason } => execution.skip_reason = Some(*reason),
        StepState::Completed { attempts, args, result, truncated, times } => {
            execution.attempts = *attempts;
            execution.args = args.as_ref().and_then(arguments);
            execution.result = Some((**result).clone());
            execution.result_truncated = *truncated;
            execution.duration_ms = Some(times.duration_ms);
            execution.report = times.report.as_deref().cloned();
        }
        StepState::Failed { attempts, args, error, times, .. }
        | StepState::Cancelled { attempts, args, error, times }
        | StepState::Interrupted { attempts, args, error, times } => {
            execution.attempts = *attempts;
            execution.args = args.as_ref().and_then(arguments);
            execution.error = Some(error.clone());
            execution.duration_ms = Some(times.duration_ms);
            execution.report = times.report.as_deref().cloned();
        }
    }
    Some(execution)
}

/// An event's data as the stream carries it: what `Event` serialises as, without the name.
pub fn data(event: &Event) -> Value {
    // Events hold only maps with text keys, so they always serialise.
    let mut tagged = serde_json::to_value(event).unwrap_or_default();
    tagged.get_mut("data").map(Value::take).unwrap_or_default()
}
