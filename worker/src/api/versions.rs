//! `/api/workflows/{id}/…`: publishing a flow, its versions, and giving it another id.

use std::sync::Arc;

use hyper::body::Bytes;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, StatusCode};
use warp::reply::Response;
use weir_shared::ids::FlowId;
use weir_shared::published::{Accept, Duplicate, Publish, Rename, Restore};

use super::Api;
use super::answer::{Answer, json, settle};
use super::ask::{body, caller, query, read, read_or_default, require, with};
use super::problem::ApiError;
use super::query::Query;
use super::workflows::{blocking, entry_answer, expected};
use crate::access::scope::{Caller, Scope};
use crate::library::Entry;
use crate::published::Side;

/// The routes.
pub(super) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    let publish = warp::path!("api" / "workflows" / FlowId / "publish")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(warp::header::headers_cloned())
        .and(body())
        .then(|id: FlowId, api: Api, caller: Caller, headers: HeaderMap, body: Bytes| async move {
            settle(publish(&api, &caller, &id, (&headers, &body)).await)
        });
    let accept = warp::path!("api" / "workflows" / FlowId / "accept")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|id: FlowId, api: Api, caller: Caller, body: Bytes| async move {
            settle(accept(&api, &caller, &id, &body).await)
        });
    let list = warp::path!("api" / "workflows" / FlowId / "revisions")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .map(|id: FlowId, api: Api, caller: Caller| settle(list(&api, &caller, &id)));
    let show = warp::path!("api" / "workflows" / FlowId / "revisions" / u64)
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .map(|id: FlowId, number: u64, api: Api, caller: Caller| settle(show(&api, &caller, &id, number)));
    let restore = warp::path!("api" / "workflows" / FlowId / "revisions" / u64 / "restore")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(warp::header::headers_cloned())
        .and(body())
        .then(|id: FlowId, number: u64, api: Api, caller: Caller, headers: HeaderMap, body: Bytes| async move {
            settle(restore(&api, &caller, (&id, number), (&headers, &body)).await)
        });
    let diff = warp::path!("api" / "workflows" / FlowId / "diff")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .and(query())
        .map(|id: FlowId, api: Api, caller: Caller, query| settle(diff(&api, &caller, &id, query)));
    let rename = warp::path!("api" / "workflows" / FlowId / "rename")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(warp::header::headers_cloned())
        .and(body())
        .then(|id: FlowId, api: Api, caller: Caller, headers: HeaderMap, body: Bytes| async move {
            settle(rename(&api, &caller, &id, (&headers, &body)).await)
        });
    let duplicate = warp::path!("api" / "workflows" / FlowId / "duplicate")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|id: FlowId, api: Api, caller: Caller, body: Bytes| async move {
            settle(duplicate(api, &caller, &id, &body).await)
        });
    publish
        .or(accept)
        .unify()
        .boxed()
        .or(list)
        .unify()
        .or(show)
        .unify()
        .boxed()
        .or(restore)
        .unify()
        .or(diff)
        .unify()
        .boxed()
        .or(rename)
        .unify()
        .or(duplicate)
        .unify()
        .boxed()
}

async fn publish(api: &Api, caller: &Caller, id: &FlowId, (headers, body): (&HeaderMap, &[u8])) -> Answer {
    require(caller, Scope::Admin)?;
    let Publish { published, expected_revision } = read(body)?;
    let expected = expected(headers, expected_revision.as_deref())?.ok_or(ApiError::PreconditionMissing)?;
    if published {
        api.published.publish(id, &expected).await?;
    } else {
        api.published.unpublish(id, &expected).await?;
    }
    versions(api, id)
}

async fn accept(api: &Api, caller: &Caller, id: &FlowId, body: &[u8]) -> Answer {
    require(caller, Scope::Admin)?;
    let Accept { number, sha256 } = read(body)?;
    flow(api, id)?;
    api.published.accept(id, number, &sha256).await?;
    versions(api, id)
}

fn list(api: &Api, caller: &Caller, id: &FlowId) -> Answer {
    require(caller, Scope::Read)?;
    versions(api, id)
}

fn show(api: &Api, caller: &Caller, id: &FlowId, number: u64) -> Answer {
    require(caller, Scope::Read)?;
    json(StatusCode::OK, &api.published.show(&*flow(api, id)?, number)?)
}

async fn restore(
    api: &Api,
    caller: &Caller,
    (id, number): (&FlowId, u64),
    (headers, body): (&HeaderMap, &[u8]),
) -> Answer {
    require(caller, Scope::Admin)?;
    let Restore { expected_revision } = read_or_default(body)?;
    let expected = expected(headers, expected_revision.as_deref())?.ok_or(ApiError::PreconditionMissing)?;
    let entry = api.published.restore(id, number, expected).await?;
    entry_answer(api, StatusCode::OK, &entry)
}

fn diff(api: &Api, caller: &Caller, id: &FlowId, query: Vec<(String, String)>) -> Answer {
    require(caller, Scope::Read)?;
    let query = Query::of(query, &["from", "to"])?;
    let side = |name: &'static str, otherwise: &'static str| -> Result<Side, ApiError> {
        match query.text(name).unwrap_or(otherwise) {
            "draft" => Ok(Side::Draft),
            "published" => Ok(Side::Active),
            number => number
                .parse()
                .map(Side::Number)
                .map_err(|_| ApiError::bad_parameter(name, number, "`draft`, `published` or the number of a version")),
        }
    };
    let sides = (side("from", "published")?, side("to", "draft")?);
    json(StatusCode::OK, &api.published.diff(&*flow(api, id)?, sides)?)
}

async fn rename(api: &Api, caller: &Caller, id: &FlowId, (headers, body): (&HeaderMap, &[u8])) -> Answer {
    require(caller, Scope::Admin)?;
    let Rename { to, expected_revision } = read(body)?;
    let to = flow_id(&to)?;
    let expected = expected(headers, expected_revision.as_deref())?.ok_or(ApiError::PreconditionMissing)?;
    let entry = api.published.rename(id, &to, &expected).await?;
    entry_answer(api, StatusCode::CREATED, &entry)
}

/// A copy of the draft under another id. It is not published, and has no versions.
async fn duplicate(api: Api, caller: &Caller, id: &FlowId, body: &[u8]) -> Answer {
    require(caller, Scope::Admin)?;
    let Duplicate { to } = read_or_default(body)?;
    let to = to.as_deref().map(flow_id).transpose()?;
    let original = flow(&api, id)?;
    let draft = original.flow.as_deref().ok_or(crate::published::PublishError::UnreadableDraft)?;
    let text = weir_shared::canonical::print(draft);
    let (library, from) = (api.library.clone(), id.clone());
    let copy = move || match to {
        Some(to) => library.create(Some(to), text.as_bytes()),
        None => library.create_beside(&from, text.as_bytes()),
    };
    let entry = blocking(copy).await??;
    entry_answer(&api, StatusCode::CREATED, &entry)
}

fn flow(api: &Api, id: &FlowId) -> Result<Arc<Entry>, ApiError> {
    api.library.get(id).ok_or_else(|| ApiError::no_flow(id))
}

fn versions(api: &Api, id: &FlowId) -> Answer {
    json(StatusCode::OK, &api.published.list(&*flow(api, id)?)?)
}

fn flow_id(text: &str) -> Result<FlowId, ApiError> {
    text.parse().map_err(|error: weir_shared::ids::BadId| ApiError::Malformed {
        code: "bad_flow_id",
        message: error.to_string(),
    })
}
