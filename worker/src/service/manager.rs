//! What the service manager is told: ready, reloading, stopping, what there is to do, and that the worker lives.
//!
//! The heartbeat goes through what every run needs: the runtime that polls it, the queue, and the store's writer. When
//! one of them hangs, the watchdog is not fed and the manager starts the worker again; a full disk is no reason. What
//! a manager does not hear is logged and nothing more.

use std::fmt;
use std::time::Duration;

use sd_notify::NotifyState;
use weir_shared::ids::Owner;

use crate::engine::Runs;
use crate::library::Library;
use crate::store::Store;

/// What beats.
#[derive(Clone)]
pub(crate) struct Heart {
    pub(crate) store: Store,
    pub(crate) library: Library,
    pub(crate) runs: Runs,
}

impl fmt::Debug for Heart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heart").finish_non_exhaustive()
    }
}

/// The worker answers: the store is open, flows are loaded, recovery is done.
pub(crate) fn ready(heart: &Heart) {
    tell(&[NotifyState::Ready, NotifyState::Status(&heart.status())]);
}

/// Files are read again; [`ready`] says when that is over.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => tracing::debug!(%error, "no monotonic time"),
    }
}

/// The end has begun.
pub(crate) fn stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("letting runs finish")]);
}

impl Heart {
    /// Beats for as long as it is polled, twice in the time that the manager's watchdog waits; never without one.
    pub(crate) async fn beat(self) {
        let Some(patience) = sd_notify::watchdog_enabled() else { return std::future::pending().await };
        self.beat_every(patience / 2).await;
    }

    async fn beat_every(self, interval: Duration) {
        let mut told = String::new();
        let mut times = tokio::time::interval(interval);
        times.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            times.tick().await;
            let status = self.status();
            if self.store.answers().await {
                tell(&[NotifyState::Watchdog]);
            }
            if status != told {
                tell(&[NotifyState::Status(&status)]);
                told = status;
            }
        }
    }

    /// In one line: how much there is to do.
    fn status(&self) -> String {
        let queue = self.runs.capacity(&Owner::local());
        let parked = self.runs.driven().saturating_sub(queue.running + queue.queued);
        let flows = self.library.list().len();
        format!("{flows} flows; {} runs at work, {} waiting, {parked} at a gate", queue.running, queue.queued)
    }
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "the service manager was not told");
    }
}
