//! Waiting for a fact that nothing announces, such as the end of somebody else's process.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// How long a test waits for what should take milliseconds, on a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Looks until `found` has something, for at most `most`; `what` names it in the error.
pub fn until<T>(what: &str, most: Duration, mut found: impl FnMut() -> Option<T>) -> Result<T> {
    let deadline = Instant::now() + most;
    loop {
        if let Some(value) = found() {
            return Ok(value);
        }
        if Instant::now() >= deadline {
            bail!("waited {most:?} in vain for {what}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
