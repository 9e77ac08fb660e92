//! Bodies of the HTTP API and names of its streams: what worker and page exchange, in one place.
//!
//! Requests that hold a flow or a plan keep it as raw text (`RawValue`), since only the strict reader may read it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::finding::{Fault, Finding, FindingCounts, Severity};
use crate::flow::Flow;
use crate::ids::{FlowId, GateId, NodeId, Revision, RunId, StepIndex, TaskId, Timestamp, ToolName};
use crate::plan::Plan;
use crate::run::event::{CapabilityMode, Cause, CoveredFile, ProcessReport, Recorded, RunConfig, SkipReason};
use crate::run::state::{Decision, RunStatus, StepStatus};
use crate::task::Priority;

/// The header that carries the access token.
pub const TOKEN_HEADER: &str = "x-weir-token";

/// Every answer that is not a success.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// Always false.
    pub success: bool,
    /// A stable word.
    pub code: String,
    /// What happened, where, and what to do next.
    pub error: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// Fields of this one code: `revision` and `flow` of a conflict, `gates` of several gates.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A row of `GET /api/workflows`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FlowSummary {
    pub id: FlowId,
    pub name: String,
    pub description: String,
    pub revision: Revision,
    pub published: bool,
    pub published_version: Option<u64>,
    pub has_unpublished_changes: bool,
    pub step_count: usize,
    pub findings: FindingCounts,
    pub last_run: Option<LastRun>,
    pub next_fire_at: Option<Timestamp>,
    pub updated_at: Timestamp,
}

/// The newest run of a flow, as the library shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LastRun {
    pub run_id: RunId,
    pub status: RunStatus,
    pub created_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    pub duration_ms: Option<u64>,
}

/// `GET /api/workflows/{id}`, and what POST and PUT answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FlowView {
    pub id: FlowId,
    /// The flow on disk when it is readable, else the last one that was since this start.
    pub flow: Option<Flow>,
    /// The text on disk, given when it is not readable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Of the bytes on disk.
    pub revision: Revision,
    /// Of `flow`.
    pub flow_revision: Option<Revision>,
    pub findings: Vec<Finding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    pub published: bool,
    pub published_version: Option<u64>,
    pub has_unpublished_changes: bool,
}

/// `POST /api/workflows`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateFlow {
    #[serde(default)]
    pub id: Option<String>,
    #[cfg_attr(feature = "openapi", schema(value_type = Flow))]
    pub flow: Box<RawValue>,
}

/// `PUT /api/workflows/{id}`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SaveFlow {
    #[cfg_attr(feature = "openapi", schema(value_type = Flow))]
    pub flow: Box<RawValue>,
    #[serde(default)]
    pub expected_revision: Option<String>,
}

/// What DELETE of a flow answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FlowDeleted {
    pub ok: bool,
    pub cancelled_schedules: u64,
    pub cancelled_webhook_triggers: u64,
}

/// `POST /api/workflows/check`: one of the two.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CheckFlow {
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Flow>))]
    pub flow: Option<Box<RawValue>>,
    #[serde(default)]
    pub text: Option<String>,
}

/// What `check` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Checked {
    pub findings: Vec<Finding>,
    pub plan: Option<Plan>,
    pub canonical: Option<String>,
}

/// `POST /api/workflows/{id}/run`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RunFlow {
    pub inputs: Map<String, Value>,
    pub config: RunConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to: Option<String>,
}

/// `POST /api/agent/run`: with `workflow`, that plan; without, a model plans.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RunPlan {
    #[serde(default)]
    pub goal: String,
    #[serde(default)]
    pub inputs: Map<String, Value>,
    #[serde(default)]
    pub config: RunConfig,
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Plan>))]
    pub workflow: Option<Box<RawValue>>,
}

/// `POST /api/agent/batch`: goals for a model to plan, or plans.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunBatch {
    #[serde(default)]
    pub goals: Option<Vec<String>>,
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<Plan>>))]
    pub workflows: Option<Vec<Box<RawValue>>>,
    #[serde(default)]
    pub config: RunConfig,
    #[serde(default)]
    pub capability_mode: Option<CapabilityMode>,
}

/// What starting a batch answers, in the order of the plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct BatchAccepted {
    pub run_ids: Vec<RunId>,
}

/// What starting a run answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunAccepted {
    pub run_id: RunId,
    pub task_id: TaskId,
}

/// `POST /api/agent/{runId}/approve`; an empty body approves the one open gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Approve {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_id: Option<GateId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What telling a run something answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunTold {
    pub run_id: RunId,
}

/// What removing something answers that leaves nothing to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Done {
    /// Always true.
    pub ok: bool,
}

/// A row of `GET /api/agent/runs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    pub run_id: RunId,
    pub task_id: TaskId,
    pub flow_id: Option<FlowId>,
    pub goal: String,
    pub status: RunStatus,
    pub cause: Cause,
    /// Where it is another than its cause says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    pub owner: String,
    pub summary: Option<String>,
    pub error: Option<String>,
    pub resumed_from: Option<RunId>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub duration_ms: Option<u64>,
    /// Whether somebody has asked it to stop. Rows of earlier versions do not say.
    #[serde(default)]
    pub cancel_requested: bool,
}

/// `GET /api/agent/runs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunPage {
    pub runs: Vec<RunRow>,
    /// For `before`, when there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// `GET /api/agent/runs/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunDetail {
    #[serde(flatten)]
    pub row: RunRow,
    pub inputs: Map<String, Value>,
    pub config: RunConfig,
    pub plan: Option<Plan>,
    pub gates: Vec<Gate>,
    pub executions: Vec<Execution>,
    /// From `after` on, at most `eventLimit`.
    pub events: Vec<Recorded>,
    /// For `after`, when there are more events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_event: Option<u64>,
}

/// An open gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    pub gate_id: GateId,
    /// Absent at a plan gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<StepIndex>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<ToolName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    pub reason: String,
    /// The files that a command names, which an approval covers as they are here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<CoveredFile>,
}

/// One step of a run, as far as it got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    pub index: StepIndex,
    pub node_id: Option<NodeId>,
    pub status: StepStatus,
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    pub result: Option<Value>,
    #[serde(default)]
    pub result_truncated: bool,
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_reason: Option<SkipReason>,
    pub decision: Option<Decision>,
    /// Kept from the run this one resumed.
    pub reused: bool,
    pub started_at: Option<Timestamp>,
    pub duration_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ProcessReport>,
}

/// `GET /api/health`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    pub status: String,
    pub version: String,
}

/// `POST /api/session`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OpenSession {
    pub token: String,
}

/// `GET /api/session`: who the caller is, and what this worker is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Session {
    pub owner: String,
    pub scope: String,
    pub version: String,
    pub worker_id: String,
    pub flows_directory: String,
}

/// A plugin as `GET /api/plugins` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PluginView {
    /// The name of its folder, which is its id.
    pub id: String,
    pub name: String,
    pub version: String,
    pub source: PluginSource,
    pub folder: String,
    /// SHA-256 of the whole folder, in hexadecimal digits; absent when the folder cannot be read as a whole.
    pub digest: Option<String>,
    /// Whether this machine trusts the folder as it is now.
    pub trusted: bool,
    /// What its tools count as; present when it is trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<PluginEffects>,
    pub enabled: bool,
    pub findings: Vec<PluginFinding>,
    /// The names of its tools, offered or not.
    pub tools: Vec<String>,
    pub hooks: Vec<String>,
    /// What the digest is of.
    pub files: Vec<PluginFile>,
}

/// Which of the two homes a plugin lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum PluginSource {
    /// `plugins/` of the flow directory: it travels with the flows.
    Flows,
    /// `$XDG_DATA_HOME/weir/plugins/`.
    User,
}

/// What the guard takes the effects of a trusted plugin's tools for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum PluginEffects {
    /// At least `command`, whatever they declare.
    #[default]
    Command,
    /// What they declare.
    Declared,
}

/// Something that is wrong with a plugin. One with an error offers nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PluginFinding {
    /// A stable word: `unknown_key`, `duplicate_tool`.
    pub code: String,
    pub severity: Severity,
    /// Where in the manifest: `tools[0].run.command`; empty for the whole.
    pub path: String,
    pub message: String,
}

/// A file of a plugin's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PluginFile {
    /// From the folder on.
    pub path: String,
    pub bytes: u64,
    pub executable: bool,
}

/// `POST /api/plugins/{id}/trust`: the folder as it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TrustPlugin {
    pub digest: String,
    #[serde(default)]
    pub effects: PluginEffects,
}

/// `POST /api/plugins/{id}/enabled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EnablePlugin {
    pub enabled: bool,
}

/// What `POST /api/session/code` answers: a code that opens one session in the place of the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionCode {
    pub code: String,
    pub expires_in_seconds: u64,
}

/// Frames of `GET /api/workflows/events`; the SSE event is the variant's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum LibraryFrame {
    /// The first frame: everything, as `GET /api/workflows` shows it.
    Snapshot {
        flows: Vec<FlowSummary>,
    },
    FlowChanged {
        id: FlowId,
        revision: Revision,
        findings: FindingCounts,
    },
    FlowRemoved {
        id: FlowId,
    },
}
