//! `list_directory`: what is in a directory, by name.

use rustix::fs::{AtFlags, Dir, FileType, statat};
use serde::Deserialize;
use serde_json::{Value, json};
use weir_shared::ids::Timestamp;

use super::{Roots, here, path_schema, read_arguments, shown_path_schema, whole};

const DEFAULT_ENTRIES: u32 = 1_000;
const MOST_ENTRIES: u32 = 20_000;

#[derive(Debug, Deserialize)]
struct Arguments {
    #[serde(default = "here")]
    path: String,
    limit: Option<f64>,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "list_directory",
        "title": "List a directory",
        "description": "Lists what is in a directory, by name. It does not look into directories below.",
        "effect": "read",
        "idempotent": true,
        "group": "files",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "path": path_schema("Path", "The directory; the working directory when it is left out."),
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MOST_ENTRIES, "default": DEFAULT_ENTRIES,
                    "title": "Most entries",
                    "description": "Entries to list at most."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "entries", "truncated"],
            "properties": {
                "path": shown_path_schema(),
                "entries": {
                    "type": "array", "title": "Entries",
                    "examples": [[{ "name": "report.md", "type": "file", "size": 512,
                                    "modifiedAt": "2026-11-30T06:00:00.000Z" }]],
                    "description": "What is there.",
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["name", "type", "size", "modifiedAt"],
                        "properties": {
                            "name": { "type": "string", "title": "Name", "description": "Its name." },
                            "type": {
                                "type": "string", "enum": ["file", "directory", "link", "other"], "title": "Type",
                                "description": "What it is."
                            },
                            "size": { "type": "integer", "title": "Size", "description": "Its size in bytes." },
                            "modifiedAt": {
                                "type": "string", "title": "Modified at", "description": "When it was last changed."
                            }
                        }
                    }
                },
                "truncated": {
                    "type": "boolean", "title": "Cut", "examples": [false],
                    "description": "Whether there are more."
                }
            }
        },
        "node": {
            "label": "List directory",
            "category": "Files",
            "kind": "action",
            "color": "#d4a373",
            "icon": "folder",
            "inputs": [
                { "name": "path", "widget": "text", "placeholder": "." },
                { "name": "limit", "widget": "number", "placeholder": "1000", "advanced": true }
            ]
        }
    })
}

/// Lists.
pub(in crate::tool) fn call(arguments: Value, roots: &Roots) -> Result<Value, String> {
    let Arguments { path, limit } = read_arguments(arguments)?;
    let most = whole(limit, DEFAULT_ENTRIES) as usize;
    let directory = roots.place(&path)?.open_directory()?;
    let fault = |error: rustix::io::Errno| format!("{path}: {error}");
    let mut names = Vec::new();
    for entry in Dir::read_from(&directory).map_err(fault)? {
        let name = entry.map_err(fault)?.file_name().to_owned();
        if !matches!(name.as_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    names.sort();
    let truncated = names.len() > most;
    names.truncate(most);
    // One that has gone since is left out.
    let entries: Vec<Value> = names
        .into_iter()
        .filter_map(|name| {
            let found = statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            let kind = match FileType::from_raw_mode(found.st_mode) {
                FileType::RegularFile => "file",
                FileType::Directory => "directory",
                FileType::Symlink => "link",
                _ => "other",
            };
            let millis = i64::try_from(found.st_mtime_nsec / 1_000_000).unwrap_or_default();
            let modified = Timestamp(found.st_mtime.saturating_mul(1000).saturating_add(millis));
            let name = String::from_utf8_lossy(name.as_bytes()).into_owned();
            Some(json!({ "name": name, "type": kind, "size": found.st_size, "modifiedAt": modified }))
        })
        .collect();
    Ok(json!({ "path": path, "entries": entries, "truncated": truncated }))
}
