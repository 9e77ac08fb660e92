//! Asked once per step, with resolved arguments, before its gate: allow, ask or deny.
//!
//! Pure so far: the permission mode as a table, and the node's own `approval`. Rules, hooks and the floor come before
//! the table once they exist; until then every command counts as risky. What an approval covers beside the arguments,
//! the files that a command names, is found in `command_files`.

mod command_files;
pub(crate) mod modes;

pub(crate) use command_files::CommandFiles;

use weir_shared::flow::PermissionMode;
use weir_shared::plan::Step;
use weir_shared::run::decide::Verdict;
use weir_shared::run::event::{RunConfig, VerdictKind};
use weir_shared::tool::Effect;

/// The guard's answer for one step of a run.
///
/// `approval: true` asks in every mode but full access. An ask of the mode table is lifted by
/// `requireStepApproval: false`.
pub(crate) fn judge(step: &Step, effect: Effect, config: &RunConfig) -> Verdict {
    let mode = config.permission_mode;
    let verdict = |kind, source: String| Verdict { kind, source, segment: None, files: Vec::new() };
    if step.requires_approval && mode != PermissionMode::FullAccess {
        return verdict(VerdictKind::Ask, "approval: true on the step".to_owned());
    }
    let name = modes::name(mode);
    match modes::table(mode, effect) {
        VerdictKind::Ask if !config.require_step_approval => {
            verdict(VerdictKind::Allow, format!("permission mode {name}, requireStepApproval: false"))
        }
        kind => verdict(kind, format!("permission mode {name}")),
    }
}

/// The answer for a command that has text pasted into it: asked about in every mode.
pub(crate) fn raw_shell() -> Verdict {
    let source = "| shell in the command".to_owned();
    Verdict { kind: VerdictKind::Ask, source, segment: None, files: Vec::new() }
}

#[cfg(test)]
mod tests {
    use weir_shared::ids::StepIndex;

    use super::*;

    #[test]
    fn approval_true_asks_in_every_mode_but_full_access() {
        let mut step = Step::new(StepIndex(0), "delay".parse().unwrap());
        step.requires_approval = true;
        let config = |permission_mode, require_step_approval| RunConfig {
            permission_mode,
            require_step_approval,
            ..RunConfig::default()
        };
        for mode in [PermissionMode::AskForApproval, PermissionMode::ApproveForMe] {
            assert_eq!(judge(&step, Effect::Read, &config(mode, false)).kind, VerdictKind::Ask);
        }
        assert_eq!(judge(&step, Effect::Read, &config(PermissionMode::FullAccess, true)).kind, VerdictKind::Allow);
    }

    #[test]
    fn require_step_approval_false_lifts_the_tables_ask() {
        let step = Step::new(StepIndex(0), "execute_command".parse().unwrap());
        let config = RunConfig { require_step_approval: false, ..RunConfig::default() };
        assert_eq!(judge(&step, Effect::Command, &config).kind, VerdictKind::Allow);
        assert_eq!(judge(&step, Effect::Command, &RunConfig::default()).kind, VerdictKind::Ask);
    }
}
