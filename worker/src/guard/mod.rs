//! Asked once per step, with resolved arguments, before its gate: allow, ask or deny.
//!
//! Pure so far: the permission mode as a table, and the node's own `approval`. Rules, hooks and the floor come before
//! the table once they exist; until then every command counts as risky. What an approval covers beside the arguments,
//! the files that a command names, is found in `command_files`.

mod command_files;
pub(crate) mod modes;

pub(crate) use command_files::CommandFiles;

use weir_shared::flow::PermissionMode;
use weir_shared::plan::{Plan, Step};
use weir_shared::reference::has_raw_shell;
use weir_shared::run::decide::Verdict;
use weir_shared::run::event::{RunConfig, VerdictKind};
use weir_shared::tool::{Catalog, Effect, ToolDeclaration};

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

/// The steps that could open a gate in this mode, by node where they come from one: what nobody could answer in a run
/// that no person watches.
pub(crate) fn could_open_gates(plan: &Plan, catalog: &Catalog, mode: PermissionMode) -> Vec<String> {
    let config = RunConfig { permission_mode: mode, ..RunConfig::default() };
    let opens = |step: &&Step| {
        let tool = catalog.get(step.tool_name.as_str());
        // A tool that is not there now may be anything when it comes back.
        let effect = tool.map_or(Effect::External, ToolDeclaration::guarded_effect);
        let pastes = tool.is_some_and(|tool| has_raw_shell(step, tool));
        pastes || judge(step, effect, &config).kind == VerdictKind::Ask
    };
    plan.steps.iter().filter(|step| !step.disabled).filter(opens).map(name).collect()
}

/// What a step is called where a person has to find it: its node, where it comes from one.
pub(crate) fn name(step: &Step) -> String {
    step.node_id.as_ref().map_or_else(|| format!("step {}", step.index), ToString::to_string)
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
    fn the_steps_that_nobody_could_answer_for_are_named() {
        let tool = |name: &str, effect: &str, schema: serde_json::Value| -> ToolDeclaration {
            let written = serde_json::json!({
                "name": name, "title": name, "description": "", "effect": effect, "group": "", "inputSchema": schema,
                "source": "builtin", "trusted": true
            });
            serde_json::from_value(written).unwrap()
        };
        let command = serde_json::json!({ "properties": { "command": { "type": "string", "x-weir-shell": true } } });
        let catalog = Catalog::new([
            tool("read_it", "read", serde_json::json!({})),
            tool("write_it", "write", serde_json::json!({})),
            tool("run_it", "command", command),
        ]);
        let plan: Plan = serde_json::from_value(serde_json::json!({ "steps": [
            { "index": 0, "nodeId": "look", "toolName": "read_it" },
            { "index": 1, "nodeId": "keep", "toolName": "write_it" },
            { "index": 2, "nodeId": "go", "toolName": "run_it", "args": { "command": "true" } },
            { "index": 3, "nodeId": "paste", "toolName": "run_it", "args": { "command": "{{ inputs.a | shell }}" } },
            { "index": 4, "nodeId": "asked", "toolName": "read_it", "requiresApproval": true },
            { "index": 5, "nodeId": "off", "toolName": "run_it", "disabled": true },
            { "index": 6, "toolName": "gone" }
        ] }))
        .unwrap();
        let named = |mode| could_open_gates(&plan, &catalog, mode);
        assert_eq!(named(PermissionMode::AskForApproval), ["keep", "go", "paste", "asked", "step 6"]);
        assert_eq!(named(PermissionMode::ApproveForMe), ["go", "paste", "asked", "step 6"]);
        assert_eq!(named(PermissionMode::FullAccess), ["paste"]);
    }

    #[test]
    fn require_step_approval_false_lifts_the_tables_ask() {
        let step = Step::new(StepIndex(0), "execute_command".parse().unwrap());
        let config = RunConfig { require_step_approval: false, ..RunConfig::default() };
        assert_eq!(judge(&step, Effect::Command, &config).kind, VerdictKind::Allow);
        assert_eq!(judge(&step, Effect::Command, &RunConfig::default()).kind, VerdictKind::Ask);
    }
}
