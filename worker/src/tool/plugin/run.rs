//! One call of a plugin's tool: the folder is what was trusted, the program runs as a supervised unit, and what it
//! printed is the result.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use weir_shared::ids::ToolName;
use weir_shared::run::event::ProcessReport;

use super::folder::{self, FolderError};
use super::load::{PluginPlace, PluginTool};
use super::manifest::{InputForm, OutputForm};
use crate::process::{
    Ladder, Outcome, OutputLimits, Start, Supervisor, UnitEnd, UnitSpec, check_program, resolve_program,
};
use crate::tool::call::{StopReason, ToolCall, ToolFailure};
use crate::tool::schema::{ToolSchema, UnusableSchema};
use crate::tool::toolbox::Answer;

/// Characters of standard output that are read as JSON.
const JSON_CHARS: usize = 16 * 1024 * 1024;
/// Characters of each stream in a result of text; of a longer one the beginning and the end are kept.
const TEXT_CHARS: usize = 262_144;

/// The tools that plugins offer now, by name.
#[derive(Debug, Default)]
pub(in crate::tool) struct Offered(HashMap<String, Arc<OfferedTool>>);

/// A tool with its schemas, known to be usable.
#[derive(Debug)]
pub(in crate::tool) struct OfferedTool {
    tool: PluginTool,
    schema: ToolSchema,
}

impl Offered {
    /// Takes these tools. The manifests have been judged, so an unusable schema is a fault of that judgement; such a
    /// tool is left out and named.
    pub(in crate::tool) fn of(tools: Vec<PluginTool>) -> (Self, Vec<UnusableSchema>) {
        let (mut offered, mut unusable) = (HashMap::new(), Vec::new());
        for tool in tools {
            match ToolSchema::of(&tool.declaration) {
                Ok(schema) => {
                    let name = tool.declaration.name.clone();
                    offered.insert(name, Arc::new(OfferedTool { tool, schema }));
                }
                Err(error) => unusable.push(error),
            }
        }
        (Self(offered), unusable)
    }

    /// The tool of this name.
    pub(in crate::tool) fn get(&self, name: &ToolName) -> Option<Arc<OfferedTool>> {
        self.0.get(name.as_str()).cloned()
    }

    /// What the tools declare.
    pub(in crate::tool) fn declarations(&self) -> impl Iterator<Item = weir_shared::tool::ToolDeclaration> + '_ {
        self.0.values().map(|offered| offered.tool.declaration.clone())
    }
}

/// Makes one call, to the end of its whole tree.
pub(in crate::tool) async fn call(
    supervisor: &Supervisor,
    offered: &OfferedTool,
    arguments: Value,
    call: ToolCall,
    file_bytes: u64,
) -> (Answer, Option<Box<ProcessReport>>) {
    let OfferedTool { tool, schema } = offered;
    if let Err(faults) = schema.check_input(&arguments) {
        return failed(faults);
    }
    if let Err(refusal) = check_trust(&tool.plugin).await {
        return failed(refusal);
    }
    let (program, words) = match command(tool, &arguments, supervisor.search_path()) {
        Ok(command) => command,
        Err(fault) => return failed(fault),
    };
    let ToolCall { identity, node_timeout, stop, run_dir, stopping, output, .. } = call;
    let memory_chars = match tool.run.output {
        OutputForm::Json => JSON_CHARS,
        OutputForm::Text => TEXT_CHARS,
    };
    let spec = UnitSpec {
        start: Start::File { program, arguments: words },
        environment: listed(&tool.run.environment),
        directory: run_dir.work(),
        identity,
        run_dir,
        ladder: Ladder::of(stop),
        timeout: timeout(node_timeout, tool),
        output: OutputLimits { memory_chars, file_bytes },
        limits: tool.run.limits,
    };
    let end = match tool.run.input {
        InputForm::Json => supervisor.run_fed(spec, arguments.to_string().as_bytes(), stopping, output).await,
        InputForm::None => supervisor.run(spec, stopping, output).await,
    };
    let (answer, report) = answer(end, tool.run.output);
    let answer = answer.and_then(|result| check_result(tool, schema, result));
    (answer, Some(report))
}

fn failed(message: impl Into<String>) -> (Answer, Option<Box<ProcessReport>>) {
    (Err(ToolFailure::because(message)), None)
}

/// Reads the whole folder once more: what is started is what was looked at.
async fn check_trust(plugin: &Arc<PluginPlace>) -> Result<(), String> {
    let Some(trusted) = &plugin.trusted else {
        return Err(format!("the plugin `{}` is not trusted on this machine; see `weir trust`", plugin.id));
    };
    let place = Arc::clone(plugin);
    let read = tokio::task::spawn_blocking(move || folder::read(&place.folder)).await;
    let unreadable = |error: FolderError| {
        format!("the folder {} of the plugin `{}` cannot be read: {error}", plugin.folder.display(), plugin.id)
    };
    match read.map_err(|error| error.to_string())?.map_err(unreadable)? {
        now if now.digest == *trusted => Ok(()),
        _ => Err(format!(
            "the plugin `{}` has changed since it was trusted, so nothing of it is started; look at it and trust it \
             again with `weir trust {0}`",
            plugin.id
        )),
    }
}

/// The program and its arguments, each filled in and still one.
fn command(tool: &PluginTool, arguments: &Value, search: &OsStr) -> Result<(PathBuf, Vec<OsString>), String> {
    let mut words = Vec::with_capacity(tool.run.command.len());
    for template in &tool.run.command {
        let word = template.fill(arguments)?;
        if word.contains('\0') {
            return Err("an argument of the command would hold a NUL character".to_owned());
        }
        words.push(OsString::from(word));
    }
    let mut words = words.into_iter();
    let name = words.next().ok_or("the command is empty")?;
    let program = program(&tool.plugin.folder, &name.to_string_lossy(), search)?;
    Ok((program, words.collect()))
}

/// A relative name is in the plugin's folder; a bare one that is not there is a program of the system.
fn program(folder: &Path, name: &str, search: &OsStr) -> Result<PathBuf, String> {
    let own = folder.join(name);
    let program = if name.contains('/') || own.is_file() {
        own
    } else {
        resolve_program(name, search, folder).map_err(|error| error.to_string())?
    };
    check_program(&program).map_err(|error| error.to_string())?;
    Ok(program)
}

/// The worker's variables that the manifest lists, where the worker has them.
fn listed(names: &[String]) -> Vec<(String, String)> {
    names.iter().filter_map(|name| Some((name.clone(), std::env::var(name).ok()?))).collect()
}

/// The least of the node's and the plugin's own; the tool's default only when there is neither.
fn timeout(node: Option<Duration>, tool: &PluginTool) -> Option<Duration> {
    let default = tool.declaration.timeout_seconds.map(Duration::from_secs);
    node.into_iter().chain(tool.run.timeout).min().or(default)
}

/// What the end of the process means.
fn answer(end: UnitEnd, form: OutputForm) -> (Answer, Box<ProcessReport>) {
    let failure = end.failure();
    let UnitEnd { outcome, stopped, stdout, stderr, report, .. } = end;
    let exit_code = match outcome {
        Outcome::Exited(code) => Some(code),
        Outcome::Signaled(_) | Outcome::Stuck | Outcome::NotStarted(_) | Outcome::Withheld => None,
    };
    if let Some(message) = failure {
        let said = match (stopped, exit_code, form) {
            (None, Some(code), OutputForm::Json) => {
                said_error(&stdout.text).map(|error| format!("exit code {code}: {error}"))
            }
            (Some(_), _, _) | (_, None, _) | (_, _, OutputForm::Text) => None,
        };
        let timed_out = stopped == Some(StopReason::TimedOut);
        return (Err(ToolFailure { message: said.unwrap_or(message), timed_out, stopped }), report);
    }
    let result = match form {
        OutputForm::Text => Ok(json!({ "stdout": stdout.text, "stderr": stderr.text, "exitCode": exit_code })),
        OutputForm::Json if stdout.truncated => Err(ToolFailure::because(format!(
            "standard output is longer than the {JSON_CHARS} characters of a JSON result"
        ))),
        OutputForm::Json => serde_json::from_str(&stdout.text).map_err(|error| {
            let what =
                if stdout.text.trim().is_empty() { "is empty".to_owned() } else { format!("is no JSON: {error}") };
            ToolFailure::because(format!("standard output {what}; the tool declares that it is one JSON value"))
        }),
    };
    (result, report)
}

/// The `error` of what a failed program printed.
fn said_error(stdout: &str) -> Option<String> {
    let said: Value = serde_json::from_str(stdout).ok()?;
    match said.get("error")? {
        Value::String(error) if !error.trim().is_empty() => Some(error.clone()),
        Value::Null | Value::String(_) => None,
        other => Some(other.to_string()),
    }
}

/// Holds a result against what the tool declares.
fn check_result(tool: &PluginTool, schema: &ToolSchema, result: Value) -> Answer {
    schema.check_output(&result).map_err(ToolFailure::because)?;
    let ports = &tool.declaration.ports;
    let branch = result.get("branch").and_then(Value::as_str);
    if !ports.is_empty() && !branch.is_some_and(|branch| ports.iter().any(|port| port == branch)) {
        let message = format!("the result is not what the tool declares: `branch` is none of {}", ports.join(", "));
        return Err(ToolFailure::because(message));
    }
    Ok(result)
}
