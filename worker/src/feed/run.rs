//! The feed of one live run: frames of committed events, and output as it comes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast;
use weir_shared::ids::StepIndex;

use super::output::AttemptOutput;
use super::wire::Frame;

/// Frames a follower may be behind before it is sent to the journal. Bounded so that a follower that never reads
/// costs nothing but this.
const BEHIND: usize = 256;

/// The feed. It exists from a run's admission to its end.
pub(crate) struct RunFeed {
    frames: broadcast::Sender<Frame>,
    attempts: Mutex<BTreeMap<StepIndex, Arc<AttemptOutput>>>,
}

impl RunFeed {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { frames: broadcast::Sender::new(BEHIND), attempts: Mutex::default() })
    }

    /// Whether anybody follows: frames need not be made for nobody.
    pub(crate) fn is_followed(&self) -> bool {
        self.frames.receiver_count() > 0
    }

    /// Shows a committed event.
    pub(crate) fn publish(&self, frame: Frame) {
        // No receiver is not an error: nobody follows.
        let _nobody = self.frames.send(frame);
    }

    /// Shows a piece of output.
    pub(crate) fn output(&self, frame: Frame) {
        self.publish(frame);
    }

    /// Opens the output of an attempt.
    pub(crate) fn begin_attempt(self: &Arc<Self>, index: StepIndex, attempt: u32) -> Arc<AttemptOutput> {
        let output = AttemptOutput::new(self, index, attempt);
        self.attempts().insert(index, output.clone());
        output
    }

    /// Sends the rest of an attempt's output, before its end is shown.
    pub(crate) fn end_attempt(&self, index: StepIndex) {
        let ended = self.attempts().remove(&index);
        if let Some(output) = ended {
            output.finish();
        }
    }

    /// A receiver of what comes, and the recent output of what runs.
    pub(crate) fn subscribe(&self) -> (broadcast::Receiver<Frame>, Vec<Frame>) {
        let receiver = self.frames.subscribe();
        let recent = self.attempts().values().flat_map(|output| output.recent()).collect();
        (receiver, recent)
    }

    fn attempts(&self) -> MutexGuard<'_, BTreeMap<StepIndex, Arc<AttemptOutput>>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
