//! What one run came to, and waiting for that. Nothing polls: the wait ends when the run's loop does.

use std::time::Duration;

use serde_json::Value;
use weir_shared::ids::{RunId, Seq};
use weir_shared::mask::mask;
use weir_shared::run::event::Event;
use weir_shared::run::state::RunStatus;

use super::runs::Runs;
use crate::shutdown::Stage;
use crate::store::StoreError;

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) status: RunStatus,
    /// Of a run that completed, masked.
    pub(crate) result: Option<Value>,
    /// Of one that did not.
    pub(crate) error: Option<String>,
}

impl Runs {
    /// How a run ended, waited for this long at most and not past the end of the worker; none while it goes on, and
    /// for a run that is not there.
    pub(crate) async fn outcome(&self, run: &RunId, patience: Duration) -> Result<Option<Outcome>, StoreError> {
        if let Some(live) = self.live_run(run) {
            let mut shutdown = self.inner().shutdown.clone();
            tokio::select! {
                // The loop of a run takes commands until it ends.
                () = live.commands.closed() => {}
                () = shutdown.reached(Stage::Draining) => {}
                () = tokio::time::sleep(patience) => {}
            }
        }
        let store = &self.inner().store;
        let Some(row) = store.run(run)?.filter(|row| row.status.is_terminal()) else { return Ok(None) };
        let before_last = Seq(store.last_seq(run)?.0.saturating_sub(1));
        let last = store.events(run, before_last, 1)?.pop().map(|recorded| recorded.event);
        let result = match last {
            Some(Event::Complete { result, .. }) => {
                let mut result = std::sync::Arc::unwrap_or_clone(result);
                mask(&mut result, None);
                Some(result)
            }
            Some(_) | None => None,
        };
        Ok(Some(Outcome { status: row.status, result, error: row.error }))
    }
}
