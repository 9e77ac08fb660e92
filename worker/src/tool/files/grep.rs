//! `grep`: which lines of text files match a pattern.
//!
//! Patterns are regular expressions without look-around and back-references, so that a search takes time in
//! proportion to what it reads, whatever the pattern.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::ops::ControlFlow;

use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::FileType;
use serde::Deserialize;
use serde_json::{Value, json};

use super::walk::{self, Walked};
use super::{Abandoned, Roots, here, is_text, path_schema, read_arguments, shown_path_schema, walk_note, whole};

const MOST_LINES: u32 = 2_000;
/// Bytes of all lines of one result.
const MOST_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of a line that are looked at: nobody wrote a longer one by hand.
const MOST_LINE_BYTES: u64 = 64 * 1024;
/// Characters of a line that are shown.
const SHOWN_CHARS: usize = 2_000;
/// Bytes that a compiled pattern may take.
const MOST_PATTERN_BYTES: usize = 2 * 1024 * 1024;
/// Lines between two looks at whether somebody still waits.
const LOOK_LINES: u64 = 1_024;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    pattern: String,
    #[serde(default = "here")]
    path: String,
    files: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    offset: Option<f64>,
    limit: Option<f64>,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "grep",
        "title": "Search in files",
        "description": format!(
            "Finds lines that match a pattern, in a text file or in all below a directory. {} Files that are no \
             text are passed over.", walk_note()
        ),
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
                    "type": "string", "minLength": 1, "maxLength": 16_384,
                    "title": "Pattern",
                    "description": "A regular expression, without look-around and back-references.",
                    "examples": ["TODO|FIXME"]
                },
                "path": path_schema("Path", "A file or a directory; the working directory when it is left out."),
                "files": {
                    "type": "string", "minLength": 1, "maxLength": 4_096,
                    "title": "Files",
                    "description": "Which files to search in, as a pattern for their path from the directory.",
                    "examples": ["**/*.md"]
                },
                "ignoreCase": {
                    "type": "boolean", "default": false,
                    "title": "Ignore case",
                    "description": "Whether small and capital letters are the same."
                },
                "offset": {
                    "type": "integer", "minimum": 0, "maximum": u32::MAX, "default": 0,
                    "title": "Pass over",
                    "description": "How many of the first lines found to leave out."
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MOST_LINES, "default": MOST_LINES,
                    "title": "Most lines",
                    "description": "Lines to give back at most. No result holds more than 2 MiB."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "matches", "truncated"],
            "properties": {
                "path": shown_path_schema(),
                "matches": {
                    "type": "array", "title": "Lines",
                    "examples": [[{ "path": "notes/today.md", "line": 12, "text": "TODO: call Ada" }]],
                    "description": "The lines that match, file by file.",
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["path", "line", "text"],
                        "properties": {
                            "path": {
                                "type": "string", "title": "Path",
                                "description": "The file, as a path from the directory, or as it was given."
                            },
                            "line": {
                                "type": "integer", "title": "Line number", "description": "Counted from 1."
                            },
                            "text": {
                                "type": "string", "title": "Text",
                                "description": "The line without its end; of a long one the first 2,000 characters. \
                                                Bytes that are not UTF-8 are replaced."
                            }
                        }
                    }
                },
                "truncated": {
                    "type": "boolean", "title": "Cut", "examples": [false],
                    "description": "Whether there may be more."
                }
            }
        },
        "node": {
            "label": "Search in files",
            "category": "Files",
            "kind": "action",
            "color": "#d4a373",
            "icon": "search",
            "inputs": [
                { "name": "pattern", "widget": "text", "placeholder": "TODO|FIXME" },
                { "name": "path", "widget": "text", "placeholder": "." },
                { "name": "files", "widget": "text", "placeholder": "**/*.md" },
                { "name": "ignoreCase", "widget": "switch" },
                { "name": "offset", "widget": "number", "placeholder": "0", "advanced": true },
                { "name": "limit", "widget": "number", "placeholder": "2000", "advanced": true }
            ]
        }
    })
}

/// Searches.
pub(in crate::tool) fn call(arguments: Value, roots: &Roots, abandoned: &Abandoned) -> Result<Value, String> {
    let Arguments { pattern, path, files, ignore_case, offset, limit } = read_arguments(arguments)?;
    let regex = RegexBuilder::new(&pattern)
        .case_insensitive(ignore_case)
        .size_limit(MOST_PATTERN_BYTES)
        .dfa_size_limit(MOST_PATTERN_BYTES)
        .build()
        .map_err(|error| format!("the pattern cannot be used: {error}"))?;
    let files = files.map(|files| matcher(&files)).transpose()?;
    let mut search = Search {
        regex,
        abandoned,
        pass_over: whole(offset, 0),
        most: whole(limit, MOST_LINES) as usize,
        bytes: 0,
        matches: Vec::new(),
    };
    let place = roots.place(&path)?;
    let ended = if place.is_directory()? {
        let mut broke = Ok(());
        let walked = walk::walk(&place.open_directory()?, abandoned, &mut |entry| {
            let wanted = entry.kind == FileType::RegularFile && files.as_ref().is_none_or(|f| f.is_match(entry.path));
            let Some(file) = wanted.then(|| entry.open()).flatten() else { return ControlFlow::Continue(()) };
            match search.file(file, &entry.path.to_string_lossy()) {
                Ok(flow) => flow,
                Err(Fault::Abandoned(error)) => {
                    broke = Err(error);
                    ControlFlow::Break(())
                }
                // One file that cannot be read does not hide what is in the others.
                Err(Fault::Unreadable(_)) => ControlFlow::Continue(()),
            }
        })?;
        broke?;
        walked
    } else {
        match search.file(place.open_file()?, &path) {
            Ok(ControlFlow::Continue(())) => Walked::Everything,
            Ok(ControlFlow::Break(())) => Walked::APart,
            Err(Fault::Abandoned(error)) => return Err(error),
            Err(Fault::Unreadable(error)) => return Err(format!("{path}: {error}")),
        }
    };
    Ok(json!({ "path": path, "matches": search.matches, "truncated": ended == Walked::APart }))
}

fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    Ok(glob.map_err(|error| format!("`files` cannot be used: {error}"))?.compile_matcher())
}

/// One search under way.
struct Search<'a> {
    regex: Regex,
    abandoned: &'a Abandoned,
    pass_over: u32,
    most: usize,
    bytes: usize,
    matches: Vec<Value>,
}

enum Fault {
    Abandoned(String),
    Unreadable(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl Search<'_> {
    /// Searches one file; breaks off once there is no room for another line.
    fn file(&mut self, file: File, path: &str) -> Result<ControlFlow<()>, Fault> {
        let mut reader = BufReader::with_capacity(64 * 1024, file);
        if !is_text(reader.fill_buf()?) {
            return Ok(ControlFlow::Continue(()));
        }
        let mut line = Vec::new();
        for number in 1_u64.. {
            if number % LOOK_LINES == 1 {
                self.abandoned.check().map_err(Fault::Abandoned)?;
            }
            line.clear();
            if reader.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            match line.strip_suffix(b"\n") {
                Some(whole) => line.truncate(whole.strip_suffix(b"\r").unwrap_or(whole).len()),
                None => {
                    reader.skip_until(b'\n')?;
                }
            }
            if self.regex.is_match(&line) && self.take(path, number, &line).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn take(&mut self, path: &str, number: u64, line: &[u8]) -> ControlFlow<()> {
        if self.pass_over > 0 {
            self.pass_over -= 1;
            return ControlFlow::Continue(());
        }
        let text: String = String::from_utf8_lossy(line).chars().take(SHOWN_CHARS).collect();
        let bytes = path.len() + text.len();
        if self.matches.len() == self.most || self.bytes + bytes > MOST_BYTES {
            return ControlFlow::Break(());
        }
        self.bytes += bytes;
        self.matches.push(json!({ "path": path, "line": number, "text": text }));
        ControlFlow::Continue(())
    }
}
