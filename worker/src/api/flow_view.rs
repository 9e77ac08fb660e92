//! A flow as the API shows it.

use std::collections::BTreeMap;

use weir_shared::finding::FindingCounts;
use weir_shared::ids::FlowId;
use weir_shared::published::PublishState;
use weir_shared::wire::{FlowSummary, FlowView, LastRun};

use super::Api;
use super::problem::ApiError;
use crate::library::Entry;

/// Every flow in short, with its newest run and its next fire.
pub(super) fn summaries(api: &Api) -> Result<Vec<FlowSummary>, ApiError> {
    let mut last = api.store.last_runs()?;
    let next = api.schedules.next_fires()?;
    let flows = api.library.list();
    let shown = flows.iter().map(|entry| {
        let summary = summary(entry, api.published.state(entry)?, &mut last);
        Ok(FlowSummary { next_fire_at: next.get(&entry.id).copied(), ..summary })
    });
    shown.collect()
}

fn summary(entry: &Entry, state: PublishState, last: &mut BTreeMap<FlowId, LastRun>) -> FlowSummary {
    let flow = entry.flow.as_deref();
    FlowSummary {
        id: entry.id.clone(),
        name: flow.map_or_else(|| entry.id.to_string(), |flow| flow.name.clone()),
        description: flow.and_then(|flow| flow.description.clone()).unwrap_or_default(),
        revision: entry.revision.clone(),
        published: state.published,
        published_version: state.published_version,
        has_unpublished_changes: state.has_unpublished_changes,
        step_count: flow.map_or(0, |flow| flow.nodes.len()),
        findings: FindingCounts::of(&entry.findings),
        last_run: last.remove(&entry.id),
        next_fire_at: None,
        updated_at: entry.updated_at,
    }
}

/// A flow whole.
pub(super) fn view(api: &Api, entry: &Entry) -> Result<FlowView, ApiError> {
    let state = api.published.state(entry)?;
    Ok(FlowView {
        id: entry.id.clone(),
        flow: entry.flow.as_deref().cloned(),
        text: entry.text.as_deref().map(str::to_owned),
        revision: entry.revision.clone(),
        flow_revision: entry.flow_revision.clone(),
        findings: entry.findings.clone(),
        plan: entry.plan.as_deref().cloned(),
        published: state.published,
        published_version: state.published_version,
        has_unpublished_changes: state.has_unpublished_changes,
    })
}
