//! How many runs of one flow may go on, and what a start meets beyond that: `concurrency` in its file.
//!
//! The queue keeps the limit; this decides what is refused at once and which runs give way.

use weir_shared::flow::{Concurrency, OnLimit};
use weir_shared::ids::{Owner, RunId};

use super::runs::Runs;
use crate::queue::admission::FlowShare;
use crate::run_request::{Bound, StartError};

impl Runs {
    /// What the run counts as among those of its flow; refused where the flow says to skip it.
    pub(super) fn share(&self, bound: &Bound) -> Result<Option<FlowShare>, StartError> {
        let Some((flow, _)) = &bound.flow else { return Ok(None) };
        let limit = bound.concurrency.as_ref().map(limit);
        let skips = bound.concurrency.as_ref().is_some_and(|it| it.on_limit == Some(OnLimit::Skip));
        match limit {
            Some(limit) if skips && self.live_of_flow(flow).len() >= limit => {
                Err(StartError::FlowBusy { flow: flow.clone(), limit })
            }
            Some(_) | None => Ok(Some(FlowShare { flow: flow.clone(), limit })),
        }
    }

    /// The runs that a new one of its flow takes the place of, oldest first.
    pub(super) fn replaced_by(&self, bound: &Bound) -> Vec<RunId> {
        let (Some((flow, _)), Some(concurrency)) = (&bound.flow, &bound.concurrency) else { return Vec::new() };
        if concurrency.on_limit != Some(OnLimit::CancelOldest) {
            return Vec::new();
        }
        let mut live = self.live_of_flow(flow);
        let beside = limit(concurrency).saturating_sub(1);
        live.truncate(live.len().saturating_sub(beside));
        live
    }

    /// Asks these runs to stop. One that cannot be asked goes on, and the new one waits for it: it has been accepted.
    pub(super) async fn give_way(&self, replaced: &[RunId], to: &Owner) {
        for run in replaced {
            if let Err(error) = self.cancel(run, to).await {
                tracing::warn!(%run, %error, "a run does not give way to a newer one of its flow");
            }
        }
    }
}

fn limit(concurrency: &Concurrency) -> usize {
    usize::try_from(concurrency.limit).unwrap_or(usize::MAX)
}
