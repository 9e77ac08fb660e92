//! Takes its time to end, and cleans up. `slow_exit [MILLISECONDS] [CODE]`: says `ready`, waits for SIGTERM, takes
//! that long (500 ms when not said), says `cleaned`, ends with the code (0 when not said).

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let millis = arguments.next().map_or(Ok(500), |text| text.parse())?;
    let code = arguments.next().map_or(Ok(0), |text| text.parse::<u8>())?;
    let mut asked = SigSet::empty();
    asked.add(Signal::SIGTERM);
    asked.thread_block()?;
    writeln!(std::io::stdout(), "ready")?;
    asked.wait()?;
    std::thread::sleep(Duration::from_millis(millis));
    writeln!(std::io::stdout(), "cleaned")?;
    Ok(ExitCode::from(code))
}
