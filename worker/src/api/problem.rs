//! Everything that is not a success: one match from errors to answers.
//!
//! The texts say what happened and what to do next; the codes are stable. An internal cause goes to the log and not
//! on the wire.

use std::convert::Infallible;

use hyper::body::Bytes;
use serde_json::{Map, Value, json};
use warp::http::StatusCode;
use warp::http::header::{HeaderValue, WWW_AUTHENTICATE};
use warp::reject::{InvalidQuery, MethodNotAllowed, Rejection};
use warp::reply::Response;
use weir_shared::wire::Problem;

use super::answer::bytes_of;
use crate::access::entry::Refusal;
use crate::access::scope::Scope;
use crate::store::StoreError;

/// Why a request has no success.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("this needs the scope `{}`; the token that was sent has less", needs.as_str())]
    Scope { needs: Scope },
    #[error("there is nothing at this address")]
    UnknownPath,
    #[error("this address does not take this method")]
    Method,
    #[error("there is no {what}")]
    Unknown { what: String },
    #[error("{message}")]
    Malformed { code: &'static str, message: String },
    #[error("the body is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("the body did not arrive within {seconds} s")]
    TooSlow { seconds: u64 },
    #[error("bodies are taken uncompressed; leave Content-Encoding out")]
    Encoded,
    #[error("no space is left for the store; make room and try again")]
    StorageFull,
    #[error("the worker failed: see its log")]
    Internal { reason: String },
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => ApiError::StorageFull,
            StoreError::Io { .. }
            | StoreError::Damaged { .. }
            | StoreError::OutOfOrder { .. }
            | StoreError::NotEnded { .. }
            | StoreError::Closed => ApiError::Internal { reason: error.to_string() },
        }
    }
}

/// The answer to an error.
pub(super) fn refuse(error: &ApiError) -> Response {
    let (status, problem) = problem_of(error);
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    let mut response = bytes_of(status, "application/json", Bytes::from(body));
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// The one match.
fn problem_of(error: &ApiError) -> (StatusCode, Problem) {
    let text = error.to_string();
    match error {
        ApiError::Refused(refusal) => match refusal {
            Refusal::UnknownName { .. } => (StatusCode::MISDIRECTED_REQUEST, plain("unknown_host", text)),
            Refusal::ForeignOrigin { .. } => (StatusCode::FORBIDDEN, plain("foreign_origin", text)),
            Refusal::UnknownOrigin => (StatusCode::FORBIDDEN, plain("unknown_origin", text)),
            Refusal::ContentType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, plain("content_type", text)),
            Refusal::NoCredential => (StatusCode::UNAUTHORIZED, plain("unauthorized", text)),
        },
        ApiError::Scope { needs } => (
            StatusCode::FORBIDDEN,
            Problem { params: Some(params(json!({ "needs": needs.as_str() }))), ..plain("scope", text) },
        ),
        ApiError::UnknownPath => (StatusCode::NOT_FOUND, plain("not_found", text)),
        ApiError::Method => (StatusCode::METHOD_NOT_ALLOWED, plain("method_not_allowed", text)),
        ApiError::Unknown { .. } => (StatusCode::NOT_FOUND, plain("not_found", text)),
        ApiError::Malformed { code, .. } => (StatusCode::BAD_REQUEST, plain(code, text)),
        ApiError::TooLarge { limit } => (
            StatusCode::PAYLOAD_TOO_LARGE,
            Problem { params: Some(params(json!({ "limit": limit }))), ..plain("too_large", text) },
        ),
        ApiError::TooSlow { .. } => (StatusCode::REQUEST_TIMEOUT, plain("too_slow", text)),
        ApiError::Encoded => (StatusCode::UNSUPPORTED_MEDIA_TYPE, plain("content_encoding", text)),
        ApiError::StorageFull => (StatusCode::INSUFFICIENT_STORAGE, plain("storage_full", text)),
        ApiError::Internal { reason } => {
            tracing::error!(%reason, "a request failed");
            (StatusCode::INTERNAL_SERVER_ERROR, plain("internal", text))
        }
    }
}

/// A problem that is a code and a text.
fn plain(code: &str, error: String) -> Problem {
    Problem {
        success: false,
        code: code.to_owned(),
        error,
        params: None,
        findings: Vec::new(),
        faults: Vec::new(),
        more: Map::new(),
    }
}

fn params(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

/// What no route took: a path that matched with another method, or no path at all.
pub(super) async fn of_rejection(rejection: Rejection) -> Result<Response, Infallible> {
    let error = if rejection.is_not_found() {
        ApiError::UnknownPath
    } else if rejection.find::<MethodNotAllowed>().is_some() {
        ApiError::Method
    } else if rejection.find::<InvalidQuery>().is_some() {
        ApiError::Malformed { code: "bad_query", message: "the query cannot be read".to_owned() }
    } else {
        ApiError::Internal { reason: format!("{rejection:?}") }
    };
    Ok(refuse(&error))
}
