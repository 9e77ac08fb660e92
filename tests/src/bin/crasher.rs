//! Dies by a signal. `crasher [SIGNAL]`: says a last line on its standard error, then sends itself the signal
//! (SIGABRT when not said).

use std::io::Write as _;
use std::str::FromStr as _;

use nix::sys::signal::{Signal, raise};

fn main() -> anyhow::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "SIGABRT".to_owned());
    writeln!(std::io::stderr(), "going down")?;
    raise(Signal::from_str(&name)?)?;
    anyhow::bail!("still there after {name}")
}
