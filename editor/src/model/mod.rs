//! The flow being edited, without a browser.
//!
//! - `item`: names of what can be selected, moved or removed
//! - `edit`: every change, each with its inverse
//! - `undo`: the history of changes
//! - `connect`: whether two nodes may be connected, and why not
//! - `document`: a flow with its history and what of it is saved

pub mod connect;
pub mod document;
pub mod edit;
pub mod item;
pub mod undo;
