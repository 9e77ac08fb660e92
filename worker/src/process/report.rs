//! The obituary of a unit: what the journal keeps of a process, and the sentence a person reads.

use std::time::Duration;

use weir_shared::run::event::ProcessReport;

use super::capture::Captured;
use super::children::Counted;
use super::spec::SpawnError;
use super::step::{Ending, Exit, Stopped};
use super::stop::{Ladder, reason_text};
use super::sys::{self, CpuTime};
use crate::tool::call::StopReason;

/// Characters of the last line of stderr that a failure message quotes.
const QUOTED_CHARS: usize = 500;

/// How a unit ended.
#[derive(Debug)]
pub(crate) struct UnitEnd {
    pub(crate) outcome: Outcome,
    pub(crate) stopped: Option<StopReason>,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    pub(crate) duration: Duration,
    /// How long it was allowed to take.
    pub(crate) limit: Option<Duration>,
    pub(crate) report: Box<ProcessReport>,
}

/// What became of the process.
#[derive(Debug)]
pub(crate) enum Outcome {
    Exited(i32),
    /// Ended by this signal, `SIGKILL`.
    Signaled(String),
    /// It could not be ended: it is stuck inside the kernel.
    Stuck,
    NotStarted(SpawnError),
    /// A stop was asked for before it was started.
    Withheld,
}

/// What the loop knows of a process that ran.
#[derive(Debug)]
pub(super) struct Remains {
    pub(super) pid: u32,
    pub(super) ending: Ending,
    pub(super) ladder: Ladder,
    pub(super) cpu: Option<CpuTime>,
    pub(super) counted: Counted,
    pub(super) swept: u32,
    pub(super) duration: Duration,
    pub(super) limit: Option<Duration>,
}

impl UnitEnd {
    /// A unit whose process ran.
    pub(super) fn of(remains: &Remains, stdout: Captured, stderr: Captured) -> Self {
        let Remains { pid, ending, ladder, cpu, counted, swept, duration, limit } = *remains;
        let outcome = match ending.exit {
            Exit::Code(code) => Outcome::Exited(code),
            Exit::Signal(signal) => Outcome::Signaled(sys::signal_name(signal)),
            Exit::Stuck => Outcome::Stuck,
        };
        let reason = ending.stopped.map(|stopped| stopped.reason);
        let report = Box::new(ProcessReport {
            pid: Some(pid),
            exit_code: if let Outcome::Exited(code) = outcome { Some(code) } else { None },
            signal: if let Outcome::Signaled(signal) = &outcome { Some(signal.clone()) } else { None },
            spawn_error: None,
            stop_reason: reason.map(|reason| reason_text(reason).to_owned()),
            stopped_by: ending.stopped.map(|Stopped { rung, .. }| ladder.signal_name(rung).to_owned()),
            duration_ms: millis(duration),
            stdout_bytes: stdout.bytes,
            stderr_bytes: stderr.bytes,
            dropped_bytes: stdout.dropped + stderr.dropped,
            user_ms: cpu.map(|cpu| cpu.user_ms),
            system_ms: cpu.map(|cpu| cpu.system_ms),
            peak_memory_bytes: counted.peak_memory,
            out_of_memory: counted.ran_out_of_memory,
            leaked: ending.leaked,
            swept,
            capture_errors: stdout.error.iter().chain(&stderr.error).cloned().collect(),
        });
        Self { outcome, stopped: reason, stdout, stderr, duration, limit, report }
    }

    /// A unit that was never started, because the system refused.
    pub(super) fn not_started(error: SpawnError, duration: Duration) -> Self {
        let report = ProcessReport {
            spawn_error: Some(error.to_string()),
            duration_ms: millis(duration),
            ..ProcessReport::default()
        };
        Self::without_process(Outcome::NotStarted(error), None, duration, report)
    }

    /// A unit that was never started, because it was to be stopped.
    pub(super) fn withheld(reason: StopReason) -> Self {
        let report = ProcessReport { stop_reason: Some(reason_text(reason).to_owned()), ..ProcessReport::default() };
        Self::without_process(Outcome::Withheld, Some(reason), Duration::ZERO, report)
    }

    fn without_process(
        outcome: Outcome,
        stopped: Option<StopReason>,
        duration: Duration,
        report: ProcessReport,
    ) -> Self {
        let (stdout, stderr) = (Captured::default(), Captured::default());
        Self { outcome, stopped, stdout, stderr, duration, limit: None, report: Box::new(report) }
    }

    /// Why it did not succeed, for a person; none when it did.
    pub(crate) fn failure(&self) -> Option<String> {
        let quoting = |what: String| match last_line(&self.stderr.text) {
            Some(line) => format!("{what}: {line}"),
            None => what,
        };
        let by_itself = match &self.outcome {
            Outcome::Exited(0) => None,
            Outcome::Exited(code) => Some(quoting(format!("exit code {code}"))),
            Outcome::Signaled(_) if self.report.out_of_memory => {
                Some("ended by the system because it took more memory than its limit".to_owned())
            }
            Outcome::Signaled(signal) => Some(quoting(format!("ended by {signal}"))),
            Outcome::Stuck => Some("could not be ended: it did not react to SIGKILL".to_owned()),
            Outcome::NotStarted(error) => Some(error.to_string()),
            Outcome::Withheld => Some("not started".to_owned()),
        };
        match self.stopped {
            None => by_itself,
            Some(StopReason::TimedOut) => Some(timed_out_after(self.limit.unwrap_or(self.duration))),
            Some(reason @ (StopReason::Cancelled | StopReason::ShuttingDown | StopReason::Forced)) => {
                Some(stop_message(reason).to_owned())
            }
        }
    }
}

/// A duration in whole milliseconds.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// What a person reads when something took longer than this.
pub(crate) fn timed_out_after(limit: Duration) -> String {
    format!("timed out after {} s", limit.as_secs_f64())
}

/// What a person reads when something was stopped.
pub(crate) fn stop_message(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Cancelled => "cancelled",
        StopReason::TimedOut => "timed out",
        StopReason::ShuttingDown => "stopped because the worker shuts down",
        StopReason::Forced => "killed because the worker ends now",
    }
}

/// The last line that says anything, cut to a length that fits a list of runs.
fn last_line(text: &str) -> Option<String> {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    let mut quoted: String = line.chars().take(QUOTED_CHARS).collect();
    if quoted.len() < line.len() {
        quoted.push('…');
    }
    Some(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_the_last_that_says_anything() {
        assert_eq!(last_line("first\nls: no such file\n\n  \n").as_deref(), Some("ls: no such file"));
        assert_eq!(last_line("\n"), None);
        let long = last_line(&"x".repeat(600)).expect("a line");
        assert_eq!(long.chars().count(), QUOTED_CHARS + 1);
    }
}
