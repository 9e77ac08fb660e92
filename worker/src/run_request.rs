//! Where every trigger ends up: one request, judged and bound once, whatever asked for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use weir_shared::bind::bind;
use weir_shared::check::{PlanRules, check_plan};
use weir_shared::finding::Fault;
use weir_shared::flow::{Concurrency, Flow};
use weir_shared::ids::{FlowId, Owner, Revision, RunId, StepIndex};
use weir_shared::limits;
use weir_shared::plan::Plan;
use weir_shared::reference::{Fact, Lookup, Unresolved, Values, resolve_goal};
use weir_shared::run::event::{CapabilityMode, Cause, RunConfig};
use weir_shared::tool::Catalog;

use crate::published::ActiveVersion;
use crate::queue::admission::{CapacityScope, Priority};
use crate::store::StoreError;

/// A wish to run something.
#[derive(Debug)]
pub(crate) struct RunRequest {
    pub(crate) cause: Cause,
    pub(crate) owner: Owner,
    pub(crate) source: Source,
    /// As given; defaults are not applied yet.
    pub(crate) inputs: Map<String, Value>,
    pub(crate) config: RunConfig,
    /// Where it is another than its cause says.
    pub(crate) priority: Option<Priority>,
}

/// What is to run.
#[derive(Debug)]
pub(crate) enum Source {
    /// A flow without errors, and the plan it compiles to.
    Flow { id: FlowId, revision: Revision, flow: Arc<Flow>, plan: Arc<Plan> },
    /// A caller's own plan.
    Plan { goal: String, plan: Plan },
}

/// Why a run does not start. Nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("the inputs do not fit the flow")]
    Inputs(Vec<Fault>),
    #[error("the plan cannot run")]
    Plan(Vec<Fault>),
    #[error("this version does not do all that the run needs")]
    NotYetSupported(Vec<Fault>),
    #[error("the goal cannot be filled in: {0}")]
    Goal(String),
    #[error(
        "{limit} runs of {flow} are going on, and its file says to skip a start beyond that (`concurrency`); wait for one to end, or cancel one"
    )]
    FlowBusy { flow: FlowId, limit: usize },
    #[error("the queue is full")]
    Capacity { scope: CapacityScope, priority: Priority },
    #[error("the worker is stopping")]
    Stopping,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A request that may run: bound, checked, and with its goal filled in.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) cause: Cause,
    pub(crate) priority: Option<Priority>,
    pub(crate) owner: Owner,
    pub(crate) flow: Option<(FlowId, Revision)>,
    /// How many runs of the flow may go on at once.
    pub(crate) concurrency: Option<Concurrency>,
    pub(crate) goal: String,
    pub(crate) plan: Arc<Plan>,
    pub(crate) inputs: Map<String, Value>,
    pub(crate) input_marks: BTreeMap<String, bool>,
    pub(crate) config: RunConfig,
}

impl RunRequest {
    /// A request to run the active version of a flow.
    pub(crate) fn of_active(
        active: &ActiveVersion,
        (cause, owner): (Cause, Owner),
        inputs: Map<String, Value>,
        config: RunConfig,
    ) -> Self {
        let ActiveVersion { id, number: _, revision, flow, plan } = active;
        let source =
            Source::Flow { id: id.clone(), revision: revision.clone(), flow: Arc::clone(flow), plan: Arc::clone(plan) };
        Self { cause, owner, source, inputs, config, priority: None }
    }

    /// Judges the request: inputs against the flow's schema, a plan against the catalog, and both against what this
    /// version does.
    pub(crate) fn bind(self, run: &RunId, catalog: &Catalog) -> Result<Bound, StartError> {
        let Self { cause, owner, source, inputs, config, priority } = self;
        let asked = config_not_yet_supported(&config);
        if !asked.is_empty() {
            return Err(StartError::NotYetSupported(asked));
        }
        let (flow, concurrency, goal, plan, schema, inputs) = match source {
            Source::Flow { id, revision, flow, plan } => {
                let inputs = bind(flow.inputs.as_ref(), &inputs).map_err(StartError::Inputs)?;
                let goal = flow.goal.clone().unwrap_or_else(|| flow.name.clone());
                (Some((id, revision)), flow.concurrency.clone(), goal, plan, flow.inputs.clone(), inputs)
            }
            Source::Plan { goal, plan } => {
                let goal = if goal.is_empty() { plan.goal.clone() } else { goal };
                (None, None, goal, Arc::new(plan), None, inputs)
            }
        };
        let faults = faults_of_plan(&plan, catalog, config.capability_mode);
        if !faults.is_empty() {
            return Err(StartError::Plan(faults));
        }
        let input_marks = schema.as_ref().map(marks).unwrap_or_default();
        let goal = fill_goal(&goal, &GoalValues { run, flow: flow.as_ref(), inputs: &inputs })?;
        Ok(Bound { cause, priority, owner, flow, concurrency, goal, plan, inputs, input_marks, config })
    }
}

/// Every reason why a plan cannot run here.
pub(crate) fn faults_of_plan(plan: &Plan, catalog: &Catalog, capability: Option<CapabilityMode>) -> Vec<Fault> {
    let read_only = capability == Some(CapabilityMode::ReadOnly);
    check_plan(plan, &PlanRules { catalog, most_steps: limits::PLAN_STEPS, read_only })
}

/// Parts of a run's configuration that ask for what this version does not do.
fn config_not_yet_supported(config: &RunConfig) -> Vec<Fault> {
    let mut faults = Vec::new();
    if config.replan_on_failure || config.max_replans > 0 {
        faults.push(Fault {
            path: "config.replanOnFailure".to_owned(),
            code: "not_supported".to_owned(),
            message: "replanning needs a model, and none can be set up in this version; leave it out".to_owned(),
        });
    }
    faults
}

/// What a flow's input schema says about hiding its fields.
fn marks(schema: &Value) -> BTreeMap<String, bool> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let marked = properties.into_iter().flatten().filter_map(|(name, property)| {
        property.get("x-weir-sensitive").and_then(Value::as_bool).map(|mark| (name.clone(), mark))
    });
    marked.collect()
}

fn fill_goal(goal: &str, values: &GoalValues<'_>) -> Result<String, StartError> {
    resolve_goal(goal, values).map_err(|unresolved| match unresolved {
        Unresolved::Failed { message } => StartError::Goal(message),
        Unresolved::Skipped { step } => StartError::Goal(format!("step {step} has no result before the run starts")),
    })
}

/// What a goal may refer to: inputs and facts, no steps.
struct GoalValues<'a> {
    run: &'a RunId,
    flow: Option<&'a (FlowId, Revision)>,
    inputs: &'a Map<String, Value>,
}

impl Values for GoalValues<'_> {
    fn inputs(&self) -> &Map<String, Value> {
        self.inputs
    }

    fn result(&self, _step: StepIndex) -> Lookup<'_> {
        Lookup::Absent
    }

    fn step_input(&self, _step: StepIndex) -> Lookup<'_> {
        Lookup::Absent
    }

    fn fact(&self, fact: Fact) -> Option<Value> {
        match fact {
            Fact::RunId => Some(Value::from(self.run.as_str())),
            Fact::RunStartedAt => None,
            Fact::FlowId => self.flow.map(|(id, _)| Value::from(id.as_str())),
            Fact::FlowRevision => self.flow.map(|(_, revision)| Value::from(revision.as_str())),
        }
    }
}
