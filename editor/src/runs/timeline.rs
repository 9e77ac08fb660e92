//! The steps of a run as rows: what each is called, how it stands, and its bar on the run's own time.

use serde_json::Value;
use weir_shared::ids::{StepIndex, Timestamp};
use weir_shared::plan::Step;
use weir_shared::run::state::{RunState, StepState, StepStatus};

use super::words;

/// One step as the list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRow {
    pub index: StepIndex,
    pub title: String,
    pub tool: String,
    pub status: StepStatus,
    /// A branch taken, a reason to be skipped, an attempt.
    pub remark: Option<String>,
    pub span: Span,
}

/// When a step ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// It did not.
    None,
    /// Since this moment.
    Open {
        from: Timestamp,
    },
    Closed {
        from: Timestamp,
        to: Timestamp,
        duration_ms: u64,
    },
}

/// A bar as parts of a hundred of the run's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    pub left: f64,
    pub width: f64,
}

/// What a step is called: its title, else its node, else its tool.
pub fn title(step: &Step) -> String {
    if !step.title.trim().is_empty() {
        return step.title.clone();
    }
    step.node_id.as_ref().map_or_else(|| step.tool_name.to_string(), ToString::to_string)
}

/// Every step of the plan, in its order.
pub fn rows(state: &RunState) -> Vec<StepRow> {
    let Some(plan) = &state.plan else { return Vec::new() };
    plan.steps.iter().zip(&state.steps).map(|(step, at)| row(step, at)).collect()
}

fn row(step: &Step, at: &StepState) -> StepRow {
    StepRow {
        index: step.index,
        title: title(step),
        tool: step.tool_name.to_string(),
        status: at.status(),
        remark: remark(at),
        span: span(at),
    }
}

fn remark(at: &StepState) -> Option<String> {
    match at {
        StepState::Skipped { reason } => Some(words::skip_reason(*reason).to_owned()),
        StepState::Completed { result, .. } => {
            result.get("branch").and_then(Value::as_str).map(|branch| format!("→ {branch}"))
        }
        StepState::Running { attempt, .. } if *attempt > 1 => Some(format!("attempt {attempt}")),
        StepState::Retrying { next_attempt, .. } => Some(format!("attempt {next_attempt} follows")),
        StepState::Failed { timed_out: true, .. } => Some("timed out".to_owned()),
        StepState::Waiting { .. }
        | StepState::Ready
        | StepState::AwaitingApproval { .. }
        | StepState::Allowed { .. }
        | StepState::Refused { .. }
        | StepState::Running { .. }
        | StepState::Failed { .. }
        | StepState::Cancelled { .. }
        | StepState::Interrupted { .. } => None,
    }
}

fn span(at: &StepState) -> Span {
    match at {
        StepState::Running { since, .. } => Span::Open { from: *since },
        StepState::Completed { times, .. }
        | StepState::Failed { times, .. }
        | StepState::Cancelled { times, .. }
        | StepState::Interrupted { times, .. } => {
            Span::Closed { from: times.started_at, to: times.ended_at, duration_ms: times.duration_ms }
        }
        StepState::Waiting { .. }
        | StepState::Ready
        | StepState::AwaitingApproval { .. }
        | StepState::Allowed { .. }
        | StepState::Refused { .. }
        | StepState::Retrying { .. }
        | StepState::Skipped { .. } => Span::None,
    }
}

/// Until when steps were at work: `end` while one is, else the end of the last. The time a run waits for a person
/// would squeeze every bar to nothing.
pub fn busy_until(rows: &[StepRow], end: Timestamp) -> Timestamp {
    let ends = rows.iter().filter_map(|row| match row.span {
        Span::None => None,
        Span::Open { .. } => Some(end),
        Span::Closed { to, .. } => Some(to),
    });
    ends.max().unwrap_or(end)
}

impl Span {
    /// Its bar within a run from `start` to `end` (now, while it goes on). A short step is still visible.
    pub fn bar(self, start: Timestamp, end: Timestamp) -> Option<Bar> {
        let (from, to) = match self {
            Span::None => return None,
            Span::Open { from } => (from, end),
            Span::Closed { from, to, .. } => (from, to),
        };
        #[expect(clippy::cast_precision_loss, reason = "durations in milliseconds are far below 2^53")]
        let part = |millis: u64| millis as f64 * 100.0 / end.millis_since(start).max(1) as f64;
        let left = part(from.millis_since(start)).min(98.5);
        Some(Bar { left, width: part(to.millis_since(from)).max(1.5).min(100.0 - left) })
    }

    /// How long it took, or has taken by `now`, in milliseconds.
    pub fn millis(self, now: Timestamp) -> Option<u64> {
        match self {
            Span::None => None,
            Span::Open { from } => Some(now.millis_since(from)),
            Span::Closed { duration_ms, .. } => Some(duration_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_person_squeezes_no_bar() {
        let row = |span| StepRow {
            index: StepIndex(0),
            title: String::new(),
            tool: String::new(),
            status: StepStatus::Completed,
            remark: None,
            span,
        };
        let closed = row(Span::Closed { from: Timestamp(0), to: Timestamp(40), duration_ms: 40 });
        assert_eq!(busy_until(&[closed.clone(), row(Span::None)], Timestamp(9_000)), Timestamp(40));
        assert_eq!(busy_until(&[closed, row(Span::Open { from: Timestamp(50) })], Timestamp(9_000)), Timestamp(9_000));
        assert_eq!(busy_until(&[], Timestamp(9_000)), Timestamp(9_000));
    }

    #[test]
    fn bars_share_the_time_of_the_run_and_never_leave_it() {
        let at = Timestamp;
        let closed = Span::Closed { from: at(1_500), to: at(2_000), duration_ms: 500 };
        assert_eq!(closed.bar(at(1_000), at(2_000)), Some(Bar { left: 50.0, width: 50.0 }));
        let instant = Span::Closed { from: at(2_000), to: at(2_000), duration_ms: 0 };
        assert_eq!(instant.bar(at(1_000), at(2_000)), Some(Bar { left: 98.5, width: 1.5 }));
        assert_eq!(Span::Open { from: at(1_000) }.bar(at(1_000), at(1_000)), Some(Bar { left: 0.0, width: 1.5 }));
        assert_eq!(Span::None.bar(at(0), at(1)), None);
    }
}
