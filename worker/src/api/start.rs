//! `POST /api/workflows/{id}/run`, `/api/agent/run` and `/api/agent/batch`: what starts runs.

use std::sync::Arc;

use hyper::body::Bytes;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::StatusCode;
use warp::reply::Response;
use weir_shared::check::read_plan;
use weir_shared::compile::compile;
use weir_shared::finding::{FindingCounts, Severity};
use weir_shared::flow::Flow;
use weir_shared::ids::FlowId;
use weir_shared::plan::Plan;
use weir_shared::run::event::{Cause, RunConfig};
use weir_shared::select;
use weir_shared::wire::{RunFlow, RunPlan};

use super::Api;
use super::answer::{Answer, json, settle};
use super::ask::{body, caller, read, read_or_default, require, with};
use super::problem::ApiError;
use crate::access::scope::{Caller, Scope};
use crate::run_request::{RunRequest, Source};

/// The three routes.
pub(super) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    let flow = warp::path!("api" / "workflows" / FlowId / "run")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|id: FlowId, api: Api, caller: Caller, body: Bytes| async move {
            settle(run_flow(&api, caller, &id, &body).await)
        });
    let plan = warp::path!("api" / "agent" / "run")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|api: Api, caller: Caller, body: Bytes| async move { settle(run_plan(&api, caller, &body).await) });
    let batch = warp::path!("api" / "agent" / "batch")
        .and(warp::post())
        .and(caller())
        .map(|_: Caller| settle(Err(ApiError::NotSupportedYet { what: "a batch of runs".to_owned() })));
    flow.or(plan).unify().or(batch).unify().boxed()
}

async fn run_flow(api: &Api, caller: Caller, id: &FlowId, body: &[u8]) -> Answer {
    require(&caller, Scope::Run)?;
    let RunFlow { inputs, config, version, only, up_to } = read_or_default(body)?;
    let asked = [("version", version.is_some()), ("only", only.is_some())];
    if let Some((name, _)) = asked.iter().find(|(_, given)| *given) {
        return Err(ApiError::NotSupportedYet { what: format!("`{name}`") });
    }
    check_mode(&caller, &config)?;
    let entry = api.library.get(id).ok_or_else(|| ApiError::no_flow(id))?;
    let broken = FindingCounts::of(&entry.findings).errors > 0;
    let (Some(flow), Some(plan), false) = (&entry.flow, &entry.plan, broken) else {
        let errors = entry.findings.iter().filter(|finding| finding.severity == Severity::Error);
        return Err(ApiError::Findings { findings: errors.cloned().collect() });
    };
    let (flow, plan) = match up_to {
        Some(node) => part(api, flow, &node)?,
        None => (flow.clone(), plan.clone()),
    };
    let source = Source::Flow { id: id.clone(), revision: entry.revision.clone(), flow, plan };
    let request = RunRequest { cause: Cause::Manual, owner: caller.owner, source, inputs, config };
    json(StatusCode::ACCEPTED, &api.runs.start(request).await?)
}

/// A node with all that leads to it, as a flow of its own.
fn part(api: &Api, flow: &Flow, node: &str) -> Result<(Arc<Flow>, Arc<Plan>), ApiError> {
    let part = select::up_to(flow, node, &api.catalog)?;
    let plan = compile(&part, &api.catalog).map_err(|error| ApiError::Internal { reason: error.to_string() })?;
    Ok((Arc::new(part), Arc::new(plan)))
}

async fn run_plan(api: &Api, caller: Caller, body: &[u8]) -> Answer {
    require(&caller, Scope::Admin)?;
    let RunPlan { goal, inputs, config, workflow } = read(body)?;
    let Some(workflow) = workflow else { return Err(ApiError::NoModel) };
    check_mode(&caller, &config)?;
    let plan = read_plan(workflow.get().as_bytes()).map_err(|faults| ApiError::Plan { faults })?;
    let source = Source::Plan { goal, plan };
    let request = RunRequest { cause: Cause::Api, owner: caller.owner, source, inputs, config };
    json(StatusCode::ACCEPTED, &api.runs.start(request).await?)
}

/// A caller chooses a permission mode only as far as its token goes.
fn check_mode(caller: &Caller, config: &RunConfig) -> Result<(), ApiError> {
    if caller.may_run_in(config.permission_mode) { Ok(()) } else { Err(ApiError::PermissionMode { most: caller.most }) }
}
