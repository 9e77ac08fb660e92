//! What a run is, without doing any of it.
//!
//! - `event`: the durable facts of a run, and the frames a stream shows beside them
//! - `graph`: which step waits for which
//! - `state`: what the facts add up to
//! - `reduce`: the only transition table: fact by fact, live, after a restart and in the page
//! - `covered`: what has become of the files that an approval covers
//! - `decide`: what follows from an input: facts to record and actions to take
//! - `skip`: which steps are passed over, and why
//! - `turn`: inputs in, everything that follows from them out
//! - `values`: what a step's references see
//! - `view`: a state as the API shows it

mod covered;
pub mod decide;
pub mod event;
pub mod graph;
pub mod reduce;
mod skip;
pub mod state;
pub mod turn;
pub mod values;
pub mod view;
#[cfg(test)]
mod walk;
