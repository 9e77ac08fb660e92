//! `GET /api/agent/tools`: what a step can call.

use serde_json::{Map, Value};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::StatusCode;
use warp::reply::Response;
use weir_shared::tool::ToolDeclaration;

use super::Api;
use super::answer::{Answer, json, settle};
use super::ask::{caller, require, with};
use super::problem::ApiError;
use crate::access::scope::{Caller, Scope};

/// The one route.
pub(super) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    warp::path!("api" / "agent" / "tools")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .map(|api: Api, caller: Caller| settle(list(&api, &caller)))
        .boxed()
}

fn list(api: &Api, caller: &Caller) -> Answer {
    require(caller, Scope::Read)?;
    let tools: Vec<Value> = api.toolbox.catalog().iter().map(show).collect::<Result<_, _>>()?;
    json(StatusCode::OK, &tools)
}

/// A declaration, and whether a call without special arguments may be repeated.
fn show(tool: &ToolDeclaration) -> Result<Value, ApiError> {
    let mut shown = serde_json::to_value(tool).map_err(|error| ApiError::Internal { reason: error.to_string() })?;
    shown["retrySafe"] = Value::from(tool.is_retry_safe(&Map::new(), None));
    Ok(shown)
}
