//! The file tools. All of them find their files through `place`, which keeps them inside the run's working directory
//! and the roots that the settings name; none of the writing ones reaches into a `.git`.
//!
//! - `place`: a path of a call, held by descriptors, and the confinement
//! - `replace`: writing a file whole or not at all
//! - one file a tool

pub(super) mod delete_file;
pub(super) mod edit_file;
pub(super) mod list_directory;
pub(super) mod make_directory;
pub(super) mod move_file;
mod place;
pub(super) mod read_file;
mod replace;
pub(super) mod write_file;

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

fn read_arguments<A: DeserializeOwned>(arguments: Value) -> Result<A, String> {
    serde_json::from_value(arguments).map_err(|error| format!("arguments do not fit: {error}"))
}

#[cfg(test)]
mod tests;
