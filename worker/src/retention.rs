//! What is kept of ended runs, and the loop that lets the rest go: past a number of runs, an age, or bytes of disk.
//!
//! A run goes in an order that no crash can leave half. Its rows and journal go first, in one transaction: from then on
//! there is no such run. Its directory goes after; a directory whose run the store does not know is what a crash left,
//! and the next pass takes it away. Runs that have not ended are refused by the store, whatever else holds. Space
//! that the store frees it uses again. Events that senders of webhooks named go with the first pass past their time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_shared::ids::{RunId, Timestamp};

use crate::clock::Clock;
use crate::live::Live;
use crate::run_dir::{RunDirectory, runs_on_disk};
use crate::shutdown::{ShutdownWatch, Stage};
use crate::store::{Kept, Store, StoreError};

/// Time from pass to pass. What is past the limits may stay this much longer.
const INTERVAL: Duration = Duration::from_mins(10);

/// How much is kept (`retention.…`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The newest so many runs, those that have not ended counted.
    pub(crate) runs: u64,
    pub(crate) age: Duration,
    /// Bytes of disk that the directories of runs take together.
    pub(crate) bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { runs: 2_000, age: Duration::from_hours(720), bytes: 5 << 30 }
    }
}

/// The loop over what is kept.
#[derive(Debug, Clone)]
pub(crate) struct Retention {
    store: Store,
    state: PathBuf,
    clock: Clock,
    limits: Live<Limits>,
}

/// What one pass took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pass {
    /// Runs that went for their number or age.
    pub(crate) surplus: usize,
    /// Runs that went for the bytes of their directories.
    pub(crate) heavy: usize,
    /// Directories of runs that had gone before.
    pub(crate) stray: usize,
    /// Names of webhooks' events that were past their time.
    pub(crate) events: usize,
}

/// Why a pass ended early. What it had taken away by then is away.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PassError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the directories of runs cannot be read: {0}")]
    Directories(#[from] std::io::Error),
    #[error("a pass was broken off")]
    BrokenOff,
}

impl Retention {
    /// Keeps this much of the runs of this store.
    pub(crate) fn new(store: Store, state: PathBuf, clock: Clock, limits: Live<Limits>) -> Self {
        Self { store, state, clock, limits }
    }

    /// Passes at once and from time to time, until the worker ends.
    pub(crate) async fn work(self, mut shutdown: ShutdownWatch) {
        while shutdown.stage() == Stage::Serving {
            match self.pass().await {
                Ok(pass) if pass == Pass::default() => {}
                Ok(pass) => tracing::info!(?pass, "let old runs go"),
                Err(error) => tracing::warn!(%error, "old runs are still there"),
            }
            tokio::select! {
                () = shutdown.reached(Stage::Draining) => {}
                () = tokio::time::sleep(INTERVAL) => {}
            }
        }
    }

    /// Takes away what is past the limits now.
    pub(crate) async fn pass(&self) -> Result<Pass, PassError> {
        let limits = self.limits.get();
        let kept = Kept { newest: limits.runs, since: before(self.clock.now(), limits.age) };
        let surplus = self.store.prune(kept).await?;
        let events = self.store.expire_events(self.clock.now()).await?;
        let mut pass = Pass { surplus: surplus.len(), events, ..Pass::default() };
        let (directories, stray) = self.survey().await?;
        pass.stray = stray.iter().filter(|run| !surplus.contains(run)).count();
        let mut bytes: u64 = directories.iter().map(|(_, bytes)| bytes).sum();
        for (run, own) in directories {
            if bytes <= limits.bytes {
                break;
            }
            match forget(&self.store, &self.state, run).await {
                Ok(_) => {
                    bytes -= own;
                    pass.heavy += 1;
                }
                Err(StoreError::NotEnded { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(pass)
    }

    /// Removes the directories without a run and tells which; weighs the others, oldest first.
    async fn survey(&self) -> Result<(Vec<(RunId, u64)>, Vec<RunId>), PassError> {
        let (store, state) = (self.store.clone(), self.state.clone());
        let survey = move || {
            let mut weighed = Vec::new();
            let mut stray = Vec::new();
            for run in runs_on_disk(&state)? {
                let directory = RunDirectory::of(&state, &run);
                // A run is recorded before anything of it is written, so one that is unknown is gone, not new.
                if store.run(&run)?.is_some() {
                    weighed.push((run, directory.bytes()));
                } else {
                    remove(&directory);
                    stray.push(run);
                }
            }
            Ok((weighed, stray))
        };
        tokio::task::spawn_blocking(survey).await.map_err(|_| PassError::BrokenOff)?
    }
}

/// Removes an ended run and its directory; false when there is no such run.
pub(crate) async fn forget(store: &Store, state: &Path, run: RunId) -> Result<bool, StoreError> {
    let directory = RunDirectory::of(state, &run);
    let was_there = store.delete_run(run).await?;
    if was_there {
        // Broken off with the worker, it is finished by the next pass.
        let _broken_off = tokio::task::spawn_blocking(move || remove(&directory)).await;
    }
    Ok(was_there)
}

fn remove(directory: &RunDirectory) {
    if let Err(error) = directory.remove() {
        tracing::warn!(%error, directory = %directory.path().display(), "a run is gone and its directory is not");
    }
}

fn before(now: Timestamp, age: Duration) -> Timestamp {
    Timestamp(now.0.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
#[path = "retention_tests.rs"]
mod tests;
