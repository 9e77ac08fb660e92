//! What the page calls statuses, causes and reasons.

use weir_shared::flow::PermissionMode;
use weir_shared::ids::Timestamp;
use weir_shared::run::event::{Cause, ProcessReport, SkipReason};
use weir_shared::run::state::{RunStatus, StepStatus};
use weir_shared::wire::LastRun;

use crate::ui::glyph::Glyph;
use crate::ui::readable::{age, duration};
use crate::ui::tone::Tone;

/// A run's status in a few words.
pub fn run_status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Queued => "queued",
        RunStatus::Planning => "planning",
        RunStatus::AwaitingPlanApproval => "plan waits for you",
        RunStatus::Executing => "running",
        RunStatus::AwaitingStepApproval => "waits for approval",
        RunStatus::Completed => "completed",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "cancelled",
        RunStatus::Interrupted => "interrupted",
    }
}

/// What a run's status means for the person.
pub fn run_tone(status: RunStatus) -> Tone {
    match status {
        RunStatus::Queued | RunStatus::Planning | RunStatus::Executing => Tone::Active,
        RunStatus::AwaitingPlanApproval | RunStatus::AwaitingStepApproval => Tone::Waiting,
        RunStatus::Completed => Tone::Good,
        RunStatus::Failed => Tone::Bad,
        RunStatus::Cancelled | RunStatus::Interrupted => Tone::Faint,
    }
}

/// A step's status in a few words.
pub fn step_status(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Waiting => "not yet",
        StepStatus::Ready => "about to start",
        StepStatus::Running => "running",
        StepStatus::Retrying => "tries again",
        StepStatus::AwaitingApproval => "waits for you",
        StepStatus::Completed => "done",
        StepStatus::Failed => "failed",
        StepStatus::Skipped => "skipped",
        StepStatus::Cancelled => "cancelled",
        StepStatus::Interrupted => "interrupted",
    }
}

/// What a step's status means for the person.
pub fn step_tone(status: StepStatus) -> Tone {
    match status {
        StepStatus::Running | StepStatus::Retrying => Tone::Active,
        StepStatus::AwaitingApproval => Tone::Waiting,
        StepStatus::Completed => Tone::Good,
        StepStatus::Failed => Tone::Bad,
        StepStatus::Waiting
        | StepStatus::Ready
        | StepStatus::Skipped
        | StepStatus::Cancelled
        | StepStatus::Interrupted => Tone::Faint,
    }
}

/// The glyph of a step's status.
pub fn step_glyph(status: StepStatus) -> Glyph {
    match status {
        StepStatus::Waiting | StepStatus::Ready | StepStatus::Skipped => Glyph::Minus,
        StepStatus::Running => Glyph::Loader,
        StepStatus::Retrying => Glyph::Reload,
        StepStatus::AwaitingApproval => Glyph::Pause,
        StepStatus::Completed => Glyph::Check,
        StepStatus::Failed => Glyph::X,
        StepStatus::Cancelled => Glyph::Ban,
        StepStatus::Interrupted => Glyph::Stop,
    }
}

/// What started a run.
pub fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Manual => "by hand",
        Cause::Api => "by a plan",
        Cause::Schedule => "by schedule",
        Cause::Webhook => "by webhook",
        Cause::Model => "by the model",
        Cause::Resume => "resumed",
        Cause::Fork => "forked",
        Cause::Rewind => "rewound",
        Cause::Rerun => "run again",
    }
}

/// Why a step was skipped.
pub fn skip_reason(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Disabled => "disabled",
        SkipReason::Branch => "branch not taken",
        SkipReason::Prerequisites => "all before it were skipped",
        SkipReason::Reference => "refers to a skipped step",
    }
}

/// A permission mode, and what it means.
pub fn permission_mode(mode: PermissionMode) -> (&'static str, &'static str) {
    match mode {
        PermissionMode::AskForApproval => ("Ask for approval", "Asks before every step that does more than read."),
        PermissionMode::ApproveForMe => (
            "Approve for me",
            "Asks before a step that reaches outside, and before a command: all of them count as risky for now.",
        ),
        PermissionMode::FullAccess => ("Full access", "Asks nothing, not even where a node says to ask."),
    }
}

/// The newest run of a flow in one line: `2 min ago · 0.3 s`, `failed 1 h ago`, `waits for approval`.
pub fn last_run(run: &LastRun, now: Timestamp) -> String {
    let ended = age(run.completed_at.unwrap_or(run.created_at), now);
    match run.status {
        RunStatus::Completed => match run.duration_ms {
            Some(took) => format!("{ended} · {}", duration(took)),
            None => ended,
        },
        RunStatus::Failed | RunStatus::Cancelled | RunStatus::Interrupted => {
            format!("{} {ended}", run_status(run.status))
        }
        RunStatus::Queued
        | RunStatus::Planning
        | RunStatus::Executing
        | RunStatus::AwaitingPlanApproval
        | RunStatus::AwaitingStepApproval => run_status(run.status).to_owned(),
    }
}

/// How a process ended, in one line; empty when there is nothing to add to the step's own status.
pub fn obituary(report: &ProcessReport) -> String {
    let mut said = Vec::new();
    if let Some(error) = &report.spawn_error {
        said.push(error.clone());
    }
    if let Some(code) = report.exit_code {
        said.push(format!("exit code {code}"));
    }
    if let Some(signal) = &report.signal {
        said.push(format!("ended by {signal}"));
    }
    if let Some(reason) = &report.stop_reason {
        said.push(format!("asked to stop: {reason}"));
    }
    if report.leaked {
        said.push("a descendant held its output open and was cut off".to_owned());
    }
    if report.swept > 0 {
        said.push(format!("{} left-over processes ended", report.swept));
    }
    if report.dropped_bytes > 0 {
        said.push(format!("{} of output not kept", crate::ui::readable::bytes(report.dropped_bytes)));
    }
    said.extend(report.capture_errors.iter().cloned());
    said.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_run_says_what_matters_of_it() {
        let now = Timestamp(10_000_000);
        let run = |status, completed: Option<i64>| LastRun {
            run_id: "01936d2a-0000-7000-8000-000000000001".parse().expect("an id"),
            status,
            created_at: Timestamp(now.0 - 400_000),
            completed_at: completed.map(Timestamp),
            duration_ms: completed.map(|_| 320),
        };
        assert_eq!(last_run(&run(RunStatus::Completed, Some(now.0 - 120_000)), now), "2 min ago · 0.3 s");
        assert_eq!(last_run(&run(RunStatus::Failed, Some(now.0 - 120_000)), now), "failed 2 min ago");
        assert_eq!(last_run(&run(RunStatus::AwaitingStepApproval, None), now), "waits for approval");
    }

    #[test]
    fn an_obituary_names_only_what_happened() {
        let report = ProcessReport { exit_code: Some(3), swept: 2, ..ProcessReport::default() };
        assert_eq!(obituary(&report), "exit code 3 · 2 left-over processes ended");
        assert_eq!(obituary(&ProcessReport::default()), "");
    }
}
