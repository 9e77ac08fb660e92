//! What a run is, without doing any of it.
//!
//! - `event`: the durable facts of a run, and the frames a stream shows beside them
//! - `state`: what the facts add up to
//! - `reduce`: the only transition table: fact by fact, live, after a restart and in the page
//! - `decide`: what follows from an input: facts to record and actions to take

pub mod event;
pub mod state;
