//! Runs: from a request to the last event. One driver task a run; the journal is the truth, a state only adds it up.
//!
//! - `runs`: the handle that everybody else holds: start, approve, cancel, read, follow
//! - `driver`: the loop of one run
//! - `run_guard`: who answers within a turn: the guard, and the disk
//! - `attempt`: one call of a tool, as the driver sees it
//! - `recover`: what becomes of runs that the worker before this one left unfinished
//! - `concurrency`: how many runs of one flow may go on
//! - `outcome`: what one run came to, and waiting for it
//! - `tasks`: runs as what was admitted, and waiting for their ends
//! - `results`: what a flow's last run came to, node by node

mod attempt;
mod concurrency;
mod driver;
mod outcome;
mod recover;
mod results;
mod run_guard;
mod runs;
mod tasks;
#[cfg(test)]
mod tests;

pub(crate) use outcome::Outcome;
pub(crate) use runs::{Answer, ApproveError, CancelError, FollowError, ReadError, Runs, SANDBOX, Settings, Started};
pub(crate) use tasks::TaskError;
