//! The directory of a run: `<state>/runs/<run id>/` with `work/` (the working directory its steps share),
//! `output/<step>.<attempt>.<stream>` (what processes wrote), `results/<step>.json` (results too large for an event)
//! and `pids` (what to look for after a crash).

use std::path::{Path, PathBuf};

use weir_shared::ids::{RunId, StepIndex};
use weir_shared::run::event::OutputStream;

/// Names the places of one run. Making them is up to who writes there first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunDirectory(PathBuf);

impl RunDirectory {
    /// The directory of this run under the state directory.
    pub(crate) fn of(state: &Path, run: &RunId) -> Self {
        Self(state.join("runs").join(run.as_str()))
    }

    /// The directory itself: `WEIR_RUN_DIR`.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The working directory that the run's steps share.
    pub(crate) fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// Where one stream of one attempt is spilled.
    pub(crate) fn output(&self, step: StepIndex, attempt: u32, stream: OutputStream) -> PathBuf {
        let stream = match stream {
            OutputStream::Stdout => "stdout",
            OutputStream::Stderr => "stderr",
        };
        self.0.join("output").join(format!("{step}.{attempt}.{stream}"))
    }

    /// Where a result too large for an event is kept whole.
    pub(crate) fn result(&self, step: StepIndex) -> PathBuf {
        self.0.join("results").join(format!("{step}.json"))
    }

    /// Which processes to look for should the worker die.
    pub(crate) fn pids(&self) -> PathBuf {
        self.0.join("pids")
    }
}
