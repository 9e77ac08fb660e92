//! The git tools: what has changed in the flow directory, what was changed before, and keeping it.
//!
//! All of them call the `git` program through `command`, in the flow directory and about what is in it alone.
//!
//! - `command`: how git is called, and what of a repository's configuration it is told to leave alone
//! - one file a tool

pub(super) mod command;
pub(super) mod git_commit;
pub(super) mod git_diff;
pub(super) mod git_log;
pub(super) mod git_status;

use serde_json::{Value, json};

use self::command::{Called, Git};

/// One of the git tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitTool {
    Status,
    Diff,
    Log,
    Commit,
}

impl GitTool {
    /// Calls it.
    pub(super) async fn call(self, arguments: Value, git: &Git<'_>) -> Called<Value> {
        match self {
            GitTool::Status => git_status::call(git).await,
            GitTool::Diff => git_diff::call(arguments, git).await,
            GitTool::Log => git_log::call(arguments, git).await,
            GitTool::Commit => git_commit::call(arguments, git).await,
        }
    }
}

/// Seconds a call may take.
const TIMEOUT_SECONDS: u64 = 60;

/// The schema of an argument that narrows a call to some files.
fn paths_schema() -> Value {
    json!({
        "type": "array",
        "minItems": 1,
        "maxItems": 1_000,
        "items": { "type": "string", "minLength": 1, "title": "Path", "description": "A file or a directory." },
        "title": "Paths",
        "description": "Files and directories in the flow directory, from there; all of it when this is left out.",
        "examples": [["report.flow.json"]]
    })
}

/// The schema of an argument that names a revision.
fn revision_schema(description: &str) -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 1_000,
        "title": "Revision",
        "description": description,
        "examples": ["HEAD~1"]
    })
}

/// The part of a call that names files. Nothing in it is a pattern.
fn path_arguments(paths: Option<Vec<String>>) -> Result<Vec<String>, String> {
    let paths = paths.unwrap_or_else(|| vec![".".to_owned()]);
    let leads_out = |path: &&String| path.starts_with('/') || path.split('/').any(|part| part == "..");
    if let Some(path) = paths.iter().find(leads_out) {
        return Err(format!("{path}: a path is one in the flow directory, from there"));
    }
    Ok(std::iter::once("--".to_owned()).chain(paths).collect())
}

/// A revision that cannot be taken for an option.
fn revision_argument(revision: String) -> Result<String, String> {
    if revision.starts_with('-') {
        return Err(format!("{revision}: a revision does not begin with a hyphen"));
    }
    Ok(revision)
}

#[cfg(test)]
mod tests;
