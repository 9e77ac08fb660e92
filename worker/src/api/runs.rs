//! `GET /api/agent/runs` and `…/runs/{id}`: what has run, and one run whole; `DELETE …/runs/{id}`: one run gone.

use warp::http::StatusCode;
use weir_shared::ids::{FlowId, RunId, Seq};
use weir_shared::run::event::Cause;
use weir_shared::run::state::RunStatus;
use weir_shared::wire::{RunDetail, RunPage};

use super::Api;
use super::answer::{Answer, empty, json};
use super::ask::visible_run;
use super::problem::ApiError;
use super::query::{Query, word};
use super::refusals::NOT_ENDED;
use super::route::{Route, delete, get, of, text, whole};
use crate::access::scope::{Caller, Scope};
use crate::retention;
use crate::store::RunQuery;

/// Events of one page of a run's detail, when the caller does not say and at most.
const EVENTS: usize = 500;
const MOST_EVENTS: usize = 5_000;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let one = "/api/agent/runs/{id}";
    let id = || ("id", of::<RunId>(), "The run");
    vec![
        get("/api/agent/runs", "listRuns", "What has run and runs, newest first, in pages")
            .query(("q", text(), "A part of the goal, the summary or the error, in any case"))
            .query(("status", of::<RunStatus>(), "Only those of this status"))
            .query(("flow", of::<FlowId>(), "Only those of this flow"))
            .query(("cause", of::<Cause>(), "Only those that this started"))
            .query(("limit", whole(1..=500), "Runs of the page; 50 when it is not said"))
            .query(("before", of::<RunId>(), "The `next` of the page before"))
            .answers(StatusCode::OK, of::<RunPage>(), "One page")
            .to(Scope::Read, |ask| async move { list(&ask.api, &ask.caller, &ask.query) }),
        get(one, "showRun", "One run whole, with a page of its events")
            .at(id())
            .query(("after", whole(0..=u64::MAX), "Events after this one"))
            .query(("eventLimit", whole(0..=u64::MAX), "Events of the page: 500 when it is not said, 5,000 at most"))
            .answers(StatusCode::OK, of::<RunDetail>(), "The run")
            .to(Scope::Read, |ask| async move { show(&ask.api, &ask.caller, &ask.at::<String>("id")?, &ask.query) }),
        delete(one, "forgetRun", "Removes an ended run and its output")
            .at(id())
            .answers_nothing(StatusCode::NO_CONTENT, "They are gone")
            .refuses(NOT_ENDED)
            .to(Scope::Admin, |ask| async move { forget(&ask.api, &ask.caller, &ask.at::<String>("id")?).await }),
    ]
}

fn list(api: &Api, caller: &Caller, query: &Query) -> Answer {
    let limit = query.value("limit", "a number from 1 to 500")?.unwrap_or(RunQuery::LIMIT);
    if !(1..=RunQuery::MOST).contains(&limit) {
        return Err(ApiError::bad_parameter("limit", &limit.to_string(), "a number from 1 to 500"));
    }
    let wanted = RunQuery {
        owner: caller.sees_only(),
        q: query.text("q").map(str::to_owned),
        status: query.text("status").map(|text| word::<RunStatus>("status", text)).transpose()?,
        flow: query.value::<FlowId>("flow", "a flow id")?,
        cause: query.text("cause").map(|text| word::<Cause>("cause", text)).transpose()?,
        limit,
        before: query.value::<RunId>("before", "the `next` of the page before")?,
    };
    json(StatusCode::OK, &api.store.runs(&wanted)?)
}

fn show(api: &Api, caller: &Caller, run: &str, query: &Query) -> Answer {
    let run = visible_run(api, caller, run)?;
    let after = query.value("after", "the number of an event")?.map_or(Seq(0), Seq);
    let limit = query.value("eventLimit", "a number")?.unwrap_or(EVENTS).min(MOST_EVENTS);
    json(StatusCode::OK, &api.runs.detail(&run, after, limit)?)
}

/// Removes an ended run and its output.
async fn forget(api: &Api, caller: &Caller, run: &str) -> Answer {
    let run = visible_run(api, caller, run)?;
    retention::forget(&api.store, &api.state, run).await?;
    Ok(empty(StatusCode::NO_CONTENT))
}
