//! What a step's references see: the run's inputs, and results and inputs of steps that ended.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::ids::StepIndex;
use crate::reference::{Fact, Lookup, Values};
use crate::run::state::{RunState, StepState};

/// Results that were too large for an event, whole.
pub type WholeResults = BTreeMap<StepIndex, Arc<Value>>;

/// The values of a run at this moment.
#[derive(Debug)]
pub struct RunValues<'a> {
    pub state: &'a RunState,
    pub whole: &'a WholeResults,
}

static NO_INPUTS: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);

impl Values for RunValues<'_> {
    fn inputs(&self) -> &Map<String, Value> {
        self.state.created.as_ref().map_or(&NO_INPUTS, |created| &created.inputs)
    }

    fn result(&self, step: StepIndex) -> Lookup<'_> {
        match self.state.step(step) {
            Some(StepState::Completed { result, .. }) => Lookup::Value(self.whole.get(&step).unwrap_or(result)),
            Some(StepState::Skipped { .. }) => Lookup::Skipped,
            _ => Lookup::Absent,
        }
    }

    fn step_input(&self, step: StepIndex) -> Lookup<'_> {
        match self.state.step(step) {
            Some(StepState::Completed { args: Some(args), .. } | StepState::Running { args, .. }) => {
                Lookup::Value(args)
            }
            Some(StepState::Skipped { .. }) => Lookup::Skipped,
            _ => Lookup::Absent,
        }
    }

    fn fact(&self, fact: Fact) -> Option<Value> {
        let created = self.state.created.as_ref()?;
        match fact {
            Fact::RunId => Some(Value::from(created.run_id.as_str())),
            Fact::RunStartedAt => self.state.started_at.map(|at| Value::from(at.to_string())),
            Fact::FlowId => created.flow_id.as_ref().map(|id| Value::from(id.as_str())),
            Fact::FlowRevision => created.flow_revision.as_ref().map(|revision| Value::from(revision.as_str())),
        }
    }
}
