//! What Weir costs, beside what the same work costs without it: `scripts/bench [--json FILE] [PART…]`.
//!
//! Every figure is measured here and now on this machine, ours and the one beside it in turns, since only their ratio
//! means something elsewhere. A table goes to standard output, the same figures as JSON to a file. Nothing is
//! asserted: a slow machine is no failure.

#![expect(clippy::print_stdout, reason = "its output is a table of figures")]

mod chain;
mod clients;
mod fan_out;
mod history;
mod idle;
mod journal;
mod median;
mod soak;
mod table;
mod webhook;

use std::path::PathBuf;

use anyhow::{Result, bail};

use table::Figure;

/// One measurement: a few figures that belong together.
type Measure = fn() -> Result<Vec<Figure>>;

/// What is measured, in this order, each part under the name by which it can be asked for alone.
const PARTS: [(&str, Measure); 8] = [
    ("fan-out", fan_out::measure),
    ("chain", chain::measure),
    ("idle", idle::measure),
    ("webhook", webhook::measure),
    ("journal", journal::measure),
    ("clients", clients::measure),
    ("soak", soak::measure),
    ("history", history::measure),
];

fn main() -> Result<()> {
    let Asked { json, parts } = asked(std::env::args().skip(1))?;
    let mut figures = Vec::new();
    for (name, measure) in PARTS {
        if parts.is_empty() || parts.iter().any(|part| part == name) {
            figures.extend(measure()?);
        }
    }
    print!("{}", table::print(&figures));
    if let Some(path) = json {
        std::fs::write(&path, format!("{:#}\n", table::json(&figures)))?;
    }
    Ok(())
}

/// What the command line asks for.
struct Asked {
    json: Option<PathBuf>,
    /// Empty: all of them.
    parts: Vec<String>,
}

fn asked(mut arguments: impl Iterator<Item = String>) -> Result<Asked> {
    let mut asked = Asked { json: None, parts: Vec::new() };
    while let Some(word) = arguments.next() {
        match (word.as_str(), PARTS.iter().any(|(name, _)| *name == word)) {
            ("--json", _) => match arguments.next() {
                Some(path) => asked.json = Some(path.into()),
                None => bail!("--json needs a file"),
            },
            (_, true) => asked.parts.push(word),
            (_, false) => {
                let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
                bail!("usage: measure [--json FILE] [PART…], where a part is one of {}", names.join(", "));
            }
        }
    }
    Ok(asked)
}
