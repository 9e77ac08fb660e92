//! Committed events and live output to subscribers; lag means "read the journal".
//!
//! - `wire`: an event as it goes out: masked, serialised once for everybody
//! - `output`: output of running steps, paced and bounded; never slows a child
//! - `run`: the feed of one run that is live
//! - `follow`: the journal, then the feed, without a gap or a repeat

pub(crate) mod follow;
pub(crate) mod output;
pub(crate) mod run;
pub(crate) mod wire;
