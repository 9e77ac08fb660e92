//! `git_diff`: what has changed in the flow directory, line by line.

use serde::Deserialize;
use serde_json::{Value, json};

use super::command::{Called, Git};
use super::{TIMEOUT_SECONDS, path_arguments, paths_schema, revision_argument, revision_schema};
use crate::tool::call::ToolFailure;
use crate::tool::files::{read_arguments, whole};

const DEFAULT_CHARS: u32 = 65_536;
const MOST_CHARS: u32 = 262_144;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    #[serde(default)]
    staged: bool,
    revision: Option<String>,
    paths: Option<Vec<String>>,
    max_chars: Option<f64>,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "git_diff",
        "title": "Git diff",
        "description": "Shows what has changed in the flow directory, line by line.",
        "effect": "read",
        "idempotent": true,
        "group": "git",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "staged": {
                    "type": "boolean", "default": false,
                    "title": "Staged",
                    "description": "What is staged for the next commit, instead of what is not."
                },
                "revision": revision_schema("What to compare with: a commit, a branch, or two with `..` between."),
                "paths": paths_schema(),
                "maxChars": {
                    "type": "integer", "minimum": 1, "maximum": MOST_CHARS, "default": DEFAULT_CHARS,
                    "title": "Most characters",
                    "description": "Of a longer diff the beginning and the end are kept."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["diff", "changed", "truncated"],
            "properties": {
                "diff": {
                    "type": "string", "title": "Diff",
                    "examples": ["--- a/report.flow.json\n+++ b/report.flow.json\n@@ -1 +1 @@\n-old\n+new\n"],
                    "description": "The unified diff; empty when nothing has changed."
                },
                "changed": {
                    "type": "boolean", "title": "Changed", "examples": [true],
                    "description": "Whether anything has changed."
                },
                "truncated": {
                    "type": "boolean", "title": "Cut", "examples": [false],
                    "description": "Whether the diff was longer than is shown."
                }
            }
        },
        "node": {
            "label": "Git diff",
            "category": "Git",
            "kind": "action",
            "color": "#d4a373",
            "icon": "git-branch",
            "inputs": [
                { "name": "staged", "widget": "switch" },
                { "name": "revision", "widget": "text", "placeholder": "HEAD~1" },
                { "name": "paths", "widget": "json", "advanced": true },
                { "name": "maxChars", "widget": "number", "placeholder": "65536", "advanced": true }
            ]
        }
    })
}

/// Shows.
pub(in crate::tool) async fn call(arguments: Value, git: &Git<'_>) -> Called<Value> {
    let (arguments, most) = command(arguments).map_err(|fault| (ToolFailure::because(fault), None))?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (said, report) = git.say(&arguments, most).await?;
    let changed = said.bytes > 0;
    Ok((json!({ "diff": said.text, "changed": changed, "truncated": said.truncated }), report))
}

fn command(arguments: Value) -> Result<(Vec<String>, usize), String> {
    let Arguments { staged, revision, paths, max_chars } = read_arguments(arguments)?;
    let fixed = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--relative"];
    let mut command: Vec<String> = fixed.map(str::to_owned).to_vec();
    command.extend(staged.then(|| "--cached".to_owned()));
    command.extend(revision.map(revision_argument).transpose()?);
    command.extend(path_arguments(paths)?);
    Ok((command, whole(max_chars, DEFAULT_CHARS) as usize))
}
