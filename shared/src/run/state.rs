//! What the facts of a run add up to.
//!
//! Built only by `reduce`. A step's variant carries exactly what is valid in it; everything that can be derived
//! (which steps are ready, how many run) is derived in one place here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{GateId, Seq, StepIndex, Timestamp};
use crate::plan::Plan;
use crate::run::event::{CoveredFile, EndCode, ProcessReport, RunCreated, SkipReason, VerdictKind};
use crate::run::graph::Graph;

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Queued,
    Planning,
    AwaitingPlanApproval,
    Executing,
    AwaitingStepApproval,
    Completed,
    Failed,
    Cancelled,
    Interrupted,
}

impl RunStatus {
    /// Every status, in the order of a run's life.
    pub const ALL: [RunStatus; 9] = [
        RunStatus::Queued,
        RunStatus::Planning,
        RunStatus::AwaitingPlanApproval,
        RunStatus::Executing,
        RunStatus::AwaitingStepApproval,
        RunStatus::Completed,
        RunStatus::Failed,
        RunStatus::Cancelled,
        RunStatus::Interrupted,
    ];

    /// The status as it stands in JSON and in queries.
    pub fn as_str(self) -> &'static str {
        match self {
            RunStatus::Queued => "queued",
            RunStatus::Planning => "planning",
            RunStatus::AwaitingPlanApproval => "awaiting_plan_approval",
            RunStatus::Executing => "executing",
            RunStatus::AwaitingStepApproval => "awaiting_step_approval",
            RunStatus::Completed => "completed",
            RunStatus::Failed => "failed",
            RunStatus::Cancelled => "cancelled",
            RunStatus::Interrupted => "interrupted",
        }
    }

    /// Whether nothing can follow it.
    pub fn is_terminal(self) -> bool {
        matches!(self, RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled | RunStatus::Interrupted)
    }
}

/// Where a step is, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    Waiting,
    Ready,
    Running,
    Retrying,
    AwaitingApproval,
    Completed,
    Failed,
    Skipped,
    Cancelled,
    Interrupted,
}

impl StepStatus {
    /// The status as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            StepStatus::Waiting => "waiting",
            StepStatus::Ready => "ready",
            StepStatus::Running => "running",
            StepStatus::Retrying => "retrying",
            StepStatus::AwaitingApproval => "awaiting_approval",
            StepStatus::Completed => "completed",
            StepStatus::Failed => "failed",
            StepStatus::Skipped => "skipped",
            StepStatus::Cancelled => "cancelled",
            StepStatus::Interrupted => "interrupted",
        }
    }
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum StepState {
    /// Some prerequisites have not ended.
    Waiting {
        missing: u32,
    },
    /// All prerequisites have ended; neither skipped nor asked about nor started yet.
    Ready,
    /// A person is asked.
    AwaitingApproval {
        gate: GateId,
        args: Arc<Value>,
    },
    /// Allowed, by the guard (its start follows at once) or by a person (with the arguments that were shown), and
    /// waiting for room to start.
    Allowed {
        args: Option<Arc<Value>>,
    },
    /// Denied by the guard or rejected by a person; its failure follows at once.
    Refused {
        error: String,
    },
    Running {
        attempt: u32,
        args: Arc<Value>,
        since: Timestamp,
    },
    /// Between two attempts.
    Retrying {
        next_attempt: u32,
        args: Arc<Value>,
        error: String,
        due: Timestamp,
    },
    Completed {
        attempts: u32,
        args: Option<Arc<Value>>,
        result: Arc<Value>,
        truncated: bool,
        times: Times,
    },
    Failed {
        attempts: u32,
        args: Option<Arc<Value>>,
        error: String,
        timed_out: bool,
        times: Times,
    },
    Skipped {
        reason: SkipReason,
    },
    Cancelled {
        attempts: u32,
        args: Option<Arc<Value>>,
        error: String,
        times: Times,
    },
    Interrupted {
        attempts: u32,
        args: Option<Arc<Value>>,
        error: String,
        times: Times,
    },
}

/// When a step that ended ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// When its first attempt started; its end when none did.
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    /// Of the last attempt, in milliseconds, by a clock that never jumps.
    pub duration_ms: u64,
    pub report: Option<Box<ProcessReport>>,
}

impl StepState {
    /// Where the step is, in one word.
    pub fn status(&self) -> StepStatus {
        match self {
            StepState::Waiting { .. } => StepStatus::Waiting,
            StepState::Ready | StepState::Allowed { .. } | StepState::Refused { .. } => StepStatus::Ready,
            StepState::AwaitingApproval { .. } => StepStatus::AwaitingApproval,
            StepState::Running { .. } => StepStatus::Running,
            StepState::Retrying { .. } => StepStatus::Retrying,
            StepState::Completed { .. } => StepStatus::Completed,
            StepState::Failed { .. } => StepStatus::Failed,
            StepState::Skipped { .. } => StepStatus::Skipped,
            StepState::Cancelled { .. } => StepStatus::Cancelled,
            StepState::Interrupted { .. } => StepStatus::Interrupted,
        }
    }

    /// Whether it will not change any more.
    pub fn has_ended(&self) -> bool {
        matches!(
            self,
            StepState::Completed { .. }
                | StepState::Failed { .. }
                | StepState::Skipped { .. }
                | StepState::Cancelled { .. }
                | StepState::Interrupted { .. }
        )
    }

    /// The result, when there is one.
    pub fn result(&self) -> Option<&Arc<Value>> {
        match self {
            StepState::Completed { result, .. } => Some(result),
            _ => None,
        }
    }
}

/// What the guard said of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Decision {
    pub verdict: VerdictKind,
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<String>,
}

/// What an open gate asks about.
#[derive(Debug, Clone, PartialEq)]
pub enum OpenGate {
    Plan { since: Timestamp },
    Step { index: StepIndex, args: Arc<Value>, reason: String, since: Timestamp },
}

impl OpenGate {
    /// When it was opened.
    pub fn since(&self) -> Timestamp {
        match self {
            OpenGate::Plan { since } | OpenGate::Step { since, .. } => *since,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEnd {
    Completed { summary: String, result: Arc<Value> },
    Error { code: EndCode, message: String, index: Option<StepIndex> },
}

/// A run after some of its events. Empty before the first.
#[derive(Debug, Clone, Default)]
pub struct RunState {
    /// The place of the last event.
    pub last: Seq,
    pub created: Option<Arc<RunCreated>>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub plan: Option<Arc<Plan>>,
    pub steps: Vec<StepState>,
    pub decisions: BTreeMap<StepIndex, Decision>,
    /// What a person was last shown of the files that a step's command names.
    pub covered: BTreeMap<StepIndex, Vec<CoveredFile>>,
    pub gates: BTreeMap<GateId, OpenGate>,
    /// Gates opened so far, for numbering the next.
    pub gates_opened: u32,
    pub plan_approved: bool,
    pub plan_rejected: Option<String>,
    pub cancel_requested: bool,
    pub end: Option<RunEnd>,
    /// The step that completed last.
    pub last_completed: Option<StepIndex>,
    pub(crate) graph: Graph,
    /// When each step's first attempt started.
    pub(crate) first_started: BTreeMap<StepIndex, Timestamp>,
    pub(crate) index: StepSets,
}

/// Which steps are where. Follows from `RunState::steps`; kept so that no decision has to walk a plan of 10,000.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StepSets {
    /// Ready, allowed or refused: something is to be decided about them.
    pub(crate) ready: BTreeSet<StepIndex>,
    pub(crate) running: BTreeSet<StepIndex>,
    pub(crate) retrying: BTreeSet<StepIndex>,
    pub(crate) failed: BTreeSet<StepIndex>,
    pub(crate) ended: usize,
}

impl RunState {
    /// Where the run is. A run with an open gate waits for a person, whatever else goes on in it.
    pub fn status(&self) -> RunStatus {
        match &self.end {
            Some(RunEnd::Completed { .. }) => return RunStatus::Completed,
            Some(RunEnd::Error { code, .. }) => {
                return match code {
                    EndCode::Failed | EndCode::StorageFull => RunStatus::Failed,
                    EndCode::Cancelled => RunStatus::Cancelled,
                    EndCode::Interrupted => RunStatus::Interrupted,
                };
            }
            None => {}
        }
        if self.started_at.is_none() {
            return RunStatus::Queued;
        }
        if self.gates.values().any(|gate| matches!(gate, OpenGate::Plan { .. })) {
            return RunStatus::AwaitingPlanApproval;
        }
        if !self.gates.is_empty() {
            return RunStatus::AwaitingStepApproval;
        }
        if self.plan.is_none() { RunStatus::Planning } else { RunStatus::Executing }
    }

    /// Whether the run waits for a person and nothing else: it needs no slot, and outlives the worker.
    pub fn is_parked(&self) -> bool {
        if self.end.is_some() || self.cancel_requested || self.started_at.is_none() {
            return false;
        }
        let asks_about_the_plan = self.gates.values().any(|gate| matches!(gate, OpenGate::Plan { .. }));
        let sets = &self.index;
        let nothing_else =
            sets.running.is_empty() && sets.retrying.is_empty() && sets.ready.is_empty() && sets.failed.is_empty();
        asks_about_the_plan || (!self.gates.is_empty() && nothing_else)
    }

    /// The state of a step.
    pub fn step(&self, index: StepIndex) -> Option<&StepState> {
        self.steps.get(index.at())
    }

    /// Steps with a tool at work.
    pub fn running(&self) -> impl Iterator<Item = StepIndex> + '_ {
        self.index.running.iter().copied()
    }

    /// Steps that ended.
    pub fn ended_steps(&self) -> usize {
        self.index.ended
    }
}
