//! A run as lines for a person who watches it.

use std::collections::BTreeMap;

use weir_shared::ids::StepIndex;
use weir_shared::plan::Step;
use weir_shared::run::event::{Event, SkipReason};

use super::output::took;

/// What has been seen of a run.
#[derive(Debug, Default)]
pub(super) struct Progress {
    labels: BTreeMap<StepIndex, String>,
    ended: usize,
}

impl Progress {
    /// What an event is worth saying.
    pub(super) fn lines(&mut self, event: &Event) -> Vec<String> {
        match event {
            Event::PlanReady(plan) => {
                self.labels = plan.steps.iter().map(|step| (step.index, Step::label(step).to_owned())).collect();
                Vec::new()
            }
            Event::StepStart { index, attempt, .. } => {
                let again = if *attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
                vec![format!("  {} …{again}", self.label(*index))]
            }
            Event::StepComplete { index, duration_ms, .. } => {
                vec![self.ended(*index, &format!("done in {}", took(*duration_ms)))]
            }
            Event::StepSkipped { index, reason } => {
                let why = match reason {
                    SkipReason::Disabled => "disabled",
                    SkipReason::Branch => "its branch was not taken",
                    SkipReason::Prerequisites => "everything before it was skipped",
                    SkipReason::Reference => "it refers to a skipped step",
                };
                vec![self.ended(*index, &format!("skipped: {why}"))]
            }
            Event::StepFailed(end) => vec![self.ended(end.index, &format!("failed: {}", end.error))],
            Event::StepCancelled(end) => vec![self.ended(end.index, "cancelled")],
            Event::StepInterrupted(end) => vec![self.ended(end.index, "interrupted")],
            Event::StepRetry { index, error, delay_ms, .. } => {
                vec![format!("  {}: {error}; again in {}", self.label(*index), took(*delay_ms))]
            }
            Event::StepApprovalRequested { index, args, reason, .. } => {
                let args = serde_json::to_string_pretty(args).unwrap_or_default();
                vec![format!("  {} waits for approval: {reason}", self.label(*index)), args]
            }
            Event::PlanApprovalRequested { .. } => vec!["  the plan waits for approval".to_owned()],
            Event::ApprovalResolved { approved, by, .. } => {
                vec![format!("  {} by {by}", if *approved { "approved" } else { "rejected" })]
            }
            Event::CancelRequested { by } => vec![format!("  cancel asked by {by}")],
            Event::HookFailed { hook, error, .. } => vec![format!("  hook {hook} failed: {error}")],
            Event::RunCreated(_)
            | Event::RunStarted { .. }
            | Event::StepDecided { .. }
            | Event::Complete { .. }
            | Event::Error { .. } => Vec::new(),
        }
    }

    fn label(&self, index: StepIndex) -> String {
        self.labels.get(&index).cloned().unwrap_or_else(|| format!("step {index}"))
    }

    fn ended(&mut self, index: StepIndex, how: &str) -> String {
        self.ended += 1;
        format!("[{}/{}] {}: {how}", self.ended, self.labels.len(), self.label(index))
    }
}
