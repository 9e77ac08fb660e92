//! The way into supervised processes: one [`Supervisor`] a worker, one unit an attempt.

use std::ffi::OsStr;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use super::environment::BaseEnvironment;
use super::leftovers::Notes;
use super::marks::{self, Marks};
use super::report::UnitEnd;
use super::spec::{SpawnError, UnitSpec};
use super::sys;
use super::unit::{self, Surroundings};
use crate::secret::Masker;
use crate::tool::call::{OutputTap, StopReceiver};

/// Sets, once and before any thread is started, what holds for the worker and all that comes from it: no new
/// privileges, no core files, many open files for the worker itself, and that processes whose parent died become the
/// worker's own.
pub(crate) fn confine_worker() -> io::Result<()> {
    sys::confine_process()
}

/// Starts and ends processes. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Supervisor {
    inner: Arc<Inner>,
    /// What is hidden in the output of processes before anything keeps or sees it.
    masker: Masker,
}

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
        let inner = Inner {
            worker: worker.to_owned(),
            base: BaseEnvironment::pick(std::env::vars_os()),
            notes: Notes::default(),
        };
        Self { inner: Arc::new(inner), masker: Masker::default() }
    }

    /// The same supervisor, with these secrets hidden in all output.
    pub(crate) fn hiding(self, masker: Masker) -> Self {
        Self { masker, ..self }
    }

    /// Where programs are looked for: the PATH that children get.
    pub(crate) fn search_path(&self) -> &OsStr {
        self.inner.base.path()
    }

    /// Runs one process, with an empty standard input, to the end of its whole tree.
    pub(crate) async fn run(&self, spec: UnitSpec, stopping: StopReceiver, tap: Arc<dyn OutputTap>) -> UnitEnd {
        self.run_on(spec, Stdio::null(), stopping, tap).await
    }

    /// The same with these bytes on its standard input, which it need not read.
    pub(crate) async fn run_fed(
        &self,
        spec: UnitSpec,
        input: &[u8],
        stopping: StopReceiver,
        tap: Arc<dyn OutputTap>,
    ) -> UnitEnd {
        match sys::input_of(input) {
            Ok(stdin) => self.run_on(spec, stdin, stopping, tap).await,
            Err(source) => UnitEnd::not_started(SpawnError::Other { source }, Duration::ZERO),
        }
    }

    async fn run_on(&self, spec: UnitSpec, stdin: Stdio, stopping: StopReceiver, tap: Arc<dyn OutputTap>) -> UnitEnd {
        let marks = Marks {
            worker: self.inner.worker.clone(),
            run: spec.identity.run.to_string(),
            step: spec.identity.step.to_string(),
            attempt: spec.identity.attempt.to_string(),
        };
        let mut command = self.command(&spec, &marks);
        command.stdin(stdin);
        let around = Surroundings { marks, notes: &self.inner.notes, masker: &self.masker, stopping, tap };
        unit::run(&spec, command, around).await
    }

    fn command(&self, spec: &UnitSpec, marks: &Marks) -> Command {
        let mut command = Command::new(&spec.program);
        command.args(&spec.arguments).env_clear().envs(self.inner.base.iter());
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
