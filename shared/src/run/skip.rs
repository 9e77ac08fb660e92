//! Which steps are passed over, and why. Pure rules over what the prerequisites came to.

use serde_json::Value;

use crate::ids::StepIndex;
use crate::plan::RunWhen;
use crate::run::event::SkipReason;
use crate::run::state::{RunState, StepState};

/// Why a ready step is skipped by its conditions or its prerequisites, if it is.
///
/// A step that was skipped because it is disabled counts as done, and as having taken every branch.
pub(crate) fn by_prerequisites(state: &RunState, index: StepIndex) -> Option<SkipReason> {
    let step = state.plan.as_deref()?.step(index)?;
    if !step.run_when.iter().all(|condition| holds(state, condition)) {
        return Some(SkipReason::Branch);
    }
    let prerequisites = state.graph.prerequisites(index);
    let all_skipped = !prerequisites.is_empty() && prerequisites.iter().all(|need| was_passed_over(state, *need));
    all_skipped.then_some(SkipReason::Prerequisites)
}

fn holds(state: &RunState, condition: &RunWhen) -> bool {
    match state.step(condition.step) {
        Some(StepState::Skipped { reason: SkipReason::Disabled }) => true,
        Some(StepState::Completed { result, .. }) => {
            branch(result).is_some_and(|taken| condition.ports.contains(&taken))
        }
        _ => false,
    }
}

fn was_passed_over(state: &RunState, index: StepIndex) -> bool {
    match state.step(index) {
        Some(StepState::Skipped { reason }) => *reason != SkipReason::Disabled,
        _ => false,
    }
}

/// The branch that a result names, as text.
pub(crate) fn branch(result: &Value) -> Option<String> {
    match result.get("branch")? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}
