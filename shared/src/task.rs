//! Tasks: what was admitted, as `/api/agent/tasks` shows it. Every run is one.

use serde::{Deserialize, Serialize};

use crate::ids::{Owner, RunId, TaskId, Timestamp};

/// How urgent a task is. Deliveries and a person's own starts are interactive, starts by a model normal, fires of a
/// schedule batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    Interactive,
    Normal,
    Batch,
}

impl Priority {
    /// The priority as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Priority::Interactive => "interactive",
            Priority::Normal => "normal",
            Priority::Batch => "batch",
        }
    }
}

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    Queued,
    /// Also while its run waits for a person.
    Running,
    Completed,
    Failed,
    Cancelled,
}

impl TaskStatus {
    /// Whether nothing changes any more.
    pub fn is_terminal(self) -> bool {
        match self {
            TaskStatus::Queued | TaskStatus::Running => false,
            TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled => true,
        }
    }
}

/// What a task came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TaskKind {
    /// A person's own start.
    Manual,
    /// A program's start through the API.
    Workflow,
    WorkflowSchedule,
    WorkflowWebhook,
    /// A start by a model.
    Agent,
}

/// `GET /api/agent/tasks/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub task_id: TaskId,
    pub owner: Owner,
    pub priority: Priority,
    pub kind: TaskKind,
    /// The goal of its run.
    pub description: String,
    pub status: TaskStatus,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    /// From its creation to its start, or to its end or now where it has not started.
    pub queue_wait_ms: u64,
    /// From its start to its end, or to now.
    pub run_duration_ms: Option<u64>,
    pub run_id: RunId,
    /// The result of its run as text: a text itself, anything else as JSON. Empty until it has one.
    pub output: String,
    pub output_truncated: bool,
    pub cancel_requested: bool,
    pub error: Option<String>,
}

/// What ending a task answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskTold {
    pub task_id: TaskId,
}

/// `GET /api/agent/tasks`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskList {
    /// Newest first.
    pub tasks: Vec<Task>,
}

/// `GET /api/agent/tasks/capacity`. Counts are of tasks, times in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Capacity {
    pub running: usize,
    pub queued: usize,
    pub running_limit: usize,
    pub queue_limit: usize,
    /// How many more could start at once.
    pub available: usize,
    pub owned_running: usize,
    pub owned_queued: usize,
    pub owner_queue_limit: usize,
    pub owned_queue_available: usize,
    pub owner_saturated: bool,
    pub batch_queue_limit: usize,
    pub non_interactive_queue_limit: usize,
    pub owner_batch_queue_limit: usize,
    pub owner_non_interactive_queue_limit: usize,
    pub queued_interactive: usize,
    pub queued_normal: usize,
    pub queued_batch: usize,
    pub owned_queued_interactive: usize,
    pub owned_queued_normal: usize,
    pub owned_queued_batch: usize,
    /// Owners of whom something runs or waits.
    pub active_owners: usize,
    pub oldest_queue_wait_ms: u64,
    pub oldest_interactive_queue_wait_ms: u64,
    pub oldest_normal_queue_wait_ms: u64,
    pub oldest_batch_queue_wait_ms: u64,
    /// No place is free and no further task may wait.
    pub saturated: bool,
    pub scheduling_policy: String,
}

/// The name of the order in which waiting tasks start.
pub const SCHEDULING_POLICY: &str = "owner-round-robin-weighted-priority";

/// When a wait for several tasks is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum WaitMode {
    Any,
    All,
}

/// `POST /api/agent/tasks/wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitForTasks {
    pub ids: Vec<TaskId>,
    pub mode: WaitMode,
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

/// The answer to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct WaitedForTasks {
    /// Whether the time ran out first.
    pub timed_out: bool,
    /// In the order that was asked for.
    pub tasks: Vec<Task>,
}
