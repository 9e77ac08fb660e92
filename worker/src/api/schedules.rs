//! `/api/agent/schedules`: when flows run by themselves. Whoever owns a schedule sees it, and an admin sees all; whoever
//! may start a flow may have it started later.

use warp::http::StatusCode;
use weir_shared::flow::PermissionMode;
use weir_shared::ids::ScheduleId;
use weir_shared::schedule::{
    ChangeSchedule, CreateSchedule, FIRES_SHOWN, FireList, MOST_FIRES_SHOWN, MOST_PREVIEWED, Preview, PreviewRequest,
    ScheduleList, ScheduleRow, ScheduleState,
};

use super::Api;
use super::answer::{Answer, json};
use super::ask::read;
use super::problem::ApiError;
use super::query::Query;
use super::refusals::{MODE, NOT_ACTIVE, RULE, SCHEDULE};
use super::route::{Route, delete, get, of, patch, post, whole};
use crate::access::scope::{Caller, Scope};

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let all = "/api/agent/schedules";
    let one = "/api/agent/schedules/{id}";
    let id = || ("id", of::<ScheduleId>(), "The schedule");
    let up_to = |most: usize| whole(1..=u64::try_from(most).unwrap_or(u64::MAX));
    vec![
        get(all, "listSchedules", "The schedules that there are, of files and of the API, oldest first")
            .answers(StatusCode::OK, of::<ScheduleList>(), "The schedules")
            .to(Scope::Read, |ask| async move { list(&ask.api, &ask.caller) }),
        post(all, "createSchedule", "Lets the active version of a flow run by itself")
            .takes(of::<CreateSchedule>())
            .answers(StatusCode::CREATED, of::<ScheduleRow>(), "The schedule")
            .refuses(MODE)
            .refuses(NOT_ACTIVE)
            .refuses(RULE)
            .refuses(SCHEDULE)
            .to(Scope::Run, |ask| async move { create(&ask.api, ask.caller, &ask.body).await }),
        post(
            "/api/agent/schedules/preview",
            "previewRule",
            "When a rule comes round that need not belong to a schedule",
        )
        .takes(of::<PreviewRequest>())
        .answers(StatusCode::OK, of::<Preview>(), "Its next fires")
        .refuses(RULE)
        .to(Scope::Read, |ask| async move { preview_of(&ask.api, &ask.body) }),
        get(one, "showSchedule", "One schedule")
            .at(id())
            .answers(StatusCode::OK, of::<ScheduleRow>(), "The schedule")
            .to(Scope::Read, |ask| async move { show(&ask.api, &ask.caller, &ask.at::<String>("id")?) }),
        patch(one, "changeSchedule", "Changes a schedule of the API; what is left out stays as it is")
            .at(id())
            .takes(of::<ChangeSchedule>())
            .answers(StatusCode::OK, of::<ScheduleRow>(), "The schedule as it is now")
            .refuses(MODE)
            .refuses(NOT_ACTIVE)
            .refuses(RULE)
            .refuses(SCHEDULE)
            .to(
                Scope::Run,
                |ask| async move { change(&ask.api, &ask.caller, &ask.at::<String>("id")?, &ask.body).await },
            ),
        delete(one, "removeSchedule", "Removes a schedule of the API; runs that it started go on")
            .at(id())
            .answers(StatusCode::OK, of::<ScheduleRow>(), "The schedule as it was")
            .refuses(SCHEDULE)
            .to(Scope::Run, |ask| async move { remove(&ask.api, &ask.caller, &ask.at::<String>("id")?).await }),
        get("/api/agent/schedules/{id}/preview", "previewSchedule", "When a schedule comes round next")
            .at(id())
            .query(("count", up_to(MOST_PREVIEWED), "Fires of the answer; 10 when it is not said"))
            .answers(StatusCode::OK, of::<Preview>(), "Its next fires")
            .refuses(RULE)
            .to(Scope::Read, |ask| async move { preview(&ask.api, &ask.caller, &ask.at::<String>("id")?, &ask.query) }),
        get("/api/agent/schedules/{id}/fires", "listFires", "What became of a schedule's occurrences, newest first")
            .at(id())
            .query(("limit", up_to(MOST_FIRES_SHOWN), "Occurrences of the answer; 20 when it is not said"))
            .answers(StatusCode::OK, of::<FireList>(), "The occurrences")
            .to(Scope::Read, |ask| async move { fires(&ask.api, &ask.caller, &ask.at::<String>("id")?, &ask.query) }),
    ]
}

fn list(api: &Api, caller: &Caller) -> Answer {
    json(StatusCode::OK, &ScheduleList { schedules: api.schedules.list(caller.sees_only().as_ref())? })
}

async fn create(api: &Api, caller: Caller, body: &[u8]) -> Answer {
    let asked: CreateSchedule = read(body)?;
    check_mode(&caller, asked.permission_mode)?;
    json(StatusCode::CREATED, &api.schedules.create(asked, caller.owner).await?)
}

fn show(api: &Api, caller: &Caller, id: &str) -> Answer {
    json(StatusCode::OK, &api.schedules.get(id, caller.sees_only().as_ref())?)
}

async fn change(api: &Api, caller: &Caller, id: &str, body: &[u8]) -> Answer {
    let asked: ChangeSchedule = read(body)?;
    check_mode(caller, asked.permission_mode)?;
    json(StatusCode::OK, &api.schedules.change(id, asked, caller.sees_only().as_ref()).await?)
}

async fn remove(api: &Api, caller: &Caller, id: &str) -> Answer {
    let removed = api.schedules.remove(id, caller.sees_only().as_ref()).await?;
    let cancelled = ScheduleRow { state: ScheduleState::Cancelled, next_fire_at: None, paused_reason: None, ..removed };
    json(StatusCode::OK, &cancelled)
}

fn preview_of(api: &Api, body: &[u8]) -> Answer {
    let asked: PreviewRequest = read(body)?;
    check_count("count", asked.count, MOST_PREVIEWED)?;
    json(StatusCode::OK, &api.schedules.preview_of(&asked)?)
}

fn preview(api: &Api, caller: &Caller, id: &str, query: &Query) -> Answer {
    let count = query.value::<usize>("count", "a number from 1 to 100")?;
    check_count("count", count, MOST_PREVIEWED)?;
    json(StatusCode::OK, &api.schedules.preview(id, (caller.sees_only().as_ref(), count))?)
}

fn fires(api: &Api, caller: &Caller, id: &str, query: &Query) -> Answer {
    let limit = query.value::<usize>("limit", "a number from 1 to 1000")?;
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
