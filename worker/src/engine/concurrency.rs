//! How many runs of one flow may go on, and what a start meets beyond that: `concurrency` in its file.
//!
//! The queue keeps the limit and refuses what its flow wants refused; this says what a run counts as, and lets older
//! runs give way.

use weir_shared::flow::{Concurrency, OnLimit};
use weir_shared::ids::{Owner, RunId};

use super::runs::Runs;
use crate::queue::admission::{AtLimit, FlowShare};
use crate::run_request::Bound;

impl Bound {
    /// What the run counts as among those of its flow.
    pub(super) fn share(&self) -> Option<FlowShare> {
        let (flow, _) = self.flow.as_ref()?;
        let refuses = self.concurrency.as_ref().is_some_and(|it| it.on_limit == Some(OnLimit::Skip));
        let at_limit = if refuses { AtLimit::Refuse } else { AtLimit::Wait };
        Some(FlowShare { flow: flow.clone(), limit: self.concurrency.as_ref().map(limit), at_limit })
    }

    /// How many runs of its flow may go on beside it, where older ones give way to it.
    pub(super) fn tolerates(&self) -> Option<usize> {
        let concurrency = self.concurrency.as_ref()?;
        (concurrency.on_limit == Some(OnLimit::CancelOldest)).then(|| limit(concurrency).saturating_sub(1))
    }
}

impl Runs {
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
