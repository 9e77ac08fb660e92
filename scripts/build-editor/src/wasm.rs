//! From the crate to WASM and its JavaScript.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

use crate::Weight;

/// What a browser needs to run the crate.
pub(crate) struct Page {
    /// The ES module whose default export starts the page.
    pub(crate) script: String,
    pub(crate) wasm: Vec<u8>,
    /// Modules that crates bring along, by their path beside the script.
    pub(crate) snippets: BTreeMap<PathBuf, Vec<u8>>,
}

/// Builds the crate and returns the path of its module.
pub(crate) fn compile(weight: Weight) -> Result<PathBuf> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "build",
            "--package",
            "weir-editor",
            "--target",
            "wasm32-unknown-unknown",
            "--profile",
            weight.profile(),
        ])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        // Set by the outer cargo for this program; they are not the inner build's.
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!(
            "the crate `weir-editor` does not build for wasm32 (target missing? rustup target add wasm32-unknown-unknown)"
        );
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(module_named_in)
        .next_back()
        .context("cargo named no module of `weir-editor`")
}

/// The module that one of cargo's messages says it made.
fn module_named_in(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" || message["target"]["name"] != "weir-editor" {
        return None;
    }
    message["filenames"]
        .as_array()?
        .iter()
        .filter_map(serde_json::Value::as_str)
        .map(PathBuf::from)
        .find(|path| path.extension().is_some_and(|extension| extension == "wasm"))
}

/// Makes the JavaScript side and the module that goes with it.
pub(crate) fn bind(module: &Path) -> Result<Page> {
    let folder = tempfile::tempdir()?;
    Bindgen::new()
        .input_path(module)
        .out_name("page")
        .web(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder.path())
        .context("wasm-bindgen cannot read the module: its crate and its library must be of one version")?;
    let snippets = files_below(&folder.path().join("snippets"))?
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(folder.path())?.to_owned();
            Ok((name, std::fs::read(&path)?))
        })
        .collect::<Result<_>>()?;
    Ok(Page {
        script: std::fs::read_to_string(folder.path().join("page.js"))?,
        wasm: std::fs::read(folder.path().join("page_bg.wasm"))?,
        snippets,
    })
}

/// Every file below a folder, in the order of their paths; none when there is no such folder.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if !folder.is_dir() {
        return Ok(files);
    }
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}
