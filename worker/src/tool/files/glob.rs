//! `glob`: which files there are of a name.

use std::ops::ControlFlow;

use globset::GlobBuilder;
use rustix::fs::FileType;
use serde::Deserialize;
use serde_json::{Value, json};

use super::walk::{self, Walked};
use super::{Abandoned, Roots, here, path_schema, read_arguments, shown_path_schema, walk_note, whole};

const MOST_PATHS: u32 = 2_000;
/// Bytes of all paths of one result.
const MOST_BYTES: usize = 2 * 1024 * 1024;

#[derive(Debug, Deserialize)]
struct Arguments {
    pattern: String,
    #[serde(default = "here")]
    path: String,
    #[serde(default)]
    directories: bool,
    offset: Option<f64>,
    limit: Option<f64>,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "glob",
        "title": "Find files",
        "description": format!("Finds files by a pattern for their names, below a directory. {}", walk_note()),
        "effect": "read",
        "idempotent": true,
        "group": "files",
        "timeoutSeconds": 60,
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["pattern"],
            "properties": {
                "pattern": {
                    "type": "string", "minLength": 1, "maxLength": 4_096,
                    "title": "Pattern",
                    "description": "What the path from the directory has to look like: `*` is any text without a \
                                    slash, `**` any directories, `?` one character, `[ab]` one of these, `{a,b}` \
                                    one of these texts.",
                    "examples": ["**/*.md"]
                },
                "path": path_schema("Path", "The directory; the working directory when it is left out."),
                "directories": {
                    "type": "boolean", "default": false,
                    "title": "Directories too",
                    "description": "Whether directories are found as well as files."
                },
                "offset": {
                    "type": "integer", "minimum": 0, "maximum": walk::MOST_ENTRIES, "default": 0,
                    "title": "Pass over",
                    "description": "How many of the first paths to leave out."
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MOST_PATHS, "default": MOST_PATHS,
                    "title": "Most paths",
                    "description": "Paths to give back at most. No result holds more than 2 MiB."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "paths", "truncated"],
            "properties": {
                "path": shown_path_schema(),
                "paths": {
                    "type": "array", "title": "Paths", "examples": [["docs/api.md", "README.md"]],
                    "description": "What was found, as paths from the directory, by name.",
                    "items": { "type": "string", "title": "Path", "description": "One of them." }
                },
                "truncated": {
                    "type": "boolean", "title": "Cut", "examples": [false],
                    "description": "Whether there may be more."
                }
            }
        },
        "node": {
            "label": "Find files",
            "category": "Files",
            "kind": "action",
            "color": "#d4a373",
            "icon": "search",
            "inputs": [
                { "name": "pattern", "widget": "text", "placeholder": "**/*.md" },
                { "name": "path", "widget": "text", "placeholder": "." },
                { "name": "directories", "widget": "switch", "advanced": true },
                { "name": "offset", "widget": "number", "placeholder": "0", "advanced": true },
                { "name": "limit", "widget": "number", "placeholder": "2000", "advanced": true }
            ]
        }
    })
}

/// Finds.
pub(in crate::tool) fn call(arguments: Value, roots: &Roots, abandoned: &Abandoned) -> Result<Value, String> {
    let Arguments { pattern, path, directories, offset, limit } = read_arguments(arguments)?;
    if pattern.starts_with('/') {
        return Err("the pattern is for the path from the directory, which has no slash at its beginning".to_owned());
    }
    let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
    let matcher = glob.map_err(|error| format!("the pattern cannot be used: {error}"))?.compile_matcher();
    let (offset, most) = (whole(offset, 0) as usize, whole(limit, MOST_PATHS) as usize);
    let root = roots.place(&path)?.open_directory()?;
    let (mut passed, mut bytes, mut paths) = (0, 0, Vec::new());
    let walked = walk::walk(&root, abandoned, &mut |entry| {
        let wanted = entry.kind != FileType::Directory || directories;
        if !wanted || !matcher.is_match(entry.path) {
            return ControlFlow::Continue(());
        }
        if passed < offset {
            passed += 1;
            return ControlFlow::Continue(());
        }
        let found = entry.path.to_string_lossy().into_owned();
        if paths.len() == most || bytes + found.len() > MOST_BYTES {
            return ControlFlow::Break(());
        }
        bytes += found.len();
        paths.push(found);
        ControlFlow::Continue(())
    })?;
    Ok(json!({ "path": path, "paths": paths, "truncated": walked == Walked::APart }))
}
