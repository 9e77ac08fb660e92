//! `POST /api/workflows/{id}/run`, `/api/agent/run` and `/api/agent/batch`: what starts runs.

use std::sync::Arc;

use serde_json::Map;
use warp::http::StatusCode;
use weir_shared::check::read_plan;
use weir_shared::compile::compile;
use weir_shared::finding::{Fault, FindingCounts, Severity};
use weir_shared::flow::Flow;
use weir_shared::ids::FlowId;
use weir_shared::plan::Plan;
use weir_shared::run::event::{Cause, RunConfig};
use weir_shared::select;
use weir_shared::wire::{BatchAccepted, RunAccepted, RunBatch, RunFlow, RunPlan};

use super::Api;
use super::answer::{Answer, json};
use super::ask::{read, read_or_default};
use super::problem::ApiError;
use super::refusals::{BATCH_SIZE, FINDINGS, MODE, NO_MODEL, NOT_ACTIVE, PLAN, PUBLISH, SELECTION, START};
use super::route::{Route, of, post};
use crate::access::scope::{Caller, Scope};
use crate::run_request::{RunRequest, Source};

/// The three routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/api/workflows/{id}/run", "runFlow", "Starts the draft of a flow, a part of it, or an accepted version")
            .at(("id", of::<FlowId>(), "The flow"))
            .may_take(of::<RunFlow>())
            .answers(StatusCode::ACCEPTED, of::<RunAccepted>(), "It is admitted")
            .refuses(START)
            .refuses(FINDINGS)
            .refuses(MODE)
            .refuses(SELECTION)
            .refuses(NOT_ACTIVE)
            .refuses(PUBLISH)
            .to(Scope::Run, |ask| async move {
                let id = ask.at("id")?;
                run_flow(&ask.api, ask.caller, &id, &ask.body).await
            }),
        post(
            "/api/agent/run",
            "runPlan",
            "Starts a plan. Without one a model would plan the goal, where one is set up",
        )
        .takes(of::<RunPlan>())
        .answers(StatusCode::ACCEPTED, of::<RunAccepted>(), "It is admitted")
        .refuses(START)
        .refuses(PLAN)
        .refuses(MODE)
        .refuses(NO_MODEL)
        .to(Scope::Admin, |ask| async move { run_plan(&ask.api, ask.caller, &ask.body).await }),
        post("/api/agent/batch", "runBatch", "Starts 1 to 8 plans: all of them, or none")
            .takes(of::<RunBatch>())
            .answers(StatusCode::ACCEPTED, of::<BatchAccepted>(), "They are admitted")
            .refuses(START)
            .refuses(PLAN)
            .refuses(MODE)
            .refuses(NO_MODEL)
            .refuses(BATCH_SIZE)
            .to(Scope::Admin, |ask| async move { run_batch(&ask.api, ask.caller, &ask.body).await }),
    ]
}

async fn run_flow(api: &Api, caller: Caller, id: &FlowId, body: &[u8]) -> Answer {
    let RunFlow { inputs, config, version, only, up_to } = read_or_default(body)?;
    check_mode(&caller, &config)?;
    if let Some(number) = version {
        if only.is_some() || up_to.is_some() {
            let message = "a published version runs as a whole: send `version` without `only` and `upTo`".to_owned();
            return Err(ApiError::Malformed { code: "bad_selection", message });
        }
        let active = api.published.accepted(id, number)?;
        let request = RunRequest::of_active(&active, (Cause::Manual, caller.owner), inputs, config);
        return json(StatusCode::ACCEPTED, &api.runs.start(request).await?);
    }
    let entry = api.library.get(id).ok_or_else(|| ApiError::no_flow(id))?;
    let broken = FindingCounts::of(&entry.findings).errors > 0;
    let (Some(flow), Some(plan), false) = (&entry.flow, &entry.plan, broken) else {
        let errors = entry.findings.iter().filter(|finding| finding.severity == Severity::Error);
        return Err(ApiError::Findings { findings: errors.cloned().collect() });
    };
    let (flow, plan) = match (only, up_to) {
        (None, None) => (flow.clone(), plan.clone()),
        (None, Some(node)) => compiled(api, select::up_to(flow, &node, &api.toolbox.catalog())?)?,
        (Some(node), None) => {
            let results = api.runs.last_results(id, caller.sees_only())?;
            compiled(api, select::only(flow, &node, &results, &api.toolbox.catalog())?)?
        }
        (Some(_), Some(_)) => {
            let message = "`only` and `upTo` exclude each other: send one of them".to_owned();
            return Err(ApiError::Malformed { code: "bad_selection", message });
        }
    };
    let source = Source::Flow { id: id.clone(), revision: entry.revision.clone(), flow, plan };
    let request = RunRequest { cause: Cause::Manual, owner: caller.owner, source, inputs, config, priority: None };
    json(StatusCode::ACCEPTED, &api.runs.start(request).await?)
}

/// A part of a flow, ready to run.
fn compiled(api: &Api, part: Flow) -> Result<(Arc<Flow>, Arc<Plan>), ApiError> {
    let plan =
        compile(&part, &api.toolbox.catalog()).map_err(|error| ApiError::Internal { reason: error.to_string() })?;
    Ok((Arc::new(part), Arc::new(plan)))
}

async fn run_plan(api: &Api, caller: Caller, body: &[u8]) -> Answer {
    let RunPlan { goal, inputs, config, workflow } = read(body)?;
    let Some(workflow) = workflow else { return Err(ApiError::NoModel) };
    check_mode(&caller, &config)?;
    let plan = read_plan(workflow.get().as_bytes()).map_err(|faults| ApiError::Plan { faults })?;
    let source = Source::Plan { goal, plan };
    let request = RunRequest { cause: Cause::Api, owner: caller.owner, source, inputs, config, priority: None };
    json(StatusCode::ACCEPTED, &api.runs.start(request).await?)
}

/// Runs of a batch.
const BATCH: std::ops::RangeInclusive<usize> = 1..=8;

/// Starts all plans of a batch, or none.
async fn run_batch(api: &Api, caller: Caller, body: &[u8]) -> Answer {
    let RunBatch { goals, workflows, mut config, capability_mode } = read(body)?;
    check_mode(&caller, &config)?;
    config.capability_mode = capability_mode.or(config.capability_mode);
    let size = goals.as_ref().map(Vec::len).or_else(|| workflows.as_ref().map(Vec::len)).unwrap_or_default();
    if goals.is_some() == workflows.is_some() || !BATCH.contains(&size) {
        let message = "a batch has either `goals` or `workflows`, 1 to 8 of them".to_owned();
        return Err(ApiError::Malformed { code: "bad_batch", message });
    }
    let Some(workflows) = workflows else { return Err(ApiError::NoModel) };
    let mut requests = Vec::with_capacity(workflows.len());
    for (at, workflow) in workflows.iter().enumerate() {
        let plan = read_plan(workflow.get().as_bytes()).map_err(|faults| ApiError::Plan {
            faults: faults
                .into_iter()
                .map(|fault| Fault { path: format!("workflows[{at}].{}", fault.path), ..fault })
                .collect(),
        })?;
        let source = Source::Plan { goal: String::new(), plan };
        let owner = caller.owner.clone();
        requests.push(RunRequest {
            cause: Cause::Api,
            owner,
            source,
            inputs: Map::new(),
            config: config.clone(),
            priority: None,
        });
    }
    let accepted = api.runs.start_all(requests).await?;
    let run_ids = accepted.into_iter().map(|accepted| accepted.run_id).collect();
    json(StatusCode::ACCEPTED, &BatchAccepted { run_ids })
}

/// A caller chooses a permission mode only as far as its token goes.
pub(super) fn check_mode(caller: &Caller, config: &RunConfig) -> Result<(), ApiError> {
    if caller.may_run_in(config.permission_mode) { Ok(()) } else { Err(ApiError::PermissionMode { most: caller.most }) }
}
