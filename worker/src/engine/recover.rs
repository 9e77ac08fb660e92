//! What becomes of runs that the worker before this one left unfinished: parked ones wait on, all others are
//! interrupted, through the same functions that drive a live run. Nothing is replayed.
//!
//! A store that can be read and not written, as on a full disk, keeps no worker from starting: what became of those
//! runs is recorded as soon as there is room.

use std::time::Duration;

use weir_shared::ids::{RunId, Seq};
use weir_shared::run::decide::after_crash;
use weir_shared::run::event::Recorded;
use weir_shared::run::reduce::{reduce, replay};
use weir_shared::run::view;

use super::runs::{ReadError, Runs};
use crate::shutdown::Stage;
use crate::store::StoreError;

/// How often a store that took nothing is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// What recovery found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Recovered {
    pub(crate) interrupted: usize,
    pub(crate) parked: usize,
    /// Runs whose journal does not add up; they are left as they are.
    pub(crate) unreadable: usize,
    /// Interrupted runs that the store has no room to say so of, yet.
    pub(crate) waiting: usize,
}

impl Runs {
    /// Brings every unfinished run to where it belongs. Called once, before anything is admitted.
    pub(crate) async fn recover(&self) -> Result<Recovered, ReadError> {
        let mut recovered = Recovered::default();
        let mut waiting = Vec::new();
        for run in self.inner().store.unfinished()? {
            match self.recover_run(&run).await {
                Ok(Outcome::Interrupted) => recovered.interrupted += 1,
                Ok(Outcome::Parked) => recovered.parked += 1,
                Err(ReadError::History(error)) => {
                    tracing::error!(%run, %error, "the run is left as it is");
                    recovered.unreadable += 1;
                }
                Err(ReadError::Store(StoreError::Full)) => waiting.push(run),
                Err(error) => return Err(error),
            }
        }
        recovered.waiting = waiting.len();
        if !waiting.is_empty() {
            tracing::error!(runs = waiting.len(), "no space is left to record that runs were interrupted");
            // Nobody waits for it: it ends with the last of them or with the worker, and the next start does the same.
            tokio::spawn(self.clone().recover_later(waiting));
        }
        Ok(recovered)
    }

    /// Goes on with these runs until the store has taken all of them.
    async fn recover_later(self, mut waiting: Vec<RunId>) {
        let mut shutdown = self.inner().shutdown.clone();
        while !waiting.is_empty() {
            tokio::select! {
                () = tokio::time::sleep(RETRY) => {}
                () = shutdown.reached(Stage::Draining) => return,
            }
            let mut left = Vec::new();
            for run in waiting {
                match self.recover_run(&run).await {
                    Ok(Outcome::Interrupted | Outcome::Parked) => {}
                    Err(ReadError::Store(_)) => left.push(run),
                    Err(error) => tracing::error!(%run, %error, "the run is left as it is"),
                }
            }
            waiting = left;
        }
    }

    async fn recover_run(&self, run: &RunId) -> Result<Outcome, ReadError> {
        let inner = self.inner();
        let mut state = replay(&inner.store.events(run, Seq(0), usize::MAX)?)?;
        let mut recorded = Vec::new();
        for event in after_crash(&state) {
            let next = Recorded { seq: state.last.next(), ts: inner.clock.now(), event };
            state = reduce(state, &next)?;
            recorded.push(next);
        }
        if let (true, Some(created)) = (state.is_parked(), &state.created) {
            let place = self.parked_place(created);
            self.spawn_driver(run.clone(), state, place);
            return Ok(Outcome::Parked);
        }
        if let Some(row) = view::row(&state) {
            inner.store.append(run.clone(), recorded, row).await?;
        }
        Ok(Outcome::Interrupted)
    }
}

enum Outcome {
    Interrupted,
    Parked,
}
