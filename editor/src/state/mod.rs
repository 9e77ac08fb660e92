//! Signals that mirror the model, and the verbs that change it.
//!
//! - `builder`: everything the builder's panels share, handed out through the context
//! - `card`: what a run makes of a node
//! - `drafts`: unsaved work of flows that are not on screen
//! - `file`: saving, and what happens when the file on disk changes
//! - `local`: unsaved work kept in the browser, so that a killed tab loses none
//! - `stage`: the canvas as it stands

pub(crate) mod builder;
pub(crate) mod card;
pub(crate) mod drafts;
pub(crate) mod file;
pub(crate) mod local;
pub(crate) mod stage;
