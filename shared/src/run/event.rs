//! The durable facts of a run, past tense, and the frames that a stream shows beside them.
//!
//! A fact is committed before anyone acts on it or sees it. The JSON of [`Event`] is the store's format and the
//! stream's: an event's name is the SSE event, its data the SSE data.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::flow::PermissionMode;
use crate::ids::{FlowId, GateId, NodeId, Owner, Revision, RunId, Seq, StepIndex, TaskId, Timestamp, ToolName};
use crate::plan::Plan;
use crate::task::Priority;

/// An event with its place and time in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Recorded {
    pub seq: Seq,
    pub ts: Timestamp,
    #[serde(flatten)]
    pub event: Event,
}

/// One durable fact of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum Event {
    RunCreated(Box<RunCreated>),
    #[serde(rename_all = "camelCase")]
    RunStarted {
        /// Milliseconds between admission and start.
        queue_wait_ms: u64,
    },
    PlanReady(Arc<Plan>),
    #[serde(rename_all = "camelCase")]
    PlanApprovalRequested {
        gate_id: GateId,
    },
    #[serde(rename_all = "camelCase")]
    StepApprovalRequested {
        gate_id: GateId,
        index: StepIndex,
        tool_name: ToolName,
        args: Arc<Value>,
        reason: String,
        /// The files that a command names, as they were when it was asked about. An approval covers these too.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<CoveredFile>,
    },
    #[serde(rename_all = "camelCase")]
    ApprovalResolved {
        gate_id: GateId,
        approved: bool,
        /// Who answered, or `expiry`.
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default)]
        edited_plan: bool,
    },
    StepDecided {
        index: StepIndex,
        verdict: VerdictKind,
        /// What decided: `permission mode …`, `approval: true`, a rule, a hook, the floor.
        source: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        segment: Option<String>,
    },
    #[serde(rename_all = "camelCase")]
    StepStart {
        index: StepIndex,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node_id: Option<NodeId>,
        tool_name: ToolName,
        /// From 1.
        attempt: u32,
        /// As resolved, secrets still placeholders, a command with its values filled in for reading.
        args: Arc<Value>,
    },
    #[serde(rename_all = "camelCase")]
    StepRetry {
        index: StepIndex,
        next_attempt: u32,
        max_attempts: u32,
        delay_ms: u64,
        error: String,
    },
    StepSkipped {
        index: StepIndex,
        reason: SkipReason,
    },
    #[serde(rename_all = "camelCase")]
    StepComplete {
        index: StepIndex,
        result: Arc<Value>,
        /// The event holds only a part; the whole is in the run's directory.
        #[serde(default)]
        result_truncated: bool,
        duration_ms: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<Box<ProcessReport>>,
    },
    StepFailed(Box<StepEnd>),
    StepCancelled(Box<StepEnd>),
    StepInterrupted(Box<StepEnd>),
    CancelRequested {
        by: String,
    },
    HookFailed {
        hook: String,
        event: String,
        error: String,
    },
    /// Terminal: the run completed.
    Complete {
        summary: String,
        /// The result of the last completed step.
        result: Arc<Value>,
    },
    /// Terminal: the run did not complete.
    Error {
        message: String,
        code: EndCode,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<StepIndex>,
    },
}

/// The first event of every run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunCreated {
    pub run_id: RunId,
    /// The run whose idempotency keys this one shares: itself, unless it resumes another.
    pub root_run_id: RunId,
    pub task_id: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_id: Option<FlowId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_revision: Option<Revision>,
    pub cause: Cause,
    /// Where it says another than its cause does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    pub owner: Owner,
    pub goal: String,
    pub inputs: Map<String, Value>,
    /// Inputs that the flow's schema marks with `x-weir-sensitive`, and what it says of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub input_marks: BTreeMap<String, bool>,
    pub config: RunConfig,
    pub sandbox: SandboxPosture,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_from: Option<RunId>,
}

/// What started a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    Manual,
    Api,
    Schedule,
    Webhook,
    Model,
    Resume,
    Fork,
    Rewind,
    Rerun,
}

/// What confines a run's processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SandboxPosture {
    #[default]
    Off,
    Landlock,
    Bubblewrap,
}

/// What a caller chooses about one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RunConfig {
    pub require_plan_approval: bool,
    /// Whether an ask of the mode table opens a gate (true) or runs (false).
    pub require_step_approval: bool,
    pub replan_on_failure: bool,
    pub max_replans: u32,
    pub permission_mode: PermissionMode,
    pub capability_mode: Option<CapabilityMode>,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            require_plan_approval: false,
            require_step_approval: true,
            replan_on_failure: false,
            max_replans: 0,
            permission_mode: PermissionMode::AskForApproval,
            capability_mode: None,
        }
    }
}

/// What a whole run is confined to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CapabilityMode {
    ReadOnly,
}

/// The guard's answer for one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum VerdictKind {
    Allow,
    Ask,
    Deny,
}

/// Why a step was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SkipReason {
    Disabled,
    /// A branch it waits for was not taken.
    Branch,
    /// Everything it waits for was skipped.
    Prerequisites,
    /// A value it refers to belongs to a skipped step.
    Reference,
}

/// A file that a command names, as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CoveredFile {
    /// As the command names it; a program that was looked up, where it was found.
    pub path: String,
    #[serde(flatten)]
    pub found: Found,
}

/// What was found of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "found", rename_all = "lowercase")]
pub enum Found {
    Nothing,
    /// Its content.
    Digest {
        sha256: String,
        size: u64,
    },
    /// Too large to read each time: size and time stand for its content.
    Stamp {
        size: u64,
        modified: Timestamp,
    },
}

/// How a step ended without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct StepEnd {
    pub index: StepIndex,
    /// The attempt that ended, from 1; 0 when the tool was never called.
    pub attempt: u32,
    pub error: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Box<ProcessReport>>,
}

/// Why a run did not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndCode {
    Failed,
    Cancelled,
    Interrupted,
    /// The store or the run directory had no space left.
    StorageFull,
}

/// The obituary of a process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ProcessReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The name of the signal that ended it, `SIGKILL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// It never ran: what the system said, and about what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn_error: Option<String>,
    /// Why it was asked to stop: `cancelled`, `timed out`, `shutting down`, `forced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The last signal of the ladder that was sent before it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    pub duration_ms: u64,
    /// Bytes the process wrote, kept or not.
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    /// Bytes past the spill limit, counted and dropped.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_ms: Option<u64>,
    /// The most memory that the step had at once, in bytes; only where a control group counted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
    /// The kernel ended it because it was over its limit of memory.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub out_of_memory: bool,
    /// A descendant kept a pipe open past the leader's end and was cut off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub leaked: bool,
    /// Processes that had left the group and were ended.
    #[serde(skip_serializing_if = "is_zero_u32")]
    pub swept: u32,
    /// Output that could not be kept, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capture_errors: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_zero_u32(n: &u32) -> bool {
    *n == 0
}

/// Which output of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    Stdout,
    Stderr,
}

/// A piece of output as the stream shows it. It is not in the journal and carries no id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepOutput {
    pub index: StepIndex,
    pub attempt: u32,
    pub stream: OutputStream,
    /// Bytes of this stream before this piece.
    pub offset: u64,
    pub text: String,
}

impl Event {
    /// The event's name, as in the journal and on the stream.
    pub fn name(&self) -> &'static str {
        match self {
            Event::RunCreated(_) => "run_created",
            Event::RunStarted { .. } => "run_started",
            Event::PlanReady(_) => "plan_ready",
            Event::PlanApprovalRequested { .. } => "plan_approval_requested",
            Event::StepApprovalRequested { .. } => "step_approval_requested",
            Event::ApprovalResolved { .. } => "approval_resolved",
            Event::StepDecided { .. } => "step_decided",
            Event::StepStart { .. } => "step_start",
            Event::StepRetry { .. } => "step_retry",
            Event::StepSkipped { .. } => "step_skipped",
            Event::StepComplete { .. } => "step_complete",
            Event::StepFailed(_) => "step_failed",
            Event::StepCancelled(_) => "step_cancelled",
            Event::StepInterrupted(_) => "step_interrupted",
            Event::CancelRequested { .. } => "cancel_requested",
            Event::HookFailed { .. } => "hook_failed",
            Event::Complete { .. } => "complete",
            Event::Error { .. } => "error",
        }
    }

    /// Whether nothing can follow it.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Event::Complete { .. } | Event::Error { .. })
    }
}

/// The name of the frame that carries [`StepOutput`].
pub const STEP_OUTPUT: &str = "step_output";
