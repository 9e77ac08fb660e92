//! `git_log`: the commits that changed the flow directory, newest first.

use serde::Deserialize;
use serde_json::{Value, json};

use super::command::{Called, Git};
use super::{TIMEOUT_SECONDS, path_arguments, paths_schema, revision_argument, revision_schema};
use crate::tool::call::ToolFailure;
use crate::tool::files::{read_arguments, whole};

const DEFAULT_COMMITS: u32 = 20;
const MOST_COMMITS: u32 = 500;
/// Characters of git's list; of a longer one the commits before the cut are kept.
const MOST_CHARS: usize = 1_048_576;
/// Hash, author, address, date, first line, the rest; a unit separator between, since no line break is safe.
const FORMAT: &str = "--format=%H%x1f%an%x1f%ae%x1f%aI%x1f%s%x1f%b";

#[derive(Debug, Deserialize)]
struct Arguments {
    revision: Option<String>,
    paths: Option<Vec<String>>,
    offset: Option<f64>,
    limit: Option<f64>,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "git_log",
        "title": "Git log",
        "description": "Lists the commits that changed the flow directory, newest first.",
        "effect": "read",
        "idempotent": true,
        "group": "git",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "revision": revision_schema("Where to begin; what is checked out when this is left out."),
                "paths": paths_schema(),
                "offset": {
                    "type": "integer", "minimum": 0, "maximum": u32::MAX, "default": 0,
                    "title": "Pass over",
                    "description": "How many of the newest commits to leave out."
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MOST_COMMITS, "default": DEFAULT_COMMITS,
                    "title": "Most commits",
                    "description": "Commits to list at most."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["commits", "truncated"],
            "properties": {
                "commits": {
                    "type": "array", "title": "Commits",
                    "examples": [[{
                        "hash": "8c3d4b0e5f6a79b1c2d3e4f5a6b7c8d9e0f1a2b3", "author": "Ada",
                        "email": "ada@example.org", "date": "2026-11-30T06:30:00+01:00",
                        "subject": "Ask before pruning", "body": ""
                    }]],
                    "description": "The commits.",
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["hash", "author", "email", "date", "subject", "body"],
                        "properties": {
                            "hash": { "type": "string", "title": "Hash", "description": "Its full name." },
                            "author": { "type": "string", "title": "Author", "description": "Who wrote it." },
                            "email": { "type": "string", "title": "Address", "description": "The author's address." },
                            "date": { "type": "string", "title": "Date", "description": "When it was written." },
                            "subject": { "type": "string", "title": "Subject", "description": "Its first line." },
                            "body": { "type": "string", "title": "Body", "description": "The rest of its message." }
                        }
                    }
                },
                "truncated": {
                    "type": "boolean", "title": "Cut", "examples": [true],
                    "description": "Whether there are older ones."
                }
            }
        },
        "node": {
            "label": "Git log",
            "category": "Git",
            "kind": "action",
            "color": "#d4a373",
            "icon": "git-branch",
            "inputs": [
                { "name": "limit", "widget": "number", "placeholder": "20" },
                { "name": "revision", "widget": "text", "placeholder": "HEAD", "advanced": true },
                { "name": "paths", "widget": "json", "advanced": true },
                { "name": "offset", "widget": "number", "placeholder": "0", "advanced": true }
            ]
        }
    })
}

/// Lists.
pub(in crate::tool) async fn call(arguments: Value, git: &Git<'_>) -> Called<Value> {
    let (arguments, limit) = command(arguments).map_err(|fault| (ToolFailure::because(fault), None))?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (said, report) = git.say(&arguments, MOST_CHARS).await?;
    let commits = read(&said.text, limit);
    // One more than asked for was looked for.
    let older = said.truncated || said.text.split_terminator('\0').count() > commits.len();
    Ok((json!({ "commits": commits, "truncated": older }), report))
}

fn command(arguments: Value) -> Result<(Vec<String>, usize), String> {
    let Arguments { revision, paths, offset, limit } = read_arguments(arguments)?;
    let limit = whole(limit, DEFAULT_COMMITS);
    let mut command = vec!["log".to_owned(), "-z".to_owned(), "--no-color".to_owned(), FORMAT.to_owned()];
    command.push(format!("--max-count={}", limit + 1));
    command.push(format!("--skip={}", whole(offset, 0)));
    command.extend(revision.map(revision_argument).transpose()?);
    command.extend(path_arguments(paths)?);
    Ok((command, limit as usize))
}

/// The commits of git's list, up to one that is not whole.
fn read(said: &str, limit: usize) -> Vec<Value> {
    let commit = |line: &str| {
        let fields: Vec<&str> = line.splitn(6, '\u{1f}').collect();
        let [hash, author, email, date, subject, body] = fields[..] else { return None };
        Some(json!({
            "hash": hash.trim_start(), "author": author, "email": email, "date": date, "subject": subject,
            "body": body.trim_end(),
        }))
    };
    said.split_terminator('\0').map_while(commit).take(limit).collect()
}
