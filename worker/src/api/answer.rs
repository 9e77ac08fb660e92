//! Answers that are a success.

use hyper::body::Bytes;
use serde::Serialize;
use warp::Reply;
use warp::http::header::{CONTENT_TYPE, HeaderValue};
use warp::http::{Response as HttpResponse, StatusCode};
use warp::reply::Response;

use super::problem::{ApiError, refuse};

/// What a resource answers.
pub(crate) type Answer = Result<Response, ApiError>;

/// A body of JSON.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Answer {
    let bytes = serde_json::to_vec(body).map_err(|error| ApiError::Internal { reason: error.to_string() })?;
    Ok(bytes_of(status, "application/json", bytes.into()))
}

/// A body of bytes.
pub(super) fn bytes_of(status: StatusCode, content_type: &'static str, bytes: Bytes) -> Response {
    let mut response = HttpResponse::new(bytes).into_response();
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// No body.
pub(super) fn empty(status: StatusCode) -> Response {
    let mut response = HttpResponse::new(Bytes::new()).into_response();
    *response.status_mut() = status;
    response
}

/// The answer as it goes out, a refusal too.
pub(super) fn settle(answer: Answer) -> Response {
    answer.unwrap_or_else(|error| refuse(&error))
}
