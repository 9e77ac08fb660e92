//! Who answers within a turn of a run: the guard, and the disk.
//!
//! It reads files only for a step that asks, or that was approved: what runs without a gate costs nothing here.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use weir_shared::ids::StepIndex;
use weir_shared::plan::Step;
use weir_shared::reference::{Resolved, has_raw_shell, resolve_args};
use weir_shared::run::decide::Verdict;
use weir_shared::run::event::{CoveredFile, VerdictKind};
use weir_shared::run::state::RunState;
use weir_shared::run::turn::Guard;
use weir_shared::run::values::{RunValues, WholeResults};
use weir_shared::tool::{Catalog, ToolDeclaration};

use crate::guard::{self, CommandFiles};
use crate::run_dir::RunDirectory;
use crate::tool::Toolbox;

/// The guard of one run, for one turn.
pub(super) struct RunGuard<'a> {
    pub(super) toolbox: &'a Toolbox,
    pub(super) catalog: &'a Catalog,
    pub(super) whole: &'a WholeResults,
    /// Arguments of steps that were judged in an earlier turn.
    pub(super) resolved: &'a BTreeMap<StepIndex, Resolved>,
    pub(super) run_dir: RunDirectory,
}

impl Guard for RunGuard<'_> {
    fn judge(&mut self, state: &RunState, step: &Step, resolved: &Resolved) -> Verdict {
        let tool = self.catalog.get(step.tool_name.as_str());
        let effect = tool.map(ToolDeclaration::guarded_effect).unwrap_or_default();
        let config = state.created.as_ref().map(|created| created.config.clone()).unwrap_or_default();
        let mut verdict = match tool {
            Some(tool) if has_raw_shell(step, tool) => guard::raw_shell(),
            _ => guard::judge(step, effect, &config),
        };
        if let (VerdictKind::Ask, Some(tool)) = (verdict.kind, tool) {
            verdict.files = self.files(tool, resolved);
        }
        verdict
    }

    fn look_again(&mut self, state: &RunState, step: &Step) -> Vec<CoveredFile> {
        let Some(tool) = self.catalog.get(step.tool_name.as_str()) else { return Vec::new() };
        if let Some(resolved) = self.resolved.get(&step.index) {
            return self.files(tool, resolved);
        }
        // Resolved again, to the same, after a restart.
        let values = RunValues { state, whole: self.whole };
        resolve_args(step, tool, &values).map_or_else(|_| Vec::new(), |resolved| self.files(tool, &resolved))
    }
}

impl RunGuard<'_> {
    /// The files that the commands among these arguments name.
    fn files(&self, tool: &ToolDeclaration, resolved: &Resolved) -> Vec<CoveredFile> {
        let commands = resolved.call.iter().filter(|(name, _)| tool.is_shell(name));
        let commands: Vec<&str> = commands.filter_map(|(_, value)| value.as_str()).collect();
        if commands.is_empty() {
            return Vec::new();
        }
        let text = |name: &str| resolved.call.get(name).and_then(Value::as_str);
        let directory = self.run_dir.work().join(text("workingDirectory").unwrap_or_default());
        let own = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        let mut variables: BTreeMap<String, String> = BTreeMap::new();
        variables.extend(std::env::var("HOME").ok().map(|home| ("HOME".to_owned(), home)));
        variables.extend(resolved.call.get("env").and_then(Value::as_object).into_iter().flatten().filter_map(own));
        variables.insert("WEIR_RUN_DIR".to_owned(), self.run_dir.path().display().to_string());
        variables.extend(resolved.environment.iter().cloned());
        self.look(&commands, variables, &directory)
    }

    /// Reading may take a moment, which other runs need not wait for.
    fn look(&self, commands: &[&str], variables: BTreeMap<String, String>, directory: &Path) -> Vec<CoveredFile> {
        let files = CommandFiles { variables, directory, search: self.toolbox.search_path() };
        let look = || commands.iter().flat_map(|command| files.of(command)).collect();
        match tokio::runtime::Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(tokio::runtime::RuntimeFlavor::MultiThread) => tokio::task::block_in_place(look),
            _ => look(),
        }
    }
}
