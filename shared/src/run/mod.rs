//! What a run is, without doing any of it.
//!
//! - `event`: the durable facts of a run, and the frames a stream shows beside them
//! - `graph`: which step waits for which
//! - `state`: what the facts add up to
//! - `reduce`: the only transition table: fact by fact, live, after a restart and in the page
//! - `view`: a state as the API shows it

pub mod event;
pub mod graph;
pub mod reduce;
pub mod state;
pub mod view;
