//! The file tools. All of them find their files through `place`, which keeps them inside the run's working directory
//! and the roots that the settings name; none of the writing ones reaches into a `.git`.
//!
//! - `place`: a path of a call, held by descriptors, and the confinement
//! - `replace`: writing a file whole or not at all
//! - `walk`: everything below a directory, for the tools that search; `abandoned`: whether somebody still waits
//! - one file a tool

mod abandoned;
pub(super) mod delete_file;
pub(super) mod edit_file;
pub(super) mod glob;
pub(super) mod grep;
pub(super) mod list_directory;
pub(super) mod make_directory;
pub(super) mod move_file;
mod place;
pub(super) mod read_file;
mod replace;
mod walk;
pub(super) mod write_file;

pub(super) use abandoned::Abandoned;
pub(super) use place::Roots;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The schema of an argument that names a file.
fn path_schema(title: &str, description: &str) -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "title": title,
        "description": format!(
            "{description} Relative to the run's working directory, or absolute inside a root that `files.roots` \
             names."
        ),
        "examples": ["report.md"]
    })
}

/// The schema of a path in a result.
fn shown_path_schema() -> Value {
    json!({
        "type": "string", "title": "Path", "examples": ["report.md"],
        "description": "The path as it was given."
    })
}

/// What the tools that search say of how far they look.
fn walk_note() -> String {
    format!(
        "It looks at 20,000 entries at most, follows no links, and does not look into {}.",
        walk::PASSED_OVER.join(", ")
    )
}

/// The path that stands for the working directory.
fn here() -> String {
    ".".to_owned()
}

/// A number that the schema has found to be a whole one from 0 to 2^32 - 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^32 - 1 by the schema")]
pub(super) fn whole(number: Option<f64>, default: u32) -> u32 {
    number.map_or(default, |number| number as u32)
}

/// Whether a file with this beginning is taken for text: there is no NUL in its first 8 KiB.
fn is_text(beginning: &[u8]) -> bool {
    const LOOKED_AT: usize = 8 * 1024;
    !beginning.iter().take(LOOKED_AT).any(|byte| *byte == 0)
}

pub(super) fn read_arguments<A: DeserializeOwned>(arguments: Value) -> Result<A, String> {
    serde_json::from_value(arguments).map_err(|error| format!("arguments do not fit: {error}"))
}

#[cfg(test)]
mod tests;
