//! The flow being edited, without a browser.
//!
//! - `item`: names of what can be selected, moved or removed
//! - `edit`: every change, each with its inverse
//! - `undo`: the history of changes
//! - `connect`: whether two nodes may be connected, and why not
//! - `insert`: a new node that comes wired
//! - `clip`, `remap`: parts of a flow that travel, and their ids
//! - `loose`: references that no edge follows
//! - `merge`: two versions of a flow that began as one
//! - `document`: a flow with its history and what of it is saved

pub mod clip;
pub mod connect;
pub mod document;
pub mod edit;
pub mod insert;
pub mod item;
pub mod loose;
pub mod merge;
pub mod remap;
pub mod undo;
