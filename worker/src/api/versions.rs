//! `/api/workflows/{id}/…`: publishing a flow, its versions, and giving it another id.

use std::sync::Arc;

use warp::http::{HeaderMap, StatusCode};
use weir_shared::ids::FlowId;
use weir_shared::published::{Accept, Duplicate, Publish, Rename, Restore, VersionDiff, VersionList, VersionView};
use weir_shared::wire::FlowView;

use super::Api;
use super::answer::{Answer, json};
use super::ask::{read, read_or_default};
use super::problem::ApiError;
use super::query::Query;
use super::refusals::{FLOW_ID, NOT_ACTIVE, PUBLISH, REVISION, SAVE};
use super::route::{Route, get, of, post, text, whole};
use super::workflows::{blocking, entry_answer, expected, if_match};
use crate::access::scope::Scope;
use crate::library::Entry;
use crate::published::Side;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let id = || ("id", of::<FlowId>(), "The flow");
    let number = || ("number", whole(0..=u64::MAX), "The version");
    vec![
        post(
            "/api/workflows/{id}/publish",
            "publishFlow",
            "Makes a version of a flow and puts it into service, or out",
        )
        .at(id())
        .header(if_match())
        .takes(of::<Publish>())
        .answers(StatusCode::OK, of::<VersionList>(), "The versions that there are now")
        .refuses(SAVE)
        .refuses(REVISION)
        .refuses(PUBLISH)
        .refuses(NOT_ACTIVE)
        .to(Scope::Admin, |ask| async move { publish(&ask.api, &ask.at("id")?, (&ask.headers, &ask.body)).await }),
        post("/api/workflows/{id}/accept", "acceptVersion", "Lets a version from elsewhere run on this machine")
            .at(id())
            .takes(of::<Accept>())
            .answers(StatusCode::OK, of::<VersionList>(), "The versions as they stand now")
            .refuses(PUBLISH)
            .refuses(NOT_ACTIVE)
            .to(Scope::Admin, |ask| async move { accept(&ask.api, &ask.at("id")?, &ask.body).await }),
        get("/api/workflows/{id}/revisions", "listVersions", "The versions of a flow, newest first")
            .at(id())
            .answers(StatusCode::OK, of::<VersionList>(), "The versions")
            .to(Scope::Read, |ask| async move { versions(&ask.api, &ask.at("id")?) }),
        get("/api/workflows/{id}/revisions/{number}", "showVersion", "One version with its flow")
            .at(id())
            .at(number())
            .answers(StatusCode::OK, of::<VersionView>(), "The version")
            .refuses(PUBLISH)
            .to(Scope::Read, |ask| async move { show(&ask.api, &ask.at("id")?, ask.at("number")?) }),
        post("/api/workflows/{id}/revisions/{number}/restore", "restoreVersion", "Makes a version the draft again")
            .at(id())
            .at(number())
            .header(if_match())
            .may_take(of::<Restore>())
            .answers(StatusCode::OK, of::<FlowView>(), "The flow; nothing that is active has changed")
            .refuses(SAVE)
            .refuses(REVISION)
            .refuses(PUBLISH)
            .to(Scope::Admin, |ask| async move {
                restore(&ask.api, (&ask.at("id")?, ask.at("number")?), (&ask.headers, &ask.body)).await
            }),
        get("/api/workflows/{id}/diff", "compareVersions", "What differs between two versions, or the draft and one")
            .at(id())
            .query(("from", text(), "`draft`, `published` (the default) or a number"))
            .query(("to", text(), "`draft` (the default), `published` or a number"))
            .answers(StatusCode::OK, of::<VersionDiff>(), "The difference")
            .refuses(PUBLISH)
            .refuses(NOT_ACTIVE)
            .to(Scope::Read, |ask| async move { diff(&ask.api, &ask.at("id")?, &ask.query) }),
        post("/api/workflows/{id}/rename", "renameFlow", "Another id, with everything that belongs to the flow")
            .at(id())
            .header(if_match())
            .takes(of::<Rename>())
            .answers(StatusCode::CREATED, of::<FlowView>(), "The flow under its new id")
            .refuses(SAVE)
            .refuses(FLOW_ID)
            .refuses(REVISION)
            .refuses(PUBLISH)
            .to(Scope::Admin, |ask| async move { rename(&ask.api, &ask.at("id")?, (&ask.headers, &ask.body)).await }),
        post("/api/workflows/{id}/duplicate", "duplicateFlow", "A copy of the draft under another id")
            .at(id())
            .may_take(of::<Duplicate>())
            .answers(StatusCode::CREATED, of::<FlowView>(), "The copy, which is not published")
            .refuses(SAVE)
            .refuses(FLOW_ID)
            .refuses(PUBLISH)
            .to(Scope::Admin, |ask| async move { duplicate(&ask.api, &ask.at("id")?, &ask.body).await }),
    ]
}

async fn publish(api: &Api, id: &FlowId, (headers, body): (&HeaderMap, &[u8])) -> Answer {
    let Publish { published, expected_revision } = read(body)?;
    let expected = expected(headers, expected_revision.as_deref())?.ok_or(ApiError::PreconditionMissing)?;
    if published {
        api.published.publish(id, &expected).await?;
    } else {
        api.published.unpublish(id, &expected).await?;
    }
    versions(api, id)
}

async fn accept(api: &Api, id: &FlowId, body: &[u8]) -> Answer {
    let Accept { number, sha256 } = read(body)?;
    flow(api, id)?;
    api.published.accept(id, number, &sha256).await?;
    versions(api, id)
}

fn show(api: &Api, id: &FlowId, number: u64) -> Answer {
    json(StatusCode::OK, &api.published.show(&*flow(api, id)?, number)?)
}

async fn restore(api: &Api, (id, number): (&FlowId, u64), (headers, body): (&HeaderMap, &[u8])) -> Answer {
    let Restore { expected_revision } = read_or_default(body)?;
    let expected = expected(headers, expected_revision.as_deref())?.ok_or(ApiError::PreconditionMissing)?;
    let entry = api.published.restore(id, number, expected).await?;
    entry_answer(api, StatusCode::OK, &entry)
}

fn diff(api: &Api, id: &FlowId, query: &Query) -> Answer {
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

async fn rename(api: &Api, id: &FlowId, (headers, body): (&HeaderMap, &[u8])) -> Answer {
    let Rename { to, expected_revision } = read(body)?;
    let to = flow_id(&to)?;
    let expected = expected(headers, expected_revision.as_deref())?.ok_or(ApiError::PreconditionMissing)?;
    let entry = api.published.rename(id, &to, &expected).await?;
    entry_answer(api, StatusCode::CREATED, &entry)
}

/// A copy of the draft under another id. It is not published, and has no versions.
async fn duplicate(api: &Api, id: &FlowId, body: &[u8]) -> Answer {
    let Duplicate { to } = read_or_default(body)?;
    let to = to.as_deref().map(flow_id).transpose()?;
    let original = flow(api, id)?;
    let draft = original.flow.as_deref().ok_or(crate::published::PublishError::UnreadableDraft)?;
    let text = weir_shared::canonical::print(draft);
    let (library, from) = (api.library.clone(), id.clone());
    let copy = move || match to {
        Some(to) => library.create(Some(to), text.as_bytes()),
        None => library.create_beside(&from, text.as_bytes()),
    };
    let entry = blocking(copy).await??;
    entry_answer(api, StatusCode::CREATED, &entry)
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
