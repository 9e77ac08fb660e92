//! `weir approve`: answers a gate of a run.

use clap::Args;
use serde_json::Value;
use weir_shared::ids::{GateId, RunId};
use weir_shared::wire;

use super::connect::Worker;
use super::exit::Exit;
use super::{Done, Place, output};

/// Answer the gate that a run waits at
#[derive(Debug, Args)]
pub(super) struct Approve {
    run: RunId,
    /// Which gate, when several are open
    #[arg(long)]
    gate: Option<GateId>,
    /// Reject instead of approving
    #[arg(long)]
    reject: bool,
    /// Why; kept with the run
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    place: Place,
}

impl Approve {
    pub(super) fn execute(self) -> Done {
        let worker = Worker::find(&self.place.config()?)?;
        let answer = wire::Approve { gate_id: self.gate, approved: Some(!self.reject), reason: self.reason };
        let _accepted: Value = worker.post(&format!("/api/agent/{}/approve", self.run), &answer)?;
        output::tell(if self.reject { "rejected" } else { "approved" });
        Ok(Exit::Done)
    }
}
