//! `read_file`: lines of a text file, from one on and up to a number.

use std::io::{BufRead as _, BufReader, Read as _};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Roots, is_text, path_schema, read_arguments, shown_path_schema, whole};

const MOST_LINES: u32 = 2_000;
/// Bytes of text in one result.
const MOST_BYTES: usize = 2 * 1024 * 1024;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    path: String,
    offset: Option<f64>,
    limit: Option<f64>,
    #[serde(default)]
    line_numbers: bool,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "read_file",
        "title": "Read a file",
        "description": "Reads lines of a text file.",
        "effect": "read",
        "idempotent": true,
        "group": "files",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["path"],
            "properties": {
                "path": path_schema("Path", "The file."),
                "offset": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX, "default": 1,
                    "title": "First line",
                    "description": "The line to begin with, counted from 1."
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MOST_LINES, "default": MOST_LINES,
                    "title": "Most lines",
                    "description": "Lines to read at most. No result holds more than 2 MiB."
                },
                "lineNumbers": {
                    "type": "boolean", "default": false,
                    "title": "Line numbers",
                    "description": "Whether each line begins with its number and a tab."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "text", "firstLine", "lines", "truncated"],
            "properties": {
                "path": shown_path_schema(),
                "text": {
                    "type": "string", "title": "Text", "examples": ["# Report\n"],
                    "description": "The lines. Bytes that are not UTF-8 are replaced."
                },
                "firstLine": {
                    "type": "integer", "title": "First line", "examples": [1],
                    "description": "The number of the first line."
                },
                "lines": {
                    "type": "integer", "title": "Lines", "examples": [12],
                    "description": "How many lines there are in the text."
                },
                "truncated": {
                    "type": "boolean", "title": "Cut", "examples": [false],
                    "description": "Whether the file goes on after the last of them."
                }
            }
        },
        "node": {
            "label": "Read file",
            "category": "Files",
            "kind": "action",
            "color": "#d4a373",
            "icon": "file-text",
            "inputs": [
                { "name": "path", "widget": "text", "placeholder": "report.md" },
                { "name": "offset", "widget": "number", "placeholder": "1", "advanced": true },
                { "name": "limit", "widget": "number", "placeholder": "2000", "advanced": true },
                { "name": "lineNumbers", "widget": "switch", "advanced": true }
            ]
        }
    })
}

/// Reads.
pub(in crate::tool) fn call(arguments: Value, roots: &Roots) -> Result<Value, String> {
    let Arguments { path, offset, limit, line_numbers } = read_arguments(arguments)?;
    let (first, most) = (whole(offset, 1), whole(limit, MOST_LINES));
    let mut reader = BufReader::with_capacity(64 * 1024, roots.place(&path)?.open_file()?);
    let fault = |error| format!("{path}: {error}");
    if !is_text(reader.fill_buf().map_err(fault)?) {
        return Err(format!("{path} is no text file"));
    }
    for _ in 1..first {
        if reader.skip_until(b'\n').map_err(fault)? == 0 {
            break;
        }
    }
    let mut text = Vec::new();
    let mut lines = 0;
    while lines < most && text.len() < MOST_BYTES {
        let number = if line_numbers { format!("{}\t", first + lines) } else { String::new() };
        let room = (MOST_BYTES - text.len()).saturating_sub(number.len()) as u64;
        let before = text.len();
        text.extend_from_slice(number.as_bytes());
        if reader.by_ref().take(room).read_until(b'\n', &mut text).map_err(fault)? == 0 {
            text.truncate(before);
            break;
        }
        lines += 1;
    }
    let truncated = !reader.fill_buf().map_err(fault)?.is_empty();
    let text = String::from_utf8_lossy(&text);
    Ok(json!({ "path": path, "text": text, "firstLine": first, "lines": lines, "truncated": truncated }))
}
