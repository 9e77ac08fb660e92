//! `make_directory`: a directory, with those above it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Roots, path_schema, read_arguments, shown_path_schema};

#[derive(Debug, Deserialize)]
struct Arguments {
    path: String,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "make_directory",
        "title": "Make a directory",
        "description": "Makes a directory, and those above it that are missing. One that is there already is fine.",
        "effect": "write",
        "idempotent": true,
        "group": "files",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["path"],
            "properties": { "path": path_schema("Path", "The directory.") }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "created"],
            "properties": {
                "path": shown_path_schema(),
                "created": {
                    "type": "boolean", "title": "Created", "examples": [true],
                    "description": "Whether it was not there before."
                }
            }
        },
        "node": {
            "label": "Make directory",
            "category": "Files",
            "kind": "action",
            "color": "#d4a373",
            "icon": "folder-plus",
            "inputs": [{ "name": "path", "widget": "text", "placeholder": "out" }]
        }
    })
}

/// Makes it.
pub(in crate::tool) fn call(arguments: Value, roots: &Roots) -> Result<Value, String> {
    let Arguments { path } = read_arguments(arguments)?;
    let created = roots.place(&path)?.make_directory()?;
    Ok(json!({ "path": path, "created": created }))
}
