//! `/api/agent/tasks`: what was admitted and where it is, waiting for it, ending it, and the queue's capacity.

use std::time::Duration;

use warp::http::StatusCode;
use weir_shared::ids::TaskId;
use weir_shared::published::StartTask;
use weir_shared::run::event::Cause;
use weir_shared::task::{
    Capacity, Priority, Task, TaskList, TaskStatus, TaskTold, WaitForTasks, WaitMode, WaitedForTasks,
};
use weir_shared::wire::RunAccepted;

use super::Api;
use super::answer::{Answer, json};
use super::ask::read;
use super::problem::ApiError;
use super::query::{Query, word};
use super::refusals::{MODE, NOT_ACTIVE, START, UNKNOWN, WAIT_SIZE};
use super::route::{Route, delete, get, of, post, whole};
use super::start::check_mode;
use crate::access::scope::{Caller, Scope};
use crate::run_request::RunRequest;

/// A wait for one task, in milliseconds: at most.
const MOST_WAIT_MS: u64 = 60_000;
/// A wait for several: when the caller does not say, and at most.
const WAIT_FOR_SEVERAL_MS: u64 = 30_000;
const MOST_WAIT_FOR_SEVERAL_MS: u64 = 120_000;
/// Tasks that one wait is for.
const WAITED_FOR: std::ops::RangeInclusive<usize> = 1..=20;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let one = "/api/agent/tasks/{id}";
    let id = || ("id", of::<TaskId>(), "The task");
    vec![
        get("/api/agent/tasks", "listTasks", "Tasks that go on and the last that have ended, newest first")
            .query(("status", of::<TaskStatus>(), "Only those of this status"))
            .answers(StatusCode::OK, of::<TaskList>(), "The tasks, without their output")
            .to(Scope::Read, |ask| async move { list(&ask.api, &ask.caller, &ask.query) }),
        post("/api/agent/tasks", "startTask", "Starts the active version of a flow")
            .takes(of::<StartTask>())
            .answers(StatusCode::ACCEPTED, of::<RunAccepted>(), "It is admitted")
            .refuses(START)
            .refuses(MODE)
            .refuses(NOT_ACTIVE)
            .to(Scope::Run, |ask| async move { start(&ask.api, ask.caller, &ask.body).await }),
        get("/api/agent/tasks/capacity", "showCapacity", "What runs and waits, and how much more may")
            .answers(StatusCode::OK, of::<Capacity>(), "The queue, in all and of the caller")
            .to(Scope::Read, |ask| async move { json(StatusCode::OK, &ask.api.runs.capacity(&ask.caller.owner)) }),
        post("/api/agent/tasks/wait", "waitForTasks", "Waits for the end of one or all of several tasks")
            .takes(of::<WaitForTasks>())
            .answers(StatusCode::OK, of::<WaitedForTasks>(), "The tasks as they are now")
            .refuses(UNKNOWN)
            .refuses(WAIT_SIZE)
            .to(Scope::Read, |ask| async move { wait(&ask.api, &ask.caller, &ask.body).await }),
        get(one, "showTask", "A task, after a wait for its end")
            .at(id())
            .query(("timeoutMs", whole(0..=u64::MAX), "How long to wait for its end; 60,000 at most"))
            .answers(StatusCode::OK, of::<Task>(), "The task")
            .to(Scope::Read, |ask| async move { show(&ask.api, &ask.caller, &ask.at("id")?, &ask.query).await }),
        delete(one, "killTask", "Ends a task: one that waits never starts, the run of another is cancelled")
            .at(id())
            .answers(StatusCode::ACCEPTED, of::<TaskTold>(), "It ends")
            .to(Scope::Run, |ask| async move { kill(&ask.api, &ask.caller, &ask.at("id")?).await }),
    ]
}

fn list(api: &Api, caller: &Caller, query: &Query) -> Answer {
    let status = query.text("status").map(|text| word::<TaskStatus>("status", text)).transpose()?;
    let mut tasks = api.runs.tasks(caller.sees_only().as_ref())?;
    tasks.retain(|task| status.is_none_or(|status| task.status == status));
    json(StatusCode::OK, &TaskList { tasks })
}

/// Starts the active version of a flow.
async fn start(api: &Api, caller: Caller, body: &[u8]) -> Answer {
    let asked: StartTask = read(body)?;
    if asked.priority == Some(Priority::Batch) {
        return Err(ApiError::bad_parameter("priority", "batch", "`interactive` or `normal`"));
    }
    let config = asked.config();
    check_mode(&caller, &config)?;
    let active = api.published.active(&asked.workflow_id)?;
    let request = RunRequest::of_active(&active, (Cause::Api, caller.owner), asked.inputs, config);
    json(StatusCode::ACCEPTED, &api.runs.start(RunRequest { priority: asked.priority, ..request }).await?)
}

async fn show(api: &Api, caller: &Caller, id: &TaskId, query: &Query) -> Answer {
    let wait = query.value::<u64>("timeoutMs", "a number of milliseconds")?.unwrap_or(0).min(MOST_WAIT_MS);
    let ids = std::slice::from_ref(id);
    let waited = api.runs.wait_for_tasks(ids, WaitMode::All, millis(wait), caller.sees_only().as_ref()).await?;
    json(StatusCode::OK, &waited.tasks.first())
}

async fn wait(api: &Api, caller: &Caller, body: &[u8]) -> Answer {
    let WaitForTasks { ids, mode, timeout_ms } = read(body)?;
    if !WAITED_FOR.contains(&ids.len()) {
        let message = format!("`ids` has {} tasks, and a wait is for 1 to 20", ids.len());
        return Err(ApiError::Malformed { code: "bad_wait", message });
    }
    let wait = timeout_ms.unwrap_or(WAIT_FOR_SEVERAL_MS).min(MOST_WAIT_FOR_SEVERAL_MS);
    let waited = api.runs.wait_for_tasks(&ids, mode, millis(wait), caller.sees_only().as_ref()).await?;
    json(StatusCode::OK, &waited)
}

async fn kill(api: &Api, caller: &Caller, id: &TaskId) -> Answer {
    api.runs.kill_task(id, (&caller.owner, caller.sees_only().as_ref())).await?;
    json(StatusCode::ACCEPTED, &TaskTold { task_id: id.clone() })
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
