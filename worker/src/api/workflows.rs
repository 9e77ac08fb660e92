//! `/api/workflows`: the flow library, a flow, and checking one that is not saved.

use warp::http::header::{ETAG, HeaderValue, IF_MATCH};
use warp::http::{HeaderMap, StatusCode};
use weir_shared::check::{CheckedText, Surroundings, check_flow, check_text};
use weir_shared::ids::{FlowId, Revision};
use weir_shared::read;
use weir_shared::wire::{CheckFlow, Checked, CreateFlow, FlowDeleted, FlowSummary, FlowView, SaveFlow};

use super::Api;
use super::answer::{Answer, json};
use super::ask::read as read_body;
use super::flow_view::{summaries, view};
use super::problem::ApiError;
use super::query::Query;
use super::refusals::{FLOW_ID, REVISION, SAVE};
use super::route::{Parameter, Route, delete, get, list_of, of, post, put, text};
use crate::access::scope::Scope;
use crate::library::Entry;

/// The header that says which revision a caller started from.
pub(super) fn if_match() -> Parameter {
    ("If-Match", text(), "The revision that the caller started from, in quotes; the same as `expectedRevision`")
}

/// Every route of the library but its events and what starts runs.
pub(super) fn routes() -> Vec<Route> {
    let one = "/api/workflows/{id}";
    let id = || ("id", of::<FlowId>(), "The flow");
    vec![
        get("/api/workflows", "listFlows", "Every flow in short, with its newest run")
            .answers(StatusCode::OK, list_of::<FlowSummary>(), "The library")
            .to(Scope::Read, |ask| async move { json(StatusCode::OK, &summaries(&ask.api)?) }),
        post("/api/workflows", "createFlow", "A new flow. Without an id, one is made from its name")
            .takes(of::<CreateFlow>())
            .answers(StatusCode::CREATED, of::<FlowView>(), "The flow")
            .refuses(SAVE)
            .refuses(FLOW_ID)
            .to(Scope::Admin, |ask| async move { create(ask.api, &ask.body).await }),
        get(one, "showFlow", "A flow whole")
            .at(id())
            .answers(StatusCode::OK, of::<FlowView>(), "The flow; its revision is the ETag too")
            .to(Scope::Read, |ask| async move { show(&ask.api, &ask.at("id")?) }),
        put(one, "saveFlow", "Replaces a flow, if it is still as the caller knew it")
            .at(id())
            .header(if_match())
            .takes(of::<SaveFlow>())
            .answers(StatusCode::OK, of::<FlowView>(), "The flow as it is now")
            .refuses(SAVE)
            .refuses(REVISION)
            .to(Scope::Admin, |ask| async move { save(ask.api.clone(), ask.at("id")?, &ask.headers, &ask.body).await }),
        delete(one, "deleteFlow", "Removes a flow, with its versions, schedules and webhooks")
            .at(id())
            .header(if_match())
            .query(("expectedRevision", of::<Revision>(), "Only if it is still this one"))
            .answers(StatusCode::OK, of::<FlowDeleted>(), "What went with it")
            .refuses(SAVE)
            .to(
                Scope::Admin,
                |ask| async move { delete_flow(&ask.api, &ask.at("id")?, &ask.headers, &ask.query).await },
            ),
        post("/api/workflows/check", "checkFlow", "Judges a flow that is not saved: one of `flow` and `text`")
            .takes(of::<CheckFlow>())
            .answers(StatusCode::OK, of::<Checked>(), "Its findings, and its plan when it has one")
            .to(Scope::Read, |ask| async move { check(ask.api, &ask.body).await }),
    ]
}

fn show(api: &Api, id: &FlowId) -> Answer {
    let entry = api.library.get(id).ok_or_else(|| ApiError::no_flow(id))?;
    entry_answer(api, StatusCode::OK, &entry)
}

pub(super) fn entry_answer(api: &Api, status: StatusCode, entry: &Entry) -> Answer {
    let mut response = json(status, &view(api, entry)?)?;
    let tag = HeaderValue::from_str(&format!("\"{}\"", entry.revision))
        .map_err(|error| ApiError::Internal { reason: error.to_string() })?;
    response.headers_mut().insert(ETAG, tag);
    Ok(response)
}

async fn create(api: Api, body: &[u8]) -> Answer {
    let CreateFlow { id, flow } = read_body(body)?;
    let id = id
        .map(|id| id.parse::<FlowId>())
        .transpose()
        .map_err(|error| ApiError::Malformed { code: "bad_flow_id", message: error.to_string() })?;
    let library = api.library.clone();
    let entry = blocking(move || library.create(id, flow.get().as_bytes())).await??;
    entry_answer(&api, StatusCode::CREATED, &entry)
}

async fn save(api: Api, id: FlowId, headers: &HeaderMap, body: &[u8]) -> Answer {
    let SaveFlow { flow, expected_revision } = read_body(body)?;
    let expected = expected(headers, expected_revision.as_deref())?.ok_or(ApiError::PreconditionMissing)?;
    let library = api.library.clone();
    let entry = blocking(move || library.save(&id, flow.get().as_bytes(), &expected)).await??;
    entry_answer(&api, StatusCode::OK, &entry)
}

async fn delete_flow(api: &Api, id: &FlowId, headers: &HeaderMap, query: &Query) -> Answer {
    let expected = expected(headers, query.text("expectedRevision"))?;
    json(StatusCode::OK, &api.published.delete(id, expected.as_ref()).await?)
}

/// The revision that a caller started from: said in the request, or in `If-Match`. Both may be said when they agree.
pub(super) fn expected(headers: &HeaderMap, said: Option<&str>) -> Result<Option<Revision>, ApiError> {
    let header = headers.get(IF_MATCH).map(|value| value.to_str().unwrap_or("?").trim().trim_matches('"'));
    let text = match (said, header) {
        (Some(said), Some(header)) if said != header => {
            return Err(ApiError::bad_parameter("If-Match", header, "the same as expectedRevision"));
        }
        (said, header) => said.or(header),
    };
    text.map(|text| {
        text.parse().map_err(|_| ApiError::bad_parameter("expectedRevision", text, "a revision: 16 hexadecimal digits"))
    })
    .transpose()
}

async fn check(api: Api, body: &[u8]) -> Answer {
    let asked: CheckFlow = read_body(body)?;
    let checked = match asked {
        CheckFlow { flow: Some(flow), text: None } => blocking(move || check_value(&api, flow.get())).await?,
        CheckFlow { flow: None, text: Some(text) } => {
            blocking(move || judged(&api, |around| check_text(text.as_bytes(), around))).await?
        }
        CheckFlow { flow: Some(_), text: Some(_) } | CheckFlow { flow: None, text: None } => {
            return Err(ApiError::Malformed { code: "bad_body", message: "send either `flow` or `text`".to_owned() });
        }
    };
    let CheckedText { findings, plan, canonical, .. } = checked;
    json(StatusCode::OK, &Checked { findings, plan, canonical })
}

/// A flow as a value has no lines of its own: positions are those of its canonical text, once it can be read.
fn check_value(api: &Api, raw: &str) -> CheckedText {
    judged(api, |around| match read::read(raw.as_bytes()).flow {
        Some(flow) => check_flow(&flow, around),
        None => check_text(raw.as_bytes(), around),
    })
}

/// Checks a text or a flow against the tools as they are now.
fn judged(api: &Api, check: impl FnOnce(&Surroundings<'_>) -> CheckedText) -> CheckedText {
    let secrets = Some(api.secrets.names());
    check(&Surroundings { catalog: &api.toolbox.catalog(), limits: &api.limits, secrets })
}

/// Does what takes long or waits for the disk where it keeps nobody waiting.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| ApiError::Internal { reason: error.to_string() })
}
