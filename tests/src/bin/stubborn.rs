//! Lets no signal but SIGKILL end it. `stubborn [SECONDS]`: says `ready`, then stays (600 s when not said).

use std::io::Write as _;
use std::time::Duration;

use nix::sys::signal::SigSet;

fn main() -> anyhow::Result<()> {
    // Blocked is as good as ignored, and needs no handler.
    SigSet::all().thread_block()?;
    let seconds = std::env::args().nth(1).map_or(Ok(600), |text| text.parse())?;
    writeln!(std::io::stdout(), "ready")?;
    std::thread::sleep(Duration::from_secs(seconds));
    Ok(())
}
