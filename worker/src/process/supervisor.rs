//! The way into supervised processes: one [`Supervisor`] a worker, one unit an attempt.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::cgroup::{CgroupSettings, Cgroups, Controller, NoCgroups};
use super::environment::BaseEnvironment;
use super::leftovers::Notes;
use super::limits::{MemoryHeldBy, under_limits};
use super::marks::{self, Marks};
use super::report::UnitEnd;
use super::spec::{SpawnError, UnitSpec};
use super::sys::{self, Launch};
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
    cgroups: Option<Cgroups>,
}

impl Supervisor {
    /// The supervisor of the worker with this id, the same for all its starts on one state directory. Children are
    /// recognised by it, so [`confine_worker`] comes before. An error when the settings name a place for control
    /// groups that is none.
    pub(crate) fn start(worker: &str, groups: &CgroupSettings) -> Result<Self, NoCgroups> {
        let inner = Inner {
            worker: worker.to_owned(),
            base: BaseEnvironment::pick(std::env::vars_os()),
            notes: Notes::default(),
            cgroups: Cgroups::open(groups, worker)?,
        };
        Ok(Self { inner: Arc::new(inner), masker: Masker::default() })
    }

    /// Whether a limit of a whole unit is held here. For memory there is a lesser one for each process elsewhere.
    pub(crate) fn holds(&self, controller: Controller) -> bool {
        self.inner.cgroups.as_ref().is_some_and(|groups| groups.holds(controller))
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
        self.run_on(spec, sys::no_input(), stopping, tap).await
    }

    /// The same with these bytes on its standard input, which it need not read.
    pub(crate) async fn run_fed(
        &self,
        spec: UnitSpec,
        input: &[u8],
        stopping: StopReceiver,
        tap: Arc<dyn OutputTap>,
    ) -> UnitEnd {
        self.run_on(spec, sys::input_of(input), stopping, tap).await
    }

    async fn run_on(
        &self,
        spec: UnitSpec,
        stdin: io::Result<OwnedFd>,
        stopping: StopReceiver,
        tap: Arc<dyn OutputTap>,
    ) -> UnitEnd {
        let marks = Marks {
            worker: self.inner.worker.clone(),
            run: spec.identity.run.to_string(),
            step: spec.identity.step.to_string(),
            attempt: spec.identity.attempt.to_string(),
        };
        let launch = match self.launch(&spec, &marks, stdin) {
            Ok(launch) => launch,
            Err(error) => return UnitEnd::not_started(error, Duration::ZERO),
        };
        let around = Surroundings { marks, notes: &self.inner.notes, masker: &self.masker, stopping, tap };
        unit::run(&spec, launch, around).await
    }

    fn launch(&self, spec: &UnitSpec, marks: &Marks, stdin: io::Result<OwnedFd>) -> Result<Launch, SpawnError> {
        let stdin = stdin.map_err(|source| SpawnError::Other { source })?;
        let groups = self.inner.cgroups.as_ref().filter(|groups| groups.contain(spec.limits));
        let cgroup = groups.map(|groups| groups.make(marks, spec.limits)).transpose();
        let cgroup = cgroup.map_err(|source| SpawnError::Cgroup { source })?;
        let memory = match groups {
            Some(groups) if groups.holds(Controller::Memory) => MemoryHeldBy::Group,
            Some(_) | None => MemoryHeldBy::EachProcess,
        };
        let (program, arguments) = under_limits(&spec.start, spec.limits, memory);
        Ok(Launch { command: self.command(spec, marks, (&program, &arguments)), stdin, cgroup })
    }

    fn command(&self, spec: &UnitSpec, marks: &Marks, (program, arguments): (&Path, &[OsString])) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.inner.base.iter());
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
