//! `write_file`: a text into a file, whole or not at all.

use serde::Deserialize;
use serde_json::{Value, json};

use super::replace::{Existing, write_whole};
use super::{Roots, path_schema, read_arguments, shown_path_schema};

#[derive(Debug, Deserialize)]
struct Arguments {
    path: String,
    content: String,
    overwrite: Option<bool>,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "write_file",
        "title": "Write a file",
        "description": "Writes a text into a file. The file is there whole or, after a failure, as it was before. \
                        Missing directories above it are made.",
        "effect": "write",
        "idempotent": { "when": { "overwrite": [true] } },
        "group": "files",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "content"],
            "properties": {
                "path": path_schema("Path", "The file."),
                "content": {
                    "type": "string", "maxLength": 16_777_216,
                    "title": "Content",
                    "description": "What the file is to hold.",
                    "examples": ["# Report\n"]
                },
                "overwrite": {
                    "type": "boolean", "default": true,
                    "title": "Overwrite",
                    "description": "Whether a file that is there is replaced. If not, it is a failure."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "bytes", "created"],
            "properties": {
                "path": shown_path_schema(),
                "bytes": {
                    "type": "integer", "title": "Bytes", "examples": [9],
                    "description": "How many bytes were written."
                },
                "created": {
                    "type": "boolean", "title": "Created", "examples": [true],
                    "description": "Whether there was no such file before."
                }
            }
        },
        "node": {
            "label": "Write file",
            "category": "Files",
            "kind": "action",
            "color": "#d4a373",
            "icon": "file-pencil",
            "inputs": [
                { "name": "path", "widget": "text", "placeholder": "report.md" },
                { "name": "content", "widget": "textarea" },
                { "name": "overwrite", "widget": "switch", "advanced": true }
            ]
        }
    })
}

/// Writes.
pub(in crate::tool) fn call(arguments: Value, roots: &Roots) -> Result<Value, String> {
    let Arguments { path, content, overwrite } = read_arguments(arguments)?;
    let place = roots.place(&path)?;
    place.make_directories_above()?;
    let existing = if overwrite == Some(false) { Existing::Keep } else { Existing::Replace };
    let created = write_whole(&place.slot()?, content.as_bytes(), existing)?;
    Ok(json!({ "path": path, "bytes": content.len(), "created": created }))
}
