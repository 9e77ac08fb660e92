//! `POST /api/agent/{runId}/approve` and `…/cancel`: what a person says to a run that goes on.

use std::sync::Arc;

use hyper::body::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::StatusCode;
use warp::reply::Response;
use weir_shared::check::read_plan;
use weir_shared::wire::Approve;

use super::Api;
use super::answer::{Answer, json as json_body, settle};
use super::ask::{body, caller, read_or_default, require, visible_run, with};
use super::problem::ApiError;
use crate::access::scope::{Caller, Scope};
use crate::engine;

/// Both routes.
pub(super) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    let approve = warp::path!("api" / "agent" / String / "approve")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|run: String, api: Api, caller: Caller, body: Bytes| async move {
            settle(approve(&api, &caller, &run, &body).await)
        });
    let cancel = warp::path!("api" / "agent" / String / "cancel")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|run: String, api: Api, caller: Caller, body: Bytes| async move {
            settle(cancel(&api, &caller, &run, &body).await)
        });
    approve.or(cancel).unify().boxed()
}

async fn approve(api: &Api, caller: &Caller, run: &str, body: &[u8]) -> Answer {
    let run = visible_run(api, caller, run)?;
    require(caller, Scope::Admin)?;
    api.runs.approve(&run, said(body)?, &caller.owner).await?;
    json_body(StatusCode::ACCEPTED, &json!({ "runId": run }))
}

/// What a person says: nothing is a yes to the one open gate; a plan is a yes to that plan instead.
fn said(body: &[u8]) -> Result<engine::Answer, ApiError> {
    let mut fields: Map<String, Value> = read_or_default(body)?;
    if !fields.contains_key("steps") {
        let Approve { gate_id, approved, reason } = read_or_default(body)?;
        return Ok(engine::Answer { gate: gate_id, approved: approved.unwrap_or(true), reason, plan: None });
    }
    let gate = fields.shift_remove("gateId").map(serde_json::from_value).transpose();
    let gate = gate.map_err(|error| ApiError::Malformed { code: "bad_body", message: format!("`gateId`: {error}") })?;
    let plan = read_plan(Value::Object(fields).to_string().as_bytes()).map_err(|faults| ApiError::Plan { faults })?;
    Ok(engine::Answer { gate, approved: true, reason: None, plan: Some(Arc::new(plan)) })
}

/// A body without fields.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

async fn cancel(api: &Api, caller: &Caller, run: &str, body: &[u8]) -> Answer {
    let run = visible_run(api, caller, run)?;
    require(caller, Scope::Run)?;
    let Nothing {} = read_or_default(body)?;
    api.runs.cancel(&run, &caller.owner).await?;
    json_body(StatusCode::ACCEPTED, &json!({ "runId": run }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_a_yes_and_a_plan_is_one_to_that_plan() {
        let nothing = said(b"").unwrap();
        assert!(nothing.approved && nothing.gate.is_none() && nothing.plan.is_none());
        let no = said(br#"{"approved": false, "reason": "not today", "gateId": "g2"}"#).unwrap();
        assert!(!no.approved && no.reason.as_deref() == Some("not today"));
        assert_eq!(no.gate.unwrap().as_str(), "g2");
        let plan = said(br#"{"goal": "g", "gateId": "g1", "steps": [{"index": 0, "toolName": "delay"}]}"#).unwrap();
        assert_eq!((plan.plan.unwrap().steps.len(), plan.approved), (1, true));
        for bad in
            ["[]", "{\"approvd\": true}", "{\"gateId\": \"x\"}", "{\"steps\": [], \"stps\": 1}", "{\"steps\": 1}"]
        {
            assert!(said(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
