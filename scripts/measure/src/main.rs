//! What Weir costs, beside what the same work costs without it: `scripts/bench [--json FILE]`.
//!
//! Every figure is measured here and now on this machine, ours and the one beside it in turns, since only their ratio
//! means something elsewhere. A table goes to standard output, the same figures as JSON to a file. Nothing is
//! asserted: a slow machine is no failure.

#![expect(clippy::print_stdout, reason = "its output is a table of figures")]

mod chain;
mod fan_out;
mod idle;
mod median;
mod table;

use std::path::PathBuf;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let json = json_file()?;
    let mut figures = Vec::new();
    figures.extend(fan_out::measure()?);
    figures.extend(chain::measure()?);
    figures.extend(idle::measure()?);
    print!("{}", table::print(&figures));
    if let Some(path) = json {
        std::fs::write(&path, format!("{:#}\n", table::json(&figures)))?;
    }
    Ok(())
}

fn json_file() -> Result<Option<PathBuf>> {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next(), arguments.next()) {
        (None, ..) => Ok(None),
        (Some(flag), Some(path), None) if flag == "--json" => Ok(Some(path.into())),
        _ => bail!("usage: measure [--json FILE]"),
    }
}
