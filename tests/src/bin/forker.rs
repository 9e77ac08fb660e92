//! Leaves its group, its session and its parent, as a daemon does: setsid and a double fork. What stays behind lets no
//! signal but SIGKILL end it and keeps the pipes. `forker [SECONDS]`: says `left <pid>` and ends; the one that left
//! stays (600 s when not said).

use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::SigSet;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().unwrap_or_else(|| "600".to_owned());
    let own = std::env::current_exe()?;
    match arguments.next().as_deref() {
        None => {
            // The first fork: the shell's child stays for its parent to wait for.
            let status = Command::new(own).args([&seconds, "leave"]).status()?;
            anyhow::ensure!(status.success(), "the one that was to leave ended with {status}");
        }
        Some("leave") => {
            nix::unistd::setsid()?;
            // The second fork: whoever is started here loses its parent at once.
            let left = Command::new(own).args([&seconds, "stay"]).spawn()?;
            writeln!(std::io::stdout(), "left {}", left.id())?;
        }
        Some(_) => {
            SigSet::all().thread_block()?;
            std::thread::sleep(Duration::from_secs(seconds.parse()?));
        }
    }
    Ok(())
}
