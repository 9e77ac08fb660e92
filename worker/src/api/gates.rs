//! `POST /api/agent/{runId}/approve` and `…/cancel`: what a person says to a run that goes on.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};
use warp::http::StatusCode;
use weir_shared::check::read_plan;
use weir_shared::flow::OnFailure;
use weir_shared::ids::{GateId, RunId};
use weir_shared::plan::Step;
use weir_shared::wire::{Approve, RunTold};

use super::Api;
use super::answer::{Answer, json};
use super::ask::{read_or_default, visible_run};
use super::problem::ApiError;
use super::refusals::APPROVE;
use super::route::{Route, of, post};
use crate::access::scope::{Caller, Scope};
use crate::engine;

/// Both routes.
pub(super) fn routes() -> Vec<Route> {
    let run = || ("runId", of::<RunId>(), "The run");
    vec![
        post(
            "/api/agent/{runId}/approve",
            "approve",
            "Answers a gate. Without a body it is a yes to the one open gate",
        )
        .at(run())
        .may_take(of::<ApproveOrPlan>())
        .answers(StatusCode::ACCEPTED, of::<RunTold>(), "The run goes on by it")
        .refuses(APPROVE)
        .to(Scope::Admin, |ask| async move {
            approve(&ask.api, &ask.caller, &ask.at::<String>("runId")?, &ask.body).await
        }),
        post("/api/agent/{runId}/cancel", "cancel", "Asks a run to stop, as often as one likes")
            .at(run())
            .may_take(of::<Nothing>())
            .answers(StatusCode::ACCEPTED, of::<RunTold>(), "It stops, or has ended already")
            .to(Scope::Run, |ask| async move {
                cancel(&ask.api, &ask.caller, &ask.at::<String>("runId")?, &ask.body).await
            }),
    ]
}

/// The shape of what a gate is answered with: `steps` make it a plan, and leave no place for `approved`.
#[derive(utoipa::ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is read as one of two types; this one tells how both look")]
struct ApproveOrPlan {
    gate_id: Option<GateId>,
    approved: Option<bool>,
    reason: Option<String>,
    goal: Option<String>,
    reasoning: Option<String>,
    on_failure: Option<OnFailure>,
    steps: Option<Vec<Step>>,
}

async fn approve(api: &Api, caller: &Caller, run: &str, body: &[u8]) -> Answer {
    let run = visible_run(api, caller, run)?;
    api.runs.approve(&run, said(body)?, &caller.owner).await?;
    json(StatusCode::ACCEPTED, &RunTold { run_id: run })
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
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

async fn cancel(api: &Api, caller: &Caller, run: &str, body: &[u8]) -> Answer {
    let run = visible_run(api, caller, run)?;
    let Nothing {} = read_or_default(body)?;
    api.runs.cancel(&run, &caller.owner).await?;
    json(StatusCode::ACCEPTED, &RunTold { run_id: run })
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
