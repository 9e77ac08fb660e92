//! How git is called: as a supervised unit, in the flow directory.
//!
//! A repository can name programs in its own configuration that git then runs. What git can be told to leave alone
//! is: the file system monitor, hooks, external diffs, text conversions, signature checks, what lies in submodules.
//! A clean filter that the configuration names is still run by git, as `git status` in a terminal would.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weir_shared::run::event::{OutputStream, ProcessReport};

use super::TIMEOUT_SECONDS;
use crate::process::{
    Captured, Ladder, Outcome, OutputLimits, Start, Supervisor, UnitEnd, UnitLimits, UnitSpec, resolve_program,
};
use crate::tool::call::{OutputTap, StopReason, ToolCall, ToolFailure};

/// Settings that win over a repository's own.
const SETTINGS: [&str; 6] = [
    "core.fsmonitor=",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "log.showSignature=false",
    // What they start goes on after the command, and would be ended in the middle.
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Calls of git for one call of a tool.
pub(in crate::tool) struct Git<'a> {
    supervisor: &'a Supervisor,
    program: PathBuf,
    directory: PathBuf,
    call: ToolCall,
    ends: Instant,
    file_bytes: u64,
}

/// What a call of a tool comes to, and the report of git's last process.
pub(in crate::tool) type Called<T> = Result<(T, Box<ProcessReport>), (ToolFailure, Option<Box<ProcessReport>>)>;

impl<'a> Git<'a> {
    /// Git in this directory, for this call.
    pub(in crate::tool) fn new(
        supervisor: &'a Supervisor,
        directory: PathBuf,
        call: ToolCall,
        file_bytes: u64,
    ) -> Result<Self, ToolFailure> {
        let program = resolve_program("git", supervisor.search_path(), &directory)
            .map_err(|error| ToolFailure::because(error.to_string()))?;
        let limit = call.node_timeout.unwrap_or(Duration::from_secs(TIMEOUT_SECONDS));
        Ok(Self { supervisor, program, directory, call, ends: Instant::now() + limit, file_bytes })
    }

    /// What git says with these arguments, as many characters of it; an error when it does not succeed.
    pub(in crate::tool) async fn say(&self, arguments: &[&str], most: usize) -> Called<Captured> {
        let end = self.run(arguments, most, Heard::ByAll).await;
        match end.failure() {
            None => Ok((end.stdout, end.report)),
            Some(message) => Err(failed(message, end.stopped, end.report)),
        }
    }

    /// As [`Git::say`], for a call on the way to another: nobody is shown what it says.
    pub(in crate::tool) async fn ask(&self, arguments: &[&str]) -> Called<String> {
        let end = self.run(arguments, ASIDE_CHARS, Heard::ByNobody).await;
        match end.failure() {
            None => Ok((end.stdout.text, end.report)),
            Some(message) => Err(failed(message, end.stopped, end.report)),
        }
    }

    /// A call that answers a question by exit code 0 for no and 1 for yes.
    pub(in crate::tool) async fn is_so(&self, arguments: &[&str]) -> Called<bool> {
        let end = self.run(arguments, ASIDE_CHARS, Heard::ByNobody).await;
        match (&end.outcome, end.failure()) {
            (Outcome::Exited(1), Some(_)) if end.stopped.is_none() => Ok((true, end.report)),
            (_, None) => Ok((false, end.report)),
            (_, Some(message)) => Err(failed(message, end.stopped, end.report)),
        }
    }

    /// Where the flow directory is in its repository: empty at its top, else with a slash at the end.
    pub(in crate::tool) async fn prefix(&self) -> Called<String> {
        let (said, report) = self.ask(&["rev-parse", "--show-prefix"]).await?;
        Ok((said.strip_suffix('\n').unwrap_or(&said).to_owned(), report))
    }

    async fn run(&self, arguments: &[&str], memory_chars: usize, heard: Heard) -> UnitEnd {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let arguments = ["--no-pager"].into_iter().chain(settings).chain(arguments.iter().copied());
        let variables = [
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_LITERAL_PATHSPECS", "1"),
            // A repository may have the flow directory on a file system of its own.
            ("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1"),
        ];
        let (tap, file_bytes): (Arc<dyn OutputTap>, u64) = match heard {
            Heard::ByAll => (Arc::clone(&self.call.output), self.file_bytes),
            Heard::ByNobody => (Arc::new(Nobody), 0),
        };
        let spec = UnitSpec {
            start: Start::File { program: self.program.clone(), arguments: arguments.map(Into::into).collect() },
            environment: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            directory: self.directory.clone(),
            identity: self.call.identity.clone(),
            run_dir: self.call.run_dir.clone(),
            ladder: Ladder::of(self.call.stop),
            timeout: Some(self.ends.saturating_duration_since(Instant::now())),
            output: OutputLimits { memory_chars, file_bytes },
            limits: UnitLimits::default(),
        };
        self.supervisor.run(spec, self.call.stopping.clone(), tap).await
    }
}

/// Characters of what git says on the way.
const ASIDE_CHARS: usize = 65_536;

/// Who sees what git says.
#[derive(Debug, Clone, Copy)]
enum Heard {
    ByAll,
    ByNobody,
}

struct Nobody;

impl OutputTap for Nobody {
    fn write(&self, _: OutputStream, _: u64, _: &[u8]) {}
}

fn failed(
    message: String,
    stopped: Option<StopReason>,
    report: Box<ProcessReport>,
) -> (ToolFailure, Option<Box<ProcessReport>>) {
    (ToolFailure { message, timed_out: stopped == Some(StopReason::TimedOut), stopped }, Some(report))
}
