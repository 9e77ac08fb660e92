//! Builds the page into `editor/dist`, with nothing but cargo: `cargo run -p build-editor [-- --light]`.
//!
//! In order: the crate `weir-editor` for wasm32, its JavaScript by wasm-bindgen as a library (so that no program of a
//! matching version has to be downloaded), one style sheet out of all, names that carry a digest of the content, the
//! placeholders of `editor/boot.js` and `editor/index.html`, and a `.gz` and a `.br` beside each file.
//!
//! `editor/dist` is replaced as a whole at the end, and only when one of its sources has changed: a failed build
//! leaves the last good page. The program knows nothing of what the page shows.

#![expect(clippy::print_stdout, reason = "its output is the report of a build")]

mod dist;
mod styles;
mod wasm;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// Which page is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// As shipped: the smallest download.
    Full,
    /// For tests: the quickest build.
    Light,
}

impl Weight {
    /// The cargo profile, as Cargo.toml names it.
    fn profile(self) -> &'static str {
        match self {
            Weight::Full => "page",
            Weight::Light => "page-light",
        }
    }
}

fn main() -> Result<()> {
    let weight = weight_asked_for()?;
    let started = Instant::now();
    let editor = editor_folder()?;

    let module = wasm::compile(weight)?;
    let source =
        |name: &str| std::fs::read_to_string(editor.join(name)).with_context(|| format!("cannot read editor/{name}"));
    let style = styles::concatenate(&editor.join("src"))?;
    let (boot, index) = (source("boot.js")?, source("index.html")?);
    let dist = editor.join("dist");
    let mark = dist::mark(&[&std::fs::read(&module)?, style.as_bytes(), boot.as_bytes(), index.as_bytes()], weight)?;
    if dist::carries(&dist, &mark) {
        println!("page ({}) is up to date", weight.profile());
        return Ok(());
    }

    let page = wasm::bind(&module)?;
    let written = dist::write(&dist, &dist::Parts { page, style, boot, index, mark }, weight)?;

    println!("{:>10} {:>10} {:>10}  file", "bytes", "gzip", "brotli");
    for file in &written {
        println!("{:>10} {:>10} {:>10}  {}", file.bytes, file.gzip, file.brotli, file.name);
    }
    let sum = |size: fn(&dist::Written) -> usize| written.iter().map(size).sum::<usize>();
    println!("{:>10} {:>10} {:>10}  in all", sum(|f| f.bytes), sum(|f| f.gzip), sum(|f| f.brotli));
    println!("page ({}) built in {:.1} s", weight.profile(), started.elapsed().as_secs_f64());
    Ok(())
}

fn weight_asked_for() -> Result<Weight> {
    let mut weight = Weight::Full;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--light" => weight = Weight::Light,
            other => bail!("unknown argument `{other}`: the only one is --light"),
        }
    }
    Ok(weight)
}

/// The folder `editor` of the workspace this program was built in.
fn editor_folder() -> Result<PathBuf> {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).context("the workspace is two folders up")?;
    Ok(root.join("editor"))
}
