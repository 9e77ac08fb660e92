//! `/api/agent/schedules`: when flows run by themselves. Whoever owns a schedule sees it, and an admin sees all; whoever
//! may start a flow may have it started later.

use hyper::body::Bytes;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::StatusCode;
use warp::reply::Response;
use weir_shared::flow::PermissionMode;
use weir_shared::schedule::{
    ChangeSchedule, CreateSchedule, FIRES_SHOWN, FireList, MOST_FIRES_SHOWN, MOST_PREVIEWED, PreviewRequest,
    ScheduleList, ScheduleRow, ScheduleState,
};

use super::Api;
use super::answer::{Answer, json, settle};
use super::ask::{body, caller, query, read, require, with};
use super::problem::ApiError;
use super::query::Query;
use crate::access::scope::{Caller, Scope};

/// The routes.
pub(super) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    let list = warp::path!("api" / "agent" / "schedules")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .map(|api: Api, caller: Caller| settle(list(&api, &caller)));
    let create = warp::path!("api" / "agent" / "schedules")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|api: Api, caller: Caller, body: Bytes| async move { settle(create(&api, caller, &body).await) });
    let preview_of = warp::path!("api" / "agent" / "schedules" / "preview")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .map(|api: Api, caller: Caller, body: Bytes| settle(preview_of(&api, &caller, &body)));
    let show = warp::path!("api" / "agent" / "schedules" / String)
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .map(|id: String, api: Api, caller: Caller| settle(show(&api, &caller, &id)));
    let change = warp::path!("api" / "agent" / "schedules" / String)
        .and(warp::patch())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|id: String, api: Api, caller: Caller, body: Bytes| async move {
            settle(change(&api, &caller, &id, &body).await)
        });
    let remove = warp::path!("api" / "agent" / "schedules" / String)
        .and(warp::delete())
        .and(with(api))
        .and(caller())
        .then(|id: String, api: Api, caller: Caller| async move { settle(remove(&api, &caller, &id).await) });
    let preview = warp::path!("api" / "agent" / "schedules" / String / "preview")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .and(query())
        .map(|id: String, api: Api, caller: Caller, query| settle(preview(&api, &caller, &id, query)));
    let fires = warp::path!("api" / "agent" / "schedules" / String / "fires")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .and(query())
        .map(|id: String, api: Api, caller: Caller, query| settle(fires(&api, &caller, &id, query)));
    // `preview` as a word comes before an id of that name.
    let collection = list.or(create).unify().or(preview_of).unify().boxed();
    let one = show.or(change).unify().or(remove).unify().boxed();
    collection.or(one).unify().or(preview).unify().or(fires).unify().boxed()
}

fn list(api: &Api, caller: &Caller) -> Answer {
    require(caller, Scope::Read)?;
    json(StatusCode::OK, &ScheduleList { schedules: api.schedules.list(caller.sees_only().as_ref())? })
}

async fn create(api: &Api, caller: Caller, body: &[u8]) -> Answer {
    require(&caller, Scope::Run)?;
    let asked: CreateSchedule = read(body)?;
    check_mode(&caller, asked.permission_mode)?;
    json(StatusCode::CREATED, &api.schedules.create(asked, caller.owner).await?)
}

fn show(api: &Api, caller: &Caller, id: &str) -> Answer {
    require(caller, Scope::Read)?;
    json(StatusCode::OK, &api.schedules.get(id, caller.sees_only().as_ref())?)
}

async fn change(api: &Api, caller: &Caller, id: &str, body: &[u8]) -> Answer {
    require(caller, Scope::Run)?;
    let asked: ChangeSchedule = read(body)?;
    check_mode(caller, asked.permission_mode)?;
    json(StatusCode::OK, &api.schedules.change(id, asked, caller.sees_only().as_ref()).await?)
}

async fn remove(api: &Api, caller: &Caller, id: &str) -> Answer {
    require(caller, Scope::Run)?;
    let removed = api.schedules.remove(id, caller.sees_only().as_ref()).await?;
    let cancelled = ScheduleRow { state: ScheduleState::Cancelled, next_fire_at: None, paused_reason: None, ..removed };
    json(StatusCode::OK, &cancelled)
}

fn preview_of(api: &Api, caller: &Caller, body: &[u8]) -> Answer {
    require(caller, Scope::Read)?;
    let asked: PreviewRequest = read(body)?;
    check_count("count", asked.count, MOST_PREVIEWED)?;
    json(StatusCode::OK, &api.schedules.preview_of(&asked)?)
}

fn preview(api: &Api, caller: &Caller, id: &str, query: Vec<(String, String)>) -> Answer {
    require(caller, Scope::Read)?;
    let count = Query::of(query, &["count"])?.value::<usize>("count", "a number from 1 to 100")?;
    check_count("count", count, MOST_PREVIEWED)?;
    json(StatusCode::OK, &api.schedules.preview(id, (caller.sees_only().as_ref(), count))?)
}

fn fires(api: &Api, caller: &Caller, id: &str, query: Vec<(String, String)>) -> Answer {
    require(caller, Scope::Read)?;
    let limit = Query::of(query, &["limit"])?.value::<usize>("limit", "a number from 1 to 1000")?;
    check_count("limit", limit, MOST_FIRES_SHOWN)?;
    let limit = limit.unwrap_or(FIRES_SHOWN);
    json(StatusCode::OK, &FireList { fires: api.schedules.fires(id, (caller.sees_only().as_ref(), limit))? })
}

fn check_count(name: &str, count: Option<usize>, most: usize) -> Result<(), ApiError> {
    match count {
        Some(count) if !(1..=most).contains(&count) => {
            Err(ApiError::bad_parameter(name, &count.to_string(), &format!("a number from 1 to {most}")))
        }
        Some(_) | None => Ok(()),
    }
}

/// A caller chooses a permission mode only as far as its token goes.
fn check_mode(caller: &Caller, mode: Option<PermissionMode>) -> Result<(), ApiError> {
    let fits = mode.is_none_or(|mode| caller.may_run_in(mode));
    if fits { Ok(()) } else { Err(ApiError::PermissionMode { most: caller.most }) }
}
