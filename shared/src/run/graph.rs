//! Which step waits for which, worked out once per plan.

use std::collections::BTreeSet;

use crate::ids::StepIndex;
use crate::plan::Plan;
use crate::reference::steps_named;

/// Prerequisites and dependants of every step, by index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    prerequisites: Vec<Vec<StepIndex>>,
    dependants: Vec<Vec<StepIndex>>,
}

impl Graph {
    /// The graph of a plan: `dependsOn`, `runWhen`, every step its templates name, and the step before when it uses
    /// `last`. Indices that are not earlier than the step itself are left out; `check_plan` has reported them.
    pub fn of(plan: &Plan) -> Self {
        let mut graph = Self {
            prerequisites: Vec::with_capacity(plan.steps.len()),
            dependants: vec![Vec::new(); plan.steps.len()],
        };
        for (position, step) in plan.steps.iter().enumerate() {
            let own = StepIndex::of(position);
            let mut needs: BTreeSet<StepIndex> = step.depends_on.iter().copied().collect();
            needs.extend(step.run_when.iter().map(|condition| condition.step));
            needs.extend(steps_named(step));
            needs.retain(|need| *need < own);
            for need in &needs {
                graph.dependants[need.at()].push(own);
            }
            graph.prerequisites.push(needs.into_iter().collect());
        }
        graph
    }

    /// What must have ended before this step may start.
    pub fn prerequisites(&self, index: StepIndex) -> &[StepIndex] {
        self.prerequisites.get(index.at()).map_or(&[], Vec::as_slice)
    }

    /// What waits for this step.
    pub fn dependants(&self, index: StepIndex) -> &[StepIndex] {
        self.dependants.get(index.at()).map_or(&[], Vec::as_slice)
    }
}
