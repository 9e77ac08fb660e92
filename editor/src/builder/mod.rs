//! The builder: one flow, drawn, configured, saved, run.
//!
//! - `page`: loads the flow and opens the workbench on it
//! - `workbench`: the panels around the canvas
//! - `toolbar`: name, state, undo, save, run
//! - `findings`: what is wrong, and the way to it
//! - `conflict`: a save that would overwrite a newer file
//! - `keys`, `clipboard`: the keyboard, and copy and paste
//! - `recovered`: unsaved work of a page that is gone
//! - `shortcuts`: every key on one sheet
//! - `unreadable`: a file that is no flow

pub(crate) mod clipboard;
pub(crate) mod compare;
mod conflict;
pub(crate) mod findings;
pub(crate) mod keys;
pub(crate) mod page;
pub(crate) mod recovered;
pub(crate) mod shortcuts;
pub(crate) mod toolbar;
pub(crate) mod unreadable;
pub(crate) mod workbench;

pub(crate) use page::BuilderPage;
