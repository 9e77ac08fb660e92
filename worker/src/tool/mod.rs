//! The tools: their catalog, and one built-in tool a file.
//!
//! - `call`: what every tool is given and answers
//! - `toolbox`: the way in, [`Toolbox`]: finds a tool, checks what goes in and comes out, bounds it
//! - `catalog`: the declarations of the built-in tools
//! - `schema`: a tool's two schemas, compiled
//! - `files`: the tools that read, search and write files
//! - `http`: the tools that call other machines
//! - `git`: the tools on the repository of the flows
//! - `plugin`: tools of plugins: folders with a manifest that this machine trusts
//! - one file a tool: `execute_command`, `flow_if`, `flow_switch` (both over `compare`), `delay`, `json_format`,
//!   `json_query`, `text_template`

pub(crate) mod call;
mod catalog;
mod compare;
mod delay;
#[cfg(test)]
pub(crate) mod desk;
mod execute_command;
mod files;
mod flow_if;
mod flow_switch;
mod git;
mod http;
mod json_format;
mod json_query;
pub(crate) mod plugin;
mod schema;
mod text_template;
mod toolbox;

pub(crate) use catalog::{builtin_declarations, is_builtin};
pub(crate) use http::Network;
pub(crate) use schema::UnusableSchema;
pub(crate) use toolbox::{ToolSettings, Toolbox};
