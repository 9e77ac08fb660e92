//! What a run makes of a node, as its card shows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use weir_shared::ids::Timestamp;
use weir_shared::run::event::SkipReason;
use weir_shared::run::state::StepState;

/// The state of one card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CardState {
    /// In the run, not yet its turn.
    Waiting,
    Running {
        since: Timestamp,
        attempt: u32,
    },
    Retrying {
        next_attempt: u32,
    },
    WaitsForYou,
    Done {
        duration_ms: u64,
        /// The branch it took, of a tool with branches.
        branch: Option<String>,
    },
    Failed {
        message: String,
        timed_out: bool,
    },
    Skipped {
        reason: SkipReason,
    },
    Cancelled,
    Interrupted,
}

/// The states of a run's cards by node id; empty when no run is shown.
pub(crate) type CardStates = Arc<BTreeMap<String, CardState>>;

/// What a step of a run gave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StepResult {
    pub(crate) value: Arc<Value>,
    /// Whether the journal holds only a part of it.
    pub(crate) truncated: bool,
}

/// The results of a run by node id; empty when no run is shown.
pub(crate) type Results = Arc<BTreeMap<String, StepResult>>;

impl StepResult {
    /// What a completed step gave.
    pub(crate) fn of(step: &StepState) -> Option<Self> {
        let StepState::Completed { result, truncated, .. } = step else { return None };
        Some(Self { value: Arc::clone(result), truncated: *truncated })
    }
}

impl CardState {
    /// What a step's state looks like on its card.
    pub(crate) fn of(step: &StepState) -> Self {
        match step {
            StepState::Waiting { .. } | StepState::Ready | StepState::Allowed { .. } | StepState::Refused { .. } => {
                CardState::Waiting
            }
            StepState::AwaitingApproval { .. } => CardState::WaitsForYou,
            StepState::Running { attempt, since, .. } => CardState::Running { since: *since, attempt: *attempt },
            StepState::Retrying { next_attempt, .. } => CardState::Retrying { next_attempt: *next_attempt },
            StepState::Completed { result, times, .. } => CardState::Done {
                duration_ms: times.duration_ms,
                branch: result.get("branch").and_then(Value::as_str).map(str::to_owned),
            },
            StepState::Failed { error, timed_out, .. } => {
                CardState::Failed { message: error.clone(), timed_out: *timed_out }
            }
            StepState::Skipped { reason } => CardState::Skipped { reason: *reason },
            StepState::Cancelled { .. } => CardState::Cancelled,
            StepState::Interrupted { .. } => CardState::Interrupted,
        }
    }
}

impl CardState {
    /// The state in a word or two.
    pub(crate) fn words(&self) -> String {
        match self {
            CardState::Waiting => "waiting".to_owned(),
            CardState::Running { attempt: 0 | 1, .. } => "running".to_owned(),
            CardState::Running { attempt, .. } => format!("running, attempt {attempt}"),
            CardState::Retrying { next_attempt } => format!("retry {next_attempt}"),
            CardState::WaitsForYou => "waits for you".to_owned(),
            CardState::Done { branch: Some(branch), .. } => format!("done: {branch}"),
            CardState::Done { branch: None, .. } => "done".to_owned(),
            CardState::Failed { timed_out: true, .. } => "timed out".to_owned(),
            CardState::Failed { timed_out: false, .. } => "failed".to_owned(),
            CardState::Skipped { .. } => "skipped".to_owned(),
            CardState::Cancelled => "cancelled".to_owned(),
            CardState::Interrupted => "interrupted".to_owned(),
        }
    }

    /// What a person wants to know next: the error, the reason.
    pub(crate) fn details(&self) -> String {
        match self {
            CardState::Failed { message, .. } => message.clone(),
            CardState::Skipped { reason } => match reason {
                SkipReason::Disabled => "The node is disabled",
                SkipReason::Branch => "Its branch was not taken",
                SkipReason::Prerequisites => "Everything it waits for was skipped",
                SkipReason::Reference => "A value it refers to belongs to a skipped step",
            }
            .to_owned(),
            CardState::WaitsForYou => "Approve or reject it in the run panel".to_owned(),
            CardState::Waiting
            | CardState::Running { .. }
            | CardState::Retrying { .. }
            | CardState::Done { .. }
            | CardState::Cancelled
            | CardState::Interrupted => self.words(),
        }
    }
}
