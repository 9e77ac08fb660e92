//! The model through its public door: texts in; flows, findings, plans and arguments out.
//!
//! One test program, so that it links once.

#![expect(clippy::unwrap_used, reason = "a test stops where what it needs is missing")]

mod catalog;
mod commands;
mod compiling;
mod expressions;
mod findings;
mod plans;
mod read_and_print;
mod references;
mod schemas;
mod shells;

use std::path::PathBuf;

/// The text of a file below `tests/fixtures`.
fn fixture(name: &str) -> String {
    let path = fixtures().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures")
}
