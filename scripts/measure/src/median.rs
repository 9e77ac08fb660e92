//! The middle of a few measurements.

use std::time::{Duration, Instant};

use anyhow::Result;

/// The median in milliseconds; 0 of none.
pub(crate) fn of(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

/// The median of numbers; 0 of none.
pub(crate) fn number(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// How long something takes.
pub(crate) fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}
