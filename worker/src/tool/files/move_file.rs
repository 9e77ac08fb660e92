//! `move_file`: another name for a file or directory.

use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Roots, path_schema, read_arguments};

#[derive(Debug, Deserialize)]
struct Arguments {
    from: String,
    to: String,
    #[serde(default)]
    overwrite: bool,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "move_file",
        "title": "Move a file",
        "description": "Moves or renames a file or directory, in one step. Missing directories above its new place \
                        are made.",
        "effect": "write",
        "idempotent": false,
        "group": "files",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["from", "to"],
            "properties": {
                "from": path_schema("From", "What is moved."),
                "to": path_schema("To", "Its new path, name included."),
                "overwrite": {
                    "type": "boolean", "default": false,
                    "title": "Overwrite",
                    "description": "Whether what is at the new path is replaced. If not, it is a failure."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["from", "to"],
            "properties": {
                "from": {
                    "type": "string", "title": "From", "examples": ["report.part"], "description": "Where it was."
                },
                "to": {
                    "type": "string", "title": "To", "examples": ["report.md"], "description": "Where it is now."
                }
            }
        },
        "node": {
            "label": "Move file",
            "category": "Files",
            "kind": "action",
            "color": "#d4a373",
            "icon": "file-export",
            "inputs": [
                { "name": "from", "widget": "text", "placeholder": "report.part" },
                { "name": "to", "widget": "text", "placeholder": "report.md" },
                { "name": "overwrite", "widget": "switch", "advanced": true }
            ]
        }
    })
}

/// Moves.
pub(in crate::tool) fn call(arguments: Value, roots: &Roots) -> Result<Value, String> {
    let Arguments { from, to, overwrite } = read_arguments(arguments)?;
    let old = roots.place(&from)?.slot()?;
    let target = roots.place(&to)?;
    target.make_directories_above()?;
    let new = target.slot()?;
    let flags = if overwrite { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
    match renameat_with(&old.directory, &old.name, &new.directory, &new.name, flags) {
        Ok(()) => Ok(json!({ "from": from, "to": to })),
        Err(Errno::XDEV) => Err(format!("{from} and {to} are on different file systems; copy it with a command")),
        Err(Errno::EXIST) => Err(format!("{to} is there already")),
        Err(error) => Err(old.failed(error).into()),
    }
}
