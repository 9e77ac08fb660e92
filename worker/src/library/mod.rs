//! The flow library: every `<id>.flow.json` of one directory, as it is on disk now.
//!
//! The directory is the only home of flows; this module mirrors it and never keeps a change to itself. Guarantees:
//! `revision` is always of the bytes on disk; `flow` is the last one that was readable since this start; a change by
//! anyone shows within 300 ms; a save never writes over bytes it has not been shown. It knows nothing of runs.
//!
//! - `directory`: [`Library`], what the rest of the worker holds
//! - `catalog`: the flows as they were last seen, and who is told of changes
//! - `load`: one file to one [`Entry`]
//! - `scan`: what changed in the directory since the last look
//! - `save`: creating, saving and deleting files
//! - `versions`: the published versions beside the flows
//! - `watch`: when to look; the only place that knows notify

mod catalog;
mod directory;
mod load;
mod save;
mod scan;
mod versions;
mod watch;

#[cfg(test)]
mod tests;

pub(crate) use catalog::LibraryChange;
pub(crate) use directory::Library;
pub(crate) use load::Entry;
pub(crate) use save::SaveError;
pub(crate) use versions::{Service, Version, VersionFiles};
