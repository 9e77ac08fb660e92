//! Schedules: when flows run by themselves.
//!
//! - `calendar`: where on the time line the times of a rule lie
//! - `zone`: time zones by name; the only place that asks the zone database
//! - `preview`: what a rule would do, or what is wrong with it
//! - `course`: what is to be done about one schedule now; pure
//! - `wanted`: what callers ask for, judged
//! - `flow`: what a schedule runs
//! - `timekeeper`: the one loop that fires, follows the flows and takes commands; `alarm`: its timer
//! - `schedules`: [`Schedules`], what the rest of the worker holds; `row`: what is shown

mod alarm;
mod calendar;
mod course;
mod flow;
mod preview;
mod row;
mod schedules;
mod timekeeper;
mod wanted;
mod zone;

pub(crate) use calendar::{Timetable, moment_of};
pub(crate) use preview::{judged, preview};
pub(crate) use schedules::{OpenError, ScheduleError, Schedules, SchedulesOf};

#[cfg(test)]
mod tests;
