//! What a trigger starts: the active version of its flow.

use std::sync::Arc;

use weir_shared::finding::{Finding, FindingCounts, Severity};
use weir_shared::flow::Flow;
use weir_shared::ids::{FlowId, Revision};
use weir_shared::plan::Plan;

use crate::library::Library;
use crate::run_request::Source;

pub(super) struct ActiveFlow {
    pub(super) id: FlowId,
    pub(super) revision: Revision,
    pub(super) flow: Arc<Flow>,
    pub(super) plan: Arc<Plan>,
}

pub(super) enum Inactive {
    Missing,
    Invalid(Vec<Finding>),
}

pub(super) fn active(library: &Library, id: &FlowId) -> Result<ActiveFlow, Inactive> {
    let entry = library.get(id).ok_or(Inactive::Missing)?;
    let broken = FindingCounts::of(&entry.findings).errors > 0;
    match (&entry.flow, &entry.plan) {
        (Some(flow), Some(plan)) if !broken => {
            Ok(ActiveFlow { id: id.clone(), revision: entry.revision.clone(), flow: flow.clone(), plan: plan.clone() })
        }
        _ => {
            let errors = entry.findings.iter().filter(|finding| finding.severity == Severity::Error);
            Err(Inactive::Invalid(errors.cloned().collect()))
        }
    }
}

impl ActiveFlow {
    pub(super) fn source(&self) -> Source {
        Source::Flow {
            id: self.id.clone(),
            revision: self.revision.clone(),
            flow: self.flow.clone(),
            plan: self.plan.clone(),
        }
    }
}
