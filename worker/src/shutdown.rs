//! How far the worker's end has come, for every loop to see.

use tokio::sync::watch;

/// The stages of an end, in order. A stage is never taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Open for work.
    Serving,
    /// Nothing new is admitted; runs may finish; streams end.
    Draining,
    /// Runs are stopped as interrupted.
    Stopping,
    /// Whatever still runs is killed now.
    Forced,
}

/// Moves the stage on. Held by `daemon`.
#[derive(Debug)]
pub(crate) struct Shutdown(watch::Sender<Stage>);

/// Sees the stage. Held by every loop.
#[derive(Debug, Clone)]
pub(crate) struct ShutdownWatch(watch::Receiver<Stage>);

impl Shutdown {
    /// An end that has not begun.
    pub(crate) fn new() -> (Self, ShutdownWatch) {
        let (sender, receiver) = watch::channel(Stage::Serving);
        (Self(sender), ShutdownWatch(receiver))
    }

    /// Moves on to this stage, unless it is already further.
    pub(crate) fn advance(&self, stage: Stage) {
        self.0.send_if_modified(|now| {
            let moves = stage > *now;
            if moves {
                *now = stage;
            }
            moves
        });
    }
}

impl ShutdownWatch {
    /// The stage now.
    pub(crate) fn stage(&self) -> Stage {
        *self.0.borrow()
    }

    /// Returns once the stage is at least this one; at once when it is, or when nobody can move it any more.
    pub(crate) async fn reached(&mut self, stage: Stage) {
        // An error means the sender is gone: the end is over, and waiting on would be for ever.
        let _ended = self.0.wait_for(|now| *now >= stage).await;
    }
}
