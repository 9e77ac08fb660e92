//! Runs as tasks: what was admitted, where it is, and waiting for its end.
//!
//! A task is a view on its run's row, never a second truth: after a restart it says what the run says.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use weir_shared::ids::{Owner, Seq, TaskId};
use weir_shared::run::event::{Cause, Event};
use weir_shared::run::state::RunStatus;
use weir_shared::task::{Task, TaskKind, TaskStatus, WaitMode, WaitedForTasks};
use weir_shared::wire::RunRow;

use super::runs::{CancelError, ReadError, Runs, priority};
use crate::shutdown::Stage;
use crate::store::{RunQuery, StoreError};

/// Tasks that have ended, as many as are shown.
const FINISHED: usize = 100;
/// Characters of a task's output.
const OUTPUT_CHARS: usize = 100_000;

/// Why a task cannot be shown, waited for or killed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    #[error("there is no task {0}, or it has ended and is no longer kept among the last {FINISHED}")]
    Unknown(TaskId),
    #[error("task {0} has ended")]
    Ended(TaskId),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Cancel(#[from] CancelError),
}

impl From<StoreError> for TaskError {
    fn from(error: StoreError) -> Self {
        Self::Read(error.into())
    }
}

impl Runs {
    /// The tasks of this owner, or of all, newest first: those that go on, and the last that have ended. Without
    /// their outputs.
    pub(crate) fn tasks(&self, owner: Option<&Owner>) -> Result<Vec<Task>, TaskError> {
        Ok(self.task_rows(owner)?.into_iter().map(|row| self.task_of(row)).collect())
    }

    /// These tasks in this order, with their outputs.
    fn tasks_of(&self, ids: &[TaskId], owner: Option<&Owner>) -> Result<Vec<Task>, TaskError> {
        let rows = self.task_rows(owner)?;
        let task = |id: &TaskId| {
            let row = rows.iter().find(|row| row.task_id == *id).ok_or_else(|| TaskError::Unknown(id.clone()))?;
            let mut task = self.task_of(row.clone());
            if task.status == TaskStatus::Completed {
                (task.output, task.output_truncated) = self.output(&task)?;
            }
            Ok(task)
        };
        ids.iter().map(task).collect()
    }

    /// Asks the run of a task to stop; one that waits is cancelled before it starts.
    pub(crate) async fn kill_task(&self, id: &TaskId, (by, sees): (&Owner, Option<&Owner>)) -> Result<(), TaskError> {
        let rows = self.task_rows(sees)?;
        let row = rows.iter().find(|row| row.task_id == *id).ok_or_else(|| TaskError::Unknown(id.clone()))?;
        if row.status.is_terminal() {
            return Err(TaskError::Ended(id.clone()));
        }
        Ok(self.cancel(&row.run_id, by).await?)
    }

    /// Waits until one or all of these have ended, at most this long, and not past the end of the worker.
    pub(crate) async fn wait_for_tasks(
        &self,
        ids: &[TaskId],
        mode: WaitMode,
        timeout: Duration,
        owner: Option<&Owner>,
    ) -> Result<WaitedForTasks, TaskError> {
        let deadline = Instant::now() + timeout;
        // Before the first look, so that no end falls between the two.
        let mut changes = self.changes();
        let mut shutdown = self.inner().shutdown.clone();
        loop {
            let tasks = self.tasks_of(ids, owner)?;
            let has_ended = |task: &Task| task.status.is_terminal();
            let is_over = match mode {
                WaitMode::Any => tasks.iter().any(has_ended),
                WaitMode::All => tasks.iter().all(has_ended),
            };
            if is_over {
                return Ok(WaitedForTasks { timed_out: false, tasks });
            }
            tokio::select! {
                // The sender lives as long as `self`.
                _ = changes.changed() => {}
                () = shutdown.reached(Stage::Draining) => return Ok(WaitedForTasks { timed_out: true, tasks }),
                () = tokio::time::sleep_until(deadline) => return Ok(WaitedForTasks { timed_out: true, tasks }),
            }
        }
    }

    fn task_rows(&self, owner: Option<&Owner>) -> Result<Vec<RunRow>, TaskError> {
        let store = &self.inner().store;
        let mut rows = Vec::new();
        for run in store.unfinished()? {
            rows.extend(store.run(&run)?.filter(|row| owner.is_none_or(|owner| row.owner == owner.0)));
        }
        rows.retain(|row| !row.status.is_terminal());
        let mut query = RunQuery { owner: owner.cloned(), limit: FINISHED, ..RunQuery::default() };
        let mut finished = 0;
        while finished < FINISHED {
            let page = store.runs(&query)?;
            let ended = page.runs.into_iter().filter(|row| row.status.is_terminal()).take(FINISHED - finished);
            let before = rows.len();
            rows.extend(ended);
            finished += rows.len() - before;
            query.before = page.next.and_then(|next| next.parse().ok());
            if query.before.is_none() {
                break;
            }
        }
        rows.sort_unstable_by(|a, b| b.run_id.cmp(&a.run_id));
        Ok(rows)
    }

    fn task_of(&self, row: RunRow) -> Task {
        let now = self.inner().clock.now();
        let status = status(row.status);
        let until = row.completed_at.unwrap_or(now);
        Task {
            task_id: row.task_id,
            owner: Owner(row.owner),
            priority: row.priority.unwrap_or_else(|| priority(row.cause)),
            kind: kind(row.cause),
            description: row.goal,
            status,
            created_at: row.created_at,
            started_at: row.started_at,
            completed_at: row.completed_at,
            queue_wait_ms: row.started_at.unwrap_or(until).millis_since(row.created_at),
            run_duration_ms: row.started_at.map(|started| until.millis_since(started)),
            cancel_requested: row.cancel_requested,
            run_id: row.run_id,
            output: String::new(),
            output_truncated: false,
            error: match row.status {
                RunStatus::Interrupted => Some("interrupted".to_owned()),
                _ => row.error,
            },
        }
    }

    /// The result of a completed run as text, and whether it was cut.
    fn output(&self, task: &Task) -> Result<(String, bool), TaskError> {
        let last = self.inner().store.last_seq(&task.run_id)?;
        // Through the run's own view, which hides what is to be hidden.
        let detail = self.detail(&task.run_id, Seq(last.0.saturating_sub(1)), 1)?;
        let Some(Event::Complete { result, .. }) = detail.events.first().map(|recorded| &recorded.event) else {
            return Ok((String::new(), false));
        };
        let text = match &**result {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Ok(match text.char_indices().nth(OUTPUT_CHARS) {
            Some((end, _)) => (text[..end].to_owned(), true),
            None => (text, false),
        })
    }
}

fn status(status: RunStatus) -> TaskStatus {
    match status {
        RunStatus::Queued => TaskStatus::Queued,
        RunStatus::Planning
        | RunStatus::AwaitingPlanApproval
        | RunStatus::Executing
        | RunStatus::AwaitingStepApproval => TaskStatus::Running,
        RunStatus::Completed => TaskStatus::Completed,
        RunStatus::Failed | RunStatus::Interrupted => TaskStatus::Failed,
        RunStatus::Cancelled => TaskStatus::Cancelled,
    }
}

fn kind(cause: Cause) -> TaskKind {
    match cause {
        Cause::Manual | Cause::Resume | Cause::Fork | Cause::Rewind | Cause::Rerun => TaskKind::Manual,
        Cause::Api => TaskKind::Workflow,
        Cause::Webhook => TaskKind::WorkflowWebhook,
        Cause::Schedule => TaskKind::WorkflowSchedule,
        Cause::Model => TaskKind::Agent,
    }
}
