//! Child processes under control: each has a group, a deadline, an output limit and an obituary.
//!
//! - `supervisor`: the way in, [`Supervisor`]; what is set once for the whole worker
//! - `spec`: what to start, and why it could not be started
//! - `limits`, `cgroup`: what a unit may use; the group of the kernel's that it cannot leave
//! - `environment`: the variables of a child, built and not inherited
//! - `unit`: one attempt from spawn to the end of its whole tree
//! - `step`: the unit's states as one pure transition
//! - `stop`: reasons and rungs of the stop ladder
//! - `capture`: what a stream said: a bounded part in memory, more in a file
//! - `children`: who the worker's children are, and which orphan belongs to whom
//! - `marks`: how a process is recognised as part of an attempt
//! - `leftovers`: what a dead worker left behind
//! - `report`: the obituary
//! - `sys`: the only door to raw process calls

mod capture;
mod cgroup;
mod children;
#[cfg(test)]
mod cost_tests;
mod environment;
mod leftovers;
mod limits;
mod marks;
mod report;
mod spec;
mod step;
mod stop;
mod supervisor;
mod sys;
#[cfg(test)]
mod tree_tests;
mod unit;

pub(crate) use capture::Captured;
pub(crate) use cgroup::{CgroupPlace, CgroupSettings, Contained, Controller, NoCgroups};
pub(crate) use leftovers::end_leftovers;
pub(crate) use limits::UnitLimits;
pub(crate) use report::{Outcome, UnitEnd, stop_message, timed_out_after};
pub(crate) use spec::{DEFAULT_FILE_BYTES, OutputLimits, Start, UnitSpec, check_program, resolve_program};
pub(crate) use stop::{Ladder, next_request};
pub(crate) use supervisor::{Supervisor, confine_worker};
pub(crate) use sys::watch;
