//! `weir cancel`: asks a run to stop.

use clap::Args;
use serde_json::Value;
use weir_shared::ids::RunId;

use super::connect::Worker;
use super::exit::Exit;
use super::{Done, Place, output};

/// Cancel a run: its running steps are stopped, politely and then hard
#[derive(Debug, Args)]
pub(super) struct Cancel {
    run: RunId,
    #[command(flatten)]
    place: Place,
}

impl Cancel {
    pub(super) fn execute(self) -> Done {
        let worker = Worker::find(&self.place.config()?)?;
        let _accepted: Value = worker.post(&format!("/api/agent/{}/cancel", self.run), &serde_json::json!({}))?;
        output::tell("asked to stop");
        Ok(Exit::Done)
    }
}
