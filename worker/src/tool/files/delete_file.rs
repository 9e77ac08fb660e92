//! `delete_file`: one file, link or empty directory, and only on an explicit word.

use rustix::fs::{AtFlags, FileType, statat, unlinkat};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Roots, path_schema, read_arguments, shown_path_schema};

#[derive(Debug, Deserialize)]
struct Arguments {
    path: String,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "delete_file",
        "title": "Delete a file",
        "description": "Deletes one file, one link (not what it leads to) or one empty directory.",
        "effect": "write",
        "idempotent": false,
        "group": "files",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "confirm"],
            "properties": {
                "path": path_schema("Path", "What is deleted."),
                "confirm": {
                    "type": "boolean", "const": true,
                    "title": "Confirm",
                    "description": "Has to be true: what is deleted does not come back."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "deleted"],
            "properties": {
                "path": shown_path_schema(),
                "deleted": {
                    "type": "boolean", "title": "Deleted", "examples": [true],
                    "description": "Always true: anything else is a failure."
                }
            }
        },
        "node": {
            "label": "Delete file",
            "category": "Files",
            "kind": "action",
            "color": "#d4a373",
            "icon": "trash",
            "inputs": [
                { "name": "path", "widget": "text", "placeholder": "report.part" },
                { "name": "confirm", "widget": "switch" }
            ]
        }
    })
}

/// Deletes.
pub(in crate::tool) fn call(arguments: Value, roots: &Roots) -> Result<Value, String> {
    let Arguments { path } = read_arguments(arguments)?;
    let slot = roots.place(&path)?.slot()?;
    let found = statat(&slot.directory, &slot.name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| slot.failed(error))?;
    let flags = if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
        AtFlags::REMOVEDIR
    } else {
        AtFlags::empty()
    };
    unlinkat(&slot.directory, &slot.name, flags).map_err(|error| slot.failed(error))?;
    Ok(json!({ "path": path, "deleted": true }))
}
