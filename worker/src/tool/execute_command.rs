//! `execute_command`: a line for `/bin/sh`, run as a supervised unit.
//!
//! References in the command have become expansions of variables before the call; no value is ever pasted into it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use weir_shared::run::event::ProcessReport;

use super::call::{StopReason, ToolCall, ToolFailure};
use super::toolbox::Answer;
use crate::process::{Ladder, Outcome, OutputLimits, Start, Supervisor, UnitEnd, UnitLimits, UnitSpec};

const DEFAULT_TIMEOUT_SECONDS: u64 = 60;
const DEFAULT_OUTPUT_CHARS: usize = 65_536;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    command: String,
    working_directory: Option<PathBuf>,
    timeout_seconds: Option<f64>,
    max_output_chars: Option<f64>,
    #[serde(default)]
    env: BTreeMap<String, Value>,
}

pub(super) fn declaration() -> Value {
    json!({
        "name": "execute_command",
        "title": "Run a command",
        "description": "Runs a command line with /bin/sh in the run's working directory and gives back what it \
                        printed. An exit code other than 0 is a failure.",
        "effect": "command",
        "idempotent": false,
        "group": "command",
        "timeoutSeconds": DEFAULT_TIMEOUT_SECONDS,
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["command"],
            "properties": {
                "command": {
                    "type": "string",
                    "minLength": 1,
                    "title": "Command",
                    "description": "What the shell runs. A reference stands for exactly one word, or one piece of \
                                    one, whatever its value.",
                    "examples": ["df -h / | tail -n 1"],
                    "x-weir-shell": true
                },
                "workingDirectory": {
                    "type": "string",
                    "minLength": 1,
                    "title": "Working directory",
                    "description": "Where it runs: absolute, or relative to the run's working directory, which is \
                                    where it runs when this is left out."
                },
                "timeoutSeconds": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "maximum": 86_400,
                    "default": DEFAULT_TIMEOUT_SECONDS,
                    "title": "Timeout",
                    "description": "Seconds the command may take before it is stopped."
                },
                "maxOutputChars": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 262_144,
                    "default": DEFAULT_OUTPUT_CHARS,
                    "title": "Most characters of output",
                    "description": "Characters of each stream in the result. Of a longer one the beginning and the \
                                    end are kept; the run's directory keeps more."
                },
                "env": {
                    "type": "object",
                    "maxProperties": 256,
                    "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": { "pattern": "^WEIR_" } },
                    "additionalProperties": { "type": ["string", "number", "boolean"] },
                    "title": "Environment",
                    "description": "Variables for the command, by name. Names that begin with WEIR_ are taken."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["success", "exitCode", "signal", "timedOut", "stdout", "stderr", "stdoutTruncated",
                         "stderrTruncated", "durationMs"],
            "properties": {
                "success": {
                    "type": "boolean", "title": "Success", "examples": [true],
                    "description": "Whether it ended by itself with exit code 0."
                },
                "exitCode": {
                    "type": ["integer", "null"], "title": "Exit code", "examples": [0],
                    "description": "Its exit code; null when a signal ended it."
                },
                "signal": {
                    "type": ["string", "null"], "title": "Signal", "examples": [null],
                    "description": "The name of the signal that ended it, if one did."
                },
                "timedOut": {
                    "type": "boolean", "title": "Timed out", "examples": [false],
                    "description": "Whether its time was up."
                },
                "stdout": {
                    "type": "string", "title": "Output", "examples": ["/dev/vda1  98G  41G  53G  44% /\n"],
                    "description": "What it wrote to its standard output."
                },
                "stderr": {
                    "type": "string", "title": "Error output", "examples": [""],
                    "description": "What it wrote to its standard error."
                },
                "stdoutTruncated": {
                    "type": "boolean", "title": "Output cut", "examples": [false],
                    "description": "Whether its output was longer than is shown."
                },
                "stderrTruncated": {
                    "type": "boolean", "title": "Error output cut", "examples": [false],
                    "description": "Whether its error output was longer than is shown."
                },
                "durationMs": {
                    "type": "integer", "title": "Duration", "examples": [12],
                    "description": "Milliseconds from its start to the end of all it started."
                }
            }
        },
        "node": {
            "label": "Command",
            "category": "Commands",
            "kind": "action",
            "color": "#d4a373",
            "icon": "terminal",
            "help": "Only PATH, HOME, USER, the language and the time zone of the worker's environment reach the \
                     command. Write `--` before a value that may begin with a hyphen.",
            "inputs": [
                { "name": "command", "widget": "textarea", "placeholder": "df -h /" },
                { "name": "workingDirectory", "widget": "text", "advanced": true },
                { "name": "timeoutSeconds", "widget": "number", "placeholder": "60" },
                { "name": "maxOutputChars", "widget": "number", "placeholder": "65536", "advanced": true },
                { "name": "env", "widget": "rows", "advanced": true }
            ]
        }
    })
}

/// Runs the command to the end of its whole tree.
pub(super) async fn call(
    supervisor: &Supervisor,
    arguments: Value,
    call: ToolCall,
    file_bytes: u64,
) -> (Answer, Option<Box<ProcessReport>>) {
    let arguments: Arguments = match serde_json::from_value(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return (Err(ToolFailure::because(format!("arguments do not fit: {error}"))), None),
    };
    let ToolCall { environment: references, identity, node_timeout, stop, run_dir, stopping, output, .. } = call;
    let mut environment: Vec<(String, String)> =
        arguments.env.into_iter().map(|(name, value)| (name, text(value))).collect();
    environment.extend(references);
    let directory = match &arguments.working_directory {
        Some(directory) => run_dir.work().join(directory),
        None => run_dir.work(),
    };
    let spec = UnitSpec {
        start: Start::Shell(arguments.command),
        environment,
        directory,
        identity,
        run_dir,
        ladder: Ladder::of(stop),
        timeout: Some(timeout(node_timeout, arguments.timeout_seconds)),
        output: OutputLimits {
            memory_chars: arguments.max_output_chars.map_or(DEFAULT_OUTPUT_CHARS, whole),
            file_bytes,
        },
        limits: UnitLimits::default(),
    };
    answer(supervisor.run(spec, stopping, output).await)
}

/// The least of those that are given; the default only when none is.
fn timeout(node: Option<Duration>, argument: Option<f64>) -> Duration {
    let argument = argument.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    node.into_iter().chain(argument).min().unwrap_or(Duration::from_secs(DEFAULT_TIMEOUT_SECONDS))
}

/// A number that the schema has found to be an integer within its limits.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 262,144 by the schema")]
fn whole(number: f64) -> usize {
    number as usize
}

fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn answer(end: UnitEnd) -> (Answer, Option<Box<ProcessReport>>) {
    let failure = end.failure();
    let UnitEnd { outcome, stopped, stdout, stderr, report, .. } = end;
    if let Some(message) = failure {
        let timed_out = stopped == Some(StopReason::TimedOut);
        return (Err(ToolFailure { message, timed_out, stopped }), Some(report));
    }
    let exit_code = match outcome {
        Outcome::Exited(code) => Some(code),
        Outcome::Signaled(_) | Outcome::Stuck | Outcome::NotStarted(_) | Outcome::Withheld => None,
    };
    let result = json!({
        "success": true,
        "exitCode": exit_code,
        "signal": null,
        "timedOut": false,
        "stdout": stdout.text,
        "stderr": stderr.text,
        "stdoutTruncated": stdout.truncated,
        "stderrTruncated": stderr.truncated,
        "durationMs": report.duration_ms,
    });
    (Ok(result), Some(report))
}
