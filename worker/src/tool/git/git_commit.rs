//! `git_commit`: keeps what has changed in the flow directory.

use serde::Deserialize;
use serde_json::{Value, json};

use super::command::{Called, Git};
use super::{TIMEOUT_SECONDS, path_arguments, paths_schema};
use crate::tool::call::ToolFailure;
use crate::tool::files::read_arguments;

/// Characters of what git says of a commit.
const MOST_CHARS: usize = 4_096;

#[derive(Debug, Deserialize)]
struct Arguments {
    message: String,
    paths: Option<Vec<String>>,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "git_commit",
        "title": "Git commit",
        "description": "Commits what has changed in the flow directory, new files and deletions too. What else is \
                        staged stays staged. Hooks of the repository are not run.",
        "effect": "command",
        "idempotent": false,
        "group": "git",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["message"],
            "properties": {
                "message": {
                    "type": "string", "minLength": 1, "maxLength": 20_000,
                    "title": "Message",
                    "description": "What the commit says of itself; its first line is its subject.",
                    "examples": ["Ask before pruning"]
                },
                "paths": paths_schema()
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["committed", "hash"],
            "properties": {
                "committed": {
                    "type": "boolean", "title": "Committed", "examples": [true],
                    "description": "Whether there was anything to commit."
                },
                "hash": {
                    "type": ["string", "null"], "title": "Hash",
                    "examples": ["8c3d4b0e5f6a79b1c2d3e4f5a6b7c8d9e0f1a2b3"],
                    "description": "The name of the new commit; null when there is none."
                }
            }
        },
        "node": {
            "label": "Git commit",
            "category": "Git",
            "kind": "action",
            "color": "#d4a373",
            "icon": "git-commit",
            "inputs": [
                { "name": "message", "widget": "textarea", "placeholder": "Ask before pruning" },
                { "name": "paths", "widget": "json", "advanced": true }
            ]
        }
    })
}

/// Commits.
pub(in crate::tool) async fn call(arguments: Value, git: &Git<'_>) -> Called<Value> {
    let (message, paths) = read(arguments).map_err(|fault| (ToolFailure::because(fault), None))?;
    let with_paths = |fixed: &[&str]| -> Vec<String> {
        fixed.iter().copied().map(str::to_owned).chain(paths.iter().cloned()).collect()
    };
    git.ask(&words(&with_paths(&["add", "--all"]))).await?;
    let changed = with_paths(&["diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv"]);
    let (is_changed, report) = git.is_so(&words(&changed)).await?;
    if !is_changed {
        return Ok((json!({ "committed": false, "hash": null }), report));
    }
    let commit = with_paths(&["commit", "--quiet", "--no-edit", "--no-status", &message, "--only"]);
    let (_, report) = git.say(&words(&commit), MOST_CHARS).await?;
    let (hash, _) = git.ask(&["rev-parse", "HEAD"]).await?;
    Ok((json!({ "committed": true, "hash": hash.trim_end() }), report))
}

fn read(arguments: Value) -> Result<(String, Vec<String>), String> {
    let Arguments { message, paths } = read_arguments(arguments)?;
    Ok((format!("--message={message}"), path_arguments(paths)?))
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}
