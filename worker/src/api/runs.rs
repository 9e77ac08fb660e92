//! `GET /api/agent/runs` and `…/runs/{id}`: what has run, and one run whole; `DELETE …/runs/{id}`: one run gone.

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::StatusCode;
use warp::reply::Response;
use weir_shared::ids::{FlowId, RunId, Seq};
use weir_shared::run::event::Cause;
use weir_shared::run::state::RunStatus;

use super::Api;
use super::answer::{Answer, empty, json, settle};
use super::ask::{caller, query, require, visible_run, with};
use super::problem::ApiError;
use super::query::{Query, word};
use crate::access::scope::{Caller, Scope};
use crate::retention;
use crate::store::RunQuery;

/// Events of one page of a run's detail, when the caller does not say and at most.
const EVENTS: usize = 500;
const MOST_EVENTS: usize = 5_000;

/// The routes.
pub(super) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    let list = warp::path!("api" / "agent" / "runs")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .and(query())
        .map(|api: Api, caller: Caller, query: Vec<(String, String)>| settle(list(&api, &caller, query)));
    let show = warp::path!("api" / "agent" / "runs" / String)
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .and(query())
        .map(|run: String, api: Api, caller: Caller, query| settle(show(&api, &caller, &run, query)));
    let forget = warp::path!("api" / "agent" / "runs" / String)
        .and(warp::delete())
        .and(with(api))
        .and(caller())
        .then(|run: String, api: Api, caller: Caller| async move { settle(forget(&api, &caller, &run).await) });
    list.or(show).unify().or(forget).unify().boxed()
}

fn list(api: &Api, caller: &Caller, query: Vec<(String, String)>) -> Answer {
    require(caller, Scope::Read)?;
    let query = Query::of(query, &["q", "status", "flow", "cause", "limit", "before"])?;
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

fn show(api: &Api, caller: &Caller, run: &str, query: Vec<(String, String)>) -> Answer {
    require(caller, Scope::Read)?;
    let query = Query::of(query, &["after", "eventLimit"])?;
    let run = visible_run(api, caller, run)?;
    let after = query.value("after", "the number of an event")?.map_or(Seq(0), Seq);
    let limit = query.value("eventLimit", "a number")?.unwrap_or(EVENTS).min(MOST_EVENTS);
    json(StatusCode::OK, &api.runs.detail(&run, after, limit)?)
}

/// Removes an ended run and its output.
async fn forget(api: &Api, caller: &Caller, run: &str) -> Answer {
    let run = visible_run(api, caller, run)?;
    require(caller, Scope::Admin)?;
    retention::forget(&api.store, &api.state, run).await?;
    Ok(empty(StatusCode::NO_CONTENT))
}
