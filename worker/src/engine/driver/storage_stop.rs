//! The end of a run whose store did not take its last turn.
//!
//! None of that turn has happened: it was neither shown nor acted upon. What runs is stopped, and the run ends as soon as
//! the store takes that, or as interrupted at the next start. Until then whoever asks something of the run is told at
//! once what the store says, and nobody waits for the disk.

use std::time::Duration;

use weir_shared::ids::Seq;
use weir_shared::run::decide::{Input, StorageFault};
use weir_shared::run::reduce::replay;

use super::{ApproveError, Broken, CancelError, Command, Driver, Reply};
use crate::shutdown::Stage;
use crate::store::StoreError;
use crate::tool::call::StopReason;

/// How often the store is tried again.
const RETRY: Duration = Duration::from_secs(1);

impl Driver {
    /// Stops what runs, and sees to it that the run's end is recorded.
    pub(super) async fn stop_for_storage(mut self, broken: Broken) {
        tracing::error!(run = %self.run, error = %broken, "the run stops");
        for running in self.running.values() {
            running.stop(StopReason::Cancelled);
        }
        let mut error = store_error(broken);
        let fault = fault(&error);
        for reply in std::mem::take(&mut self.replies) {
            refuse(reply, error.clone());
        }
        // They end within their grace, and nobody's question waits for that.
        loop {
            tokio::select! {
                ended = self.attempts.join_next() => if ended.is_none() { break },
                Some(command) = self.commands.recv() => refuse(command.into_reply(), error.clone()),
            }
        }
        loop {
            match self.end_for_storage(fault).await {
                Ok(()) => return,
                Err(Broken::Store(again)) => {
                    tracing::debug!(run = %self.run, error = %again, "the run's end is not stored yet");
                    error = again;
                }
                Err(Broken::History(error)) => {
                    tracing::error!(run = %self.run, %error, "the run is left as it is");
                    return;
                }
            }
            if !self.wait_for_room(&error).await {
                return;
            }
        }
    }

    /// Waits until the store is worth another try; false when the worker ends first.
    async fn wait_for_room(&mut self, error: &StoreError) -> bool {
        let retry = tokio::time::sleep(RETRY);
        tokio::pin!(retry);
        loop {
            tokio::select! {
                () = &mut retry => return true,
                () = self.shutdown.reached(Stage::Stopping) => return false,
                Some(command) = self.commands.recv() => refuse(command.into_reply(), error.clone()),
            }
        }
    }

    async fn end_for_storage(&mut self, fault: StorageFault) -> Result<(), Broken> {
        let state = replay(&self.inner.store.events(&self.run, Seq(0), usize::MAX)?)?;
        if state.end.is_some() {
            return Ok(());
        }
        self.state = state;
        self.turn(vec![Input::StorageFailed(fault)]).await
    }
}

impl Command {
    fn into_reply(self) -> Reply {
        match self {
            Command::Answer { reply, .. } => Reply::Answer(reply),
            Command::Cancel { reply, .. } => Reply::Cancel(reply),
        }
    }
}

/// Tells whoever asked that it was not recorded.
fn refuse(reply: Reply, error: StoreError) {
    // A caller that has gone away misses its answer; nothing was changed.
    let _gone = match reply {
        Reply::Answer(reply) => reply.send(Err(ApproveError::Store(error))).is_err(),
        Reply::Cancel(reply) => reply.send(Err(CancelError::Store(error))).is_err(),
    };
}

fn store_error(broken: Broken) -> StoreError {
    match broken {
        Broken::Store(error) => error,
        Broken::History(error) => StoreError::Damaged { reason: error.to_string() },
    }
}

/// What the run's end will say of the store.
fn fault(error: &StoreError) -> StorageFault {
    match error {
        StoreError::Full => StorageFault::Full,
        StoreError::Io { .. }
        | StoreError::Damaged { .. }
        | StoreError::OutOfOrder { .. }
        | StoreError::NotEnded { .. }
        | StoreError::Closed => StorageFault::Broken,
    }
}
