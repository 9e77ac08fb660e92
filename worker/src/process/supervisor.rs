//! The way into supervised processes: one [`Supervisor`] a worker, one unit an attempt.

use std::ffi::OsStr;
use std::io;
use std::process::Command;
use std::sync::Arc;

use super::environment::BaseEnvironment;
use super::leftovers::Notes;
use super::marks::{self, Marks};
use super::report::UnitEnd;
use super::spec::UnitSpec;
use super::sys;
use super::unit::{self, Surroundings};
use crate::tool::call::{OutputTap, StopReceiver};

/// Sets, once and before any thread is started, what holds for the worker and all that comes from it: no new
/// privileges, no core files, many open files for the worker itself, and that processes whose parent died become the
/// worker's own.
pub(crate) fn confine_worker() -> io::Result<()> {
    sys::confine_process()
}

/// Starts and ends processes. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Supervisor(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    worker: String,
    base: BaseEnvironment,
    notes: Notes,
}

impl Supervisor {
    /// The supervisor of the worker with this id, the same for all its starts on one state directory. Children are
    /// recognised by it, so [`confine_worker`] comes before.
    pub(crate) fn start(worker: &str) -> Self {
        Self(Arc::new(Inner {
            worker: worker.to_owned(),
            base: BaseEnvironment::pick(std::env::vars_os()),
            notes: Notes::default(),
        }))
    }

    /// Where programs are looked for: the PATH that children get.
    pub(crate) fn search_path(&self) -> &OsStr {
        self.0.base.path()
    }

    /// Runs one process to the end of its whole tree.
    pub(crate) async fn run(&self, spec: UnitSpec, stopping: StopReceiver, tap: Arc<dyn OutputTap>) -> UnitEnd {
        let marks = Marks {
            worker: self.0.worker.clone(),
            run: spec.identity.run.to_string(),
            step: spec.identity.step.to_string(),
            attempt: spec.identity.attempt.to_string(),
        };
        let command = self.command(&spec, &marks);
        let around = Surroundings { marks, notes: &self.0.notes, stopping, tap };
        unit::run(&spec, command, around).await
    }

    fn command(&self, spec: &UnitSpec, marks: &Marks) -> Command {
        let mut command = Command::new(&spec.program);
        command.args(&spec.arguments).env_clear().envs(self.0.base.iter());
        for (name, value) in &spec.environment {
            command.env(name, value);
        }
        // Last, so that nothing a flow sets can change whom a process belongs to.
        for (name, value) in marks.variables() {
            command.env(name, value);
        }
        command.env(marks::RUN_DIR, spec.run_dir.path());
        command.env("WEIR_IDEMPOTENCY_KEY", &spec.identity.idempotency_key);
        if let Some(node) = &spec.identity.node {
            command.env("WEIR_NODE_ID", node.as_str());
        }
        command
    }
}
