//! Plugins: folders with a manifest, whose executables are tools once this machine trusts the folder.
//!
//! - `plugins`: [`Plugins`], what the rest of the worker holds: list, trust, enable
//! - `load`: the two homes to plugins, and what is wrong with each
//! - `manifest`: `plugin.json`, read strictly; `shape`: its closed objects
//! - `folder`: everything in a folder, and the digest of it
//! - `template`: `{{input.…}}` in a program's arguments
//! - `run`: one call of a plugin's tool
//! - `watch`: when to look at the homes again

mod folder;
mod load;
mod manifest;
mod plugins;
mod run;
mod shape;
mod template;
#[cfg(test)]
mod tests;
mod watch;

pub(crate) use load::{Homes, PluginTool, as_they_stand};
pub(crate) use manifest::ProcessLimits;
pub(crate) use plugins::{PluginError, Plugins};
pub(super) use run::{Offered, call};
