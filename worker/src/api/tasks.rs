//! `/api/agent/tasks`: what was admitted and where it is, waiting for it, ending it, and the queue's capacity.

use std::time::Duration;

use hyper::body::Bytes;
use serde_json::json;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::StatusCode;
use warp::reply::Response;
use weir_shared::ids::TaskId;
use weir_shared::published::StartTask;
use weir_shared::run::event::Cause;
use weir_shared::task::{Priority, TaskList, TaskStatus, WaitForTasks, WaitMode};

use super::Api;
use super::answer::{Answer, json, settle};
use super::ask::{body, caller, query, read, require, with};
use super::problem::ApiError;
use super::query::{Query, word};
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
pub(super) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    let list = warp::path!("api" / "agent" / "tasks")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .and(query())
        .map(|api: Api, caller: Caller, query| settle(list(&api, &caller, query)));
    let start = warp::path!("api" / "agent" / "tasks")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|api: Api, caller: Caller, body: Bytes| async move { settle(start(&api, caller, &body).await) });
    let capacity = warp::path!("api" / "agent" / "tasks" / "capacity")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .map(|api: Api, caller: Caller| settle(capacity(&api, &caller)));
    let wait = warp::path!("api" / "agent" / "tasks" / "wait")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|api: Api, caller: Caller, body: Bytes| async move { settle(wait(&api, &caller, &body).await) });
    let show = warp::path!("api" / "agent" / "tasks" / TaskId)
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .and(query())
        .then(
            |id: TaskId, api: Api, caller: Caller, query| async move { settle(show(&api, &caller, &id, query).await) },
        );
    let kill = warp::path!("api" / "agent" / "tasks" / TaskId)
        .and(warp::delete())
        .and(with(api))
        .and(caller())
        .then(|id: TaskId, api: Api, caller: Caller| async move { settle(kill(&api, &caller, &id).await) });
    capacity.or(list).unify().or(start).unify().boxed().or(wait).unify().or(show).unify().or(kill).unify().boxed()
}

fn list(api: &Api, caller: &Caller, query: Vec<(String, String)>) -> Answer {
    require(caller, Scope::Read)?;
    let query = Query::of(query, &["status"])?;
    let status = query.text("status").map(|text| word::<TaskStatus>("status", text)).transpose()?;
    let mut tasks = api.runs.tasks(caller.sees_only().as_ref())?;
    tasks.retain(|task| status.is_none_or(|status| task.status == status));
    json(StatusCode::OK, &TaskList { tasks })
}

/// Starts the active version of a flow.
async fn start(api: &Api, caller: Caller, body: &[u8]) -> Answer {
    require(&caller, Scope::Run)?;
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

fn capacity(api: &Api, caller: &Caller) -> Answer {
    require(caller, Scope::Read)?;
    json(StatusCode::OK, &api.runs.capacity(&caller.owner))
}

async fn show(api: &Api, caller: &Caller, id: &TaskId, query: Vec<(String, String)>) -> Answer {
    require(caller, Scope::Read)?;
    let query = Query::of(query, &["timeoutMs"])?;
    let wait = query.value::<u64>("timeoutMs", "a number of milliseconds")?.unwrap_or(0).min(MOST_WAIT_MS);
    let ids = std::slice::from_ref(id);
    let waited = api.runs.wait_for_tasks(ids, WaitMode::All, millis(wait), caller.sees_only().as_ref()).await?;
    json(StatusCode::OK, &waited.tasks.first())
}

async fn wait(api: &Api, caller: &Caller, body: &[u8]) -> Answer {
    require(caller, Scope::Read)?;
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
    require(caller, Scope::Run)?;
    api.runs.kill_task(id, (&caller.owner, caller.sees_only().as_ref())).await?;
    json(StatusCode::ACCEPTED, &json!({ "taskId": id }))
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
