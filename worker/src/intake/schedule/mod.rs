//! Schedules: when flows run by themselves.
//!
//! - `calendar`: where on the time line the times of a rule lie
//! - `zone`: time zones by name; the only place that asks the zone database
//! - `preview`: what a rule would do, or what is wrong with it

mod calendar;
mod preview;
mod zone;

pub(crate) use calendar::{Timetable, moment_of};
pub(crate) use preview::{judged, preview};
