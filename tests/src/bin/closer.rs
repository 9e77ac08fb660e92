//! Closes its outputs and lives on. `closer [MILLISECONDS] [CODE]`: says `closing`, stays that long (200 ms when not
//! said), ends with the code (0 when not said).

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let millis = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let code = arguments.next().map_or(Ok(0), |text| text.parse::<u8>())?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "closing")?;
    stdout.flush()?;
    let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
    nix::unistd::dup2_stdout(&nowhere)?;
    nix::unistd::dup2_stderr(&nowhere)?;
    std::thread::sleep(Duration::from_millis(millis));
    Ok(ExitCode::from(code))
}
