//! The stop ladder: the node's signal to the group, its grace, SIGKILL to the group.
//!
//! It knows reasons and rungs; when a unit moves along them is `step`'s to say.

use std::time::Duration;

use weir_shared::flow::StopSignal;
use weir_shared::plan::StopPolicy;

use crate::tool::call::{StopReason, StopReceiver};

/// How far up the ladder a stop has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rung {
    /// The node's own signal was sent; grace runs.
    Asked,
    /// SIGKILL was sent.
    Killed,
}

/// The two rungs of one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ladder {
    pub(super) signal: StopSignal,
    pub(super) grace: Duration,
}

impl Ladder {
    /// The ladder that a node asks for.
    pub(crate) fn of(policy: StopPolicy) -> Self {
        Self { signal: policy.signal, grace: Duration::from_secs(policy.grace_seconds) }
    }

    /// Where a first request for this reason starts.
    pub(super) fn first_rung(&self, reason: StopReason) -> Rung {
        match reason {
            StopReason::Forced => Rung::Killed,
            StopReason::Cancelled | StopReason::TimedOut | StopReason::ShuttingDown => {
                if self.grace.is_zero() || self.signal == StopSignal::Kill { Rung::Killed } else { Rung::Asked }
            }
        }
    }

    /// The signal of a rung as it is written in flows and reports.
    pub(super) fn signal_name(&self, rung: Rung) -> &'static str {
        match (rung, self.signal) {
            (Rung::Killed, _) | (Rung::Asked, StopSignal::Kill) => "SIGKILL",
            (Rung::Asked, StopSignal::Term) => "SIGTERM",
            (Rung::Asked, StopSignal::Int) => "SIGINT",
            (Rung::Asked, StopSignal::Hup) => "SIGHUP",
            (Rung::Asked, StopSignal::Quit) => "SIGQUIT",
            (Rung::Asked, StopSignal::Usr1) => "SIGUSR1",
            (Rung::Asked, StopSignal::Usr2) => "SIGUSR2",
        }
    }
}

/// A reason in the words of the report.
pub(super) fn reason_text(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Cancelled => "cancelled",
        StopReason::TimedOut => "timed out",
        StopReason::ShuttingDown => "shutting down",
        StopReason::Forced => "forced",
    }
}

/// Returns at the next request to stop. Never returns once nobody is left who could ask.
///
/// A request made before the receiver was looked at is not seen here: read it with `borrow_and_update` first.
pub(crate) async fn next_request(stopping: &mut StopReceiver) -> StopReason {
    loop {
        if stopping.changed().await.is_err() {
            return std::future::pending().await;
        }
        if let Some(reason) = *stopping.borrow_and_update() {
            return reason;
        }
    }
}
