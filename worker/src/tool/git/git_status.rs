//! `git_status`: what has changed in the flow directory since the last commit.

use serde_json::{Value, json};

use super::TIMEOUT_SECONDS;
use super::command::{Called, Git};

/// Characters of git's list; more are cut off.
const MOST_CHARS: usize = 1_048_576;

pub(in crate::tool) fn declaration() -> Value {
    let change = |title: &str, description: &str| {
        json!({
            "type": ["string", "null"],
            "enum": ["added", "modified", "deleted", "renamed", "copied", "type_changed", "untracked", "conflicted",
                     null],
            "title": title,
            "description": description
        })
    };
    json!({
        "name": "git_status",
        "title": "Git status",
        "description": "Tells what has changed in the flow directory since the last commit.",
        "effect": "read",
        "idempotent": true,
        "group": "git",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "properties": {}
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["branch", "upstream", "ahead", "behind", "clean", "entries", "truncated"],
            "properties": {
                "branch": {
                    "type": ["string", "null"], "title": "Branch", "examples": ["main"],
                    "description": "The branch; null when none is checked out."
                },
                "upstream": {
                    "type": ["string", "null"], "title": "Upstream", "examples": ["origin/main"],
                    "description": "The branch it follows, if it follows one."
                },
                "ahead": {
                    "type": "integer", "title": "Ahead", "examples": [1],
                    "description": "Commits that the upstream does not have."
                },
                "behind": {
                    "type": "integer", "title": "Behind", "examples": [0],
                    "description": "Commits of the upstream that the branch does not have."
                },
                "clean": {
                    "type": "boolean", "title": "Clean", "examples": [false],
                    "description": "Whether nothing has changed."
                },
                "entries": {
                    "type": "array", "title": "Changes",
                    "examples": [[{ "path": "report.flow.json", "staged": null, "unstaged": "modified",
                                    "from": null }]],
                    "description": "What has changed, file by file.",
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["path", "staged", "unstaged", "from"],
                        "properties": {
                            "path": {
                                "type": "string", "title": "Path", "description": "The file, from the flow directory."
                            },
                            "staged": change("Staged", "What the next commit holds of it."),
                            "unstaged": change("Not staged", "What has changed beside that."),
                            "from": {
                                "type": ["string", "null"], "title": "From",
                                "description": "What it was called before, if it was renamed or copied."
                            }
                        }
                    }
                },
                "truncated": {
                    "type": "boolean", "title": "Cut", "examples": [false],
                    "description": "Whether there are more changes than are listed."
                }
            }
        },
        "node": {
            "label": "Git status",
            "category": "Git",
            "kind": "action",
            "color": "#d4a373",
            "icon": "git-branch",
            "inputs": []
        }
    })
}

/// Tells.
pub(in crate::tool) async fn call(git: &Git<'_>) -> Called<Value> {
    let (prefix, _) = git.prefix().await?;
    let arguments =
        ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=dirty", "--", "."];
    let (said, report) = git.say(&arguments, MOST_CHARS).await?;
    let mut status = read(&said.text, &prefix);
    status["truncated"] = said.truncated.into();
    Ok((status, report))
}

/// Reads git's list, version 2 with NULs. What does not look like a line of it is passed over: a list that is too
/// long has a mark in it.
fn read(said: &str, prefix: &str) -> Value {
    let (mut branch, mut upstream, mut ahead, mut behind) = (Value::Null, Value::Null, 0, 0);
    let mut entries = Vec::new();
    let from_here = |path: &str| match path.strip_prefix(prefix) {
        Some(path) => path.to_owned(),
        // As git itself says it of what is elsewhere in the repository.
        None => format!(":/{path}"),
    };
    let mut lines = said.split('\0');
    while let Some(line) = lines.next() {
        let Some((kind, rest)) = line.split_once(' ') else { continue };
        let words_before_path = match kind {
            "#" => {
                match rest.split_once(' ') {
                    Some(("branch.head", "(detached)")) | None => {}
                    Some(("branch.head", name)) => branch = name.into(),
                    Some(("branch.upstream", name)) => upstream = name.into(),
                    Some(("branch.ab", counts)) => {
                        let mut counts = counts.split(' ').map(|count| count[1..].parse().unwrap_or(0));
                        (ahead, behind) = (counts.next().unwrap_or(0), counts.next().unwrap_or(0));
                    }
                    Some(_) => {}
                }
                continue;
            }
            "?" => {
                let path = from_here(rest);
                entries.push(json!({ "path": path, "staged": null, "unstaged": "untracked", "from": null }));
                continue;
            }
            "1" => 7,
            "2" => 8,
            "u" => 9,
            _ => continue,
        };
        let words: Vec<&str> = rest.splitn(words_before_path + 1, ' ').collect();
        let (Some(changes), Some(path)) = (words.first(), words.get(words_before_path)) else { continue };
        let from = if kind == "2" { lines.next().map(from_here) } else { None };
        let mut changes = changes.chars();
        let (staged, unstaged) = match kind {
            "u" => (Some("conflicted"), Some("conflicted")),
            _ => (changes.next().and_then(change), changes.next().and_then(change)),
        };
        entries.push(json!({ "path": from_here(path), "staged": staged, "unstaged": unstaged, "from": from }));
    }
    json!({
        "branch": branch, "upstream": upstream, "ahead": ahead, "behind": behind, "clean": entries.is_empty(),
        "entries": entries, "truncated": false,
    })
}

/// Git's letter for a change, as a word.
fn change(letter: char) -> Option<&'static str> {
    match letter {
        'A' => Some("added"),
        'M' => Some("modified"),
        'D' => Some("deleted"),
        'R' => Some("renamed"),
        'C' => Some("copied"),
        'T' => Some("type_changed"),
        'U' => Some("conflicted"),
        _ => None,
    }
}
