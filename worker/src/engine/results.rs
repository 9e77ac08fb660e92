//! Results of a flow's last run, by node: what a node that runs alone is served.

use serde_json::{Map, Value};
use weir_shared::ids::{FlowId, Owner, RunId, Seq, StepIndex};
use weir_shared::run::reduce::replay;
use weir_shared::run::state::{RunState, StepState};

use super::runs::{ReadError, Runs};
use crate::run_dir::RunDirectory;
use crate::store::RunQuery;

impl Runs {
    /// The results of the newest run of this flow that the owner may see; none when it has not run.
    pub(crate) fn last_results(&self, flow: &FlowId, owner: Option<Owner>) -> Result<Map<String, Value>, ReadError> {
        let query = RunQuery { owner, flow: Some(flow.clone()), limit: 1, ..RunQuery::default() };
        let inner = self.inner();
        let Some(row) = inner.store.runs(&query)?.runs.into_iter().next() else {
            return Ok(Map::new());
        };
        let state = replay(&inner.store.events(&row.run_id, Seq(0), usize::MAX)?)?;
        let steps = state.plan.as_deref().map(|plan| plan.steps.as_slice()).unwrap_or_default();
        let results = steps.iter().filter_map(|step| {
            let node = step.node_id.as_ref()?;
            let result = self.whole_result(&row.run_id, &state, step.index)?;
            Some((node.as_str().to_owned(), result))
        });
        Ok(results.collect())
    }

    /// A step's result; one that its event holds only in part is read from the run's directory, and is no result at
    /// all once that has been removed.
    fn whole_result(&self, run: &RunId, state: &RunState, index: StepIndex) -> Option<Value> {
        match state.step(index)? {
            StepState::Completed { truncated: true, .. } => {
                let path = RunDirectory::of(&self.inner().state_dir, run).result(index);
                serde_json::from_slice(&std::fs::read(path).ok()?).ok()
            }
            StepState::Completed { result, .. } => Some((**result).clone()),
            _ => None,
        }
    }
}
