//! The worker as a service of systemd.
//!
//! - `unit`: the text of its units
//! - `manager`: what the service manager is told, and the watchdog's heartbeat
//! - `socket`: a listener that the manager opened
//! - `journal`: the log with its fields, for journald
//!
//! None of it is needed to run: without a manager each does nothing.

mod journal;
pub(crate) mod manager;
mod socket;
mod unit;

pub(crate) use journal::Journal;
pub(crate) use manager::Heart;
pub(crate) use socket::activated;
pub(crate) use unit::{Activation, Units, WRITTEN_BY};
