//! The program under test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The path of `weir`: `$WEIR_BIN` where it is set (scripts/test builds it once), else the one that cargo makes, built
/// now so that a test never meets yesterday's program.
///
/// # Panics
/// When there is no cargo, or the worker does not build.
pub fn weir() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| match std::env::var_os("WEIR_BIN") {
        Some(path) => PathBuf::from(path),
        None => build(),
    })
}

fn build() -> PathBuf {
    let built = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--package", "weir"])
        .current_dir(repository())
        .status()
        .expect("cargo starts");
    assert!(built.success(), "the worker does not build");
    // A test program is in <target>/<profile>/deps.
    let here = std::env::current_exe().expect("a test program knows its path");
    let folder = here.ancestors().nth(2).expect("a test program is two folders below the target directory");
    folder.join("weir")
}

/// The root of the repository: the tests are in a folder of it.
pub fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
