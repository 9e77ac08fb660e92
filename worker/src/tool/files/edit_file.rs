//! `edit_file`: one passage of a text file for another.

use std::io::Read as _;

use serde::Deserialize;
use serde_json::{Value, json};
use similar::TextDiff;

use super::replace::{Existing, write_whole};
use super::{Roots, path_schema, read_arguments, shown_path_schema};

/// Bytes of a file that is edited at all.
const MOST_BYTES: u64 = 2 * 1024 * 1024;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    path: String,
    old_text: String,
    new_text: String,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "edit_file",
        "title": "Edit a file",
        "description": "Replaces one passage of a text file. The old text has to be there exactly once; else nothing \
                        is changed, and it is a failure.",
        "effect": "write",
        "idempotent": false,
        "group": "files",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "oldText", "newText"],
            "properties": {
                "path": path_schema("Path", "The file, of at most 2 MiB."),
                "oldText": {
                    "type": "string", "minLength": 1,
                    "title": "Old text",
                    "description": "The passage to replace, to the letter.",
                    "examples": ["status: draft"]
                },
                "newText": {
                    "type": "string",
                    "title": "New text",
                    "description": "What to put there.",
                    "examples": ["status: final"]
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "diff"],
            "properties": {
                "path": shown_path_schema(),
                "diff": {
                    "type": "string", "title": "Difference", "description": "What has changed, as a unified diff.",
                    "examples": ["--- report.md\n+++ report.md\n@@ -1 +1 @@\n-status: draft\n+status: final\n"]
                }
            }
        },
        "node": {
            "label": "Edit file",
            "category": "Files",
            "kind": "action",
            "color": "#d4a373",
            "icon": "file-pencil",
            "inputs": [
                { "name": "path", "widget": "text", "placeholder": "report.md" },
                { "name": "oldText", "widget": "textarea" },
                { "name": "newText", "widget": "textarea" }
            ]
        }
    })
}

/// Edits.
pub(in crate::tool) fn call(arguments: Value, roots: &Roots) -> Result<Value, String> {
    let Arguments { path, old_text, new_text } = read_arguments(arguments)?;
    let place = roots.place(&path)?;
    let slot = place.slot()?;
    let mut before = String::new();
    place.open_file()?.take(MOST_BYTES + 1).read_to_string(&mut before).map_err(|error| format!("{path}: {error}"))?;
    if before.len() as u64 > MOST_BYTES {
        return Err(format!("{path} is larger than 2 MiB"));
    }
    let mut found = before.match_indices(&old_text);
    let Some((at, _)) = found.next() else {
        return Err(format!("{path} does not hold the old text"));
    };
    // Looked for again one character on, so that overlapping passages count too.
    let next = at + before[at..].chars().next().map_or(1, char::len_utf8);
    if before[next..].contains(&old_text) {
        return Err(format!("{path} holds the old text more than once; name more of what is around it"));
    }
    let after = format!("{}{new_text}{}", &before[..at], &before[at + old_text.len()..]);
    write_whole(&slot, after.as_bytes(), Existing::Replace)?;
    let diff = TextDiff::from_lines(&before, &after).unified_diff().header(&path, &path).to_string();
    Ok(json!({ "path": path, "diff": diff }))
}
