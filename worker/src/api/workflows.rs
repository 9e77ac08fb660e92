//! `/api/workflows`: the flow library, a flow, and checking one that is not saved.

use hyper::body::Bytes;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::header::{ETAG, HeaderValue, IF_MATCH};
use warp::http::{HeaderMap, StatusCode};
use warp::reply::Response;
use weir_shared::check::{CheckedText, Surroundings, check_flow, check_text};
use weir_shared::ids::{FlowId, Revision};
use weir_shared::read;
use weir_shared::wire::{CheckFlow, Checked, CreateFlow, SaveFlow};

use super::Api;
use super::answer::{Answer, json, settle};
use super::ask::{body, caller, query, read as read_body, require, with};
use super::flow_view::{summaries, view};
use super::problem::ApiError;
use super::query::Query;
use crate::access::scope::{Caller, Scope};
use crate::library::Entry;

/// Every route of the library but its events and what starts runs.
pub(super) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    let all = warp::path!("api" / "workflows");
    let one = warp::path!("api" / "workflows" / FlowId);
    let list =
        all.and(warp::get()).and(with(api)).and(caller()).map(|api: Api, caller: Caller| settle(list(&api, &caller)));
    let create = all
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|api: Api, caller: Caller, body: Bytes| async move { settle(create(api, &caller, &body).await) });
    let show = one
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .map(|id: FlowId, api: Api, caller: Caller| settle(show(&api, &caller, &id)));
    let save = one.and(warp::put()).and(with(api)).and(caller()).and(warp::header::headers_cloned()).and(body()).then(
        |id: FlowId, api: Api, caller: Caller, headers: HeaderMap, body: Bytes| async move {
            settle(save(api, &caller, id, &headers, &body).await)
        },
    );
    let delete =
        one.and(warp::delete()).and(with(api)).and(caller()).and(warp::header::headers_cloned()).and(query()).then(
            |id: FlowId, api: Api, caller: Caller, headers: HeaderMap, query: Vec<(String, String)>| async move {
                settle(delete(api, &caller, id, &headers, query).await)
            },
        );
    let check = warp::path!("api" / "workflows" / "check")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|api: Api, caller: Caller, body: Bytes| async move { settle(check(api, &caller, &body).await) });
    list.or(create)
        .unify()
        .boxed()
        .or(show)
        .unify()
        .or(save)
        .unify()
        .boxed()
        .or(delete)
        .unify()
        .or(check)
        .unify()
        .boxed()
}

fn list(api: &Api, caller: &Caller) -> Answer {
    require(caller, Scope::Read)?;
    json(StatusCode::OK, &summaries(api)?)
}

fn show(api: &Api, caller: &Caller, id: &FlowId) -> Answer {
    require(caller, Scope::Read)?;
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

async fn create(api: Api, caller: &Caller, body: &[u8]) -> Answer {
    require(caller, Scope::Admin)?;
    let CreateFlow { id, flow } = read_body(body)?;
    let id = id
        .map(|id| id.parse::<FlowId>())
        .transpose()
        .map_err(|error| ApiError::Malformed { code: "bad_flow_id", message: error.to_string() })?;
    let library = api.library.clone();
    let entry = blocking(move || library.create(id, flow.get().as_bytes())).await??;
    entry_answer(&api, StatusCode::CREATED, &entry)
}

async fn save(api: Api, caller: &Caller, id: FlowId, headers: &HeaderMap, body: &[u8]) -> Answer {
    require(caller, Scope::Admin)?;
    let SaveFlow { flow, expected_revision } = read_body(body)?;
    let expected = expected(headers, expected_revision.as_deref())?.ok_or(ApiError::PreconditionMissing)?;
    let library = api.library.clone();
    let entry = blocking(move || library.save(&id, flow.get().as_bytes(), &expected)).await??;
    entry_answer(&api, StatusCode::OK, &entry)
}

async fn delete(api: Api, caller: &Caller, id: FlowId, headers: &HeaderMap, query: Vec<(String, String)>) -> Answer {
    require(caller, Scope::Admin)?;
    let query = Query::of(query, &["expectedRevision"])?;
    let expected = expected(headers, query.text("expectedRevision"))?;
    json(StatusCode::OK, &api.published.delete(&id, expected.as_ref()).await?)
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

async fn check(api: Api, caller: &Caller, body: &[u8]) -> Answer {
    require(caller, Scope::Read)?;
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
