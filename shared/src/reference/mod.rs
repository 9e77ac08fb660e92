//! Templates: the texts that plain references (`{{inputs.day}}`, `{{node.fetch.result.json.items[0]}}`) and expressions
//! stand in.
//!
//! - `grammar`: what a plain reference is
//! - `parse`: a text to its pieces
//! - `naming`: what a text names, by references and by expressions
//! - `script`: a text with statements as one source
//! - `walk`: the texts of a step's arguments, and which steps they name
//! - `context`: what an expression sees of a run
//! - `resolve`: pieces and values to arguments · `command`: the same for a shell command
//!
//! A plain reference is resolved by a walker of our own; what is more than that is an `expression`.

mod command;
mod context;
mod grammar;
mod naming;
mod parse;
mod resolve;
mod script;
mod walk;

pub use grammar::{Fact, Reference, Root, Segment};
pub use naming::{Named, Names, Problem};
pub use parse::{Content, Dialect, Piece, Source, Syntax, Template, TemplateFault, parse};
pub use resolve::{Filled, Lookup, Resolved, Unresolved, Values, fill_args, resolve_args, resolve_goal};
pub(crate) use walk::step_of;
pub use walk::{Text, has_raw_shell, references_in_flow, steps_named, texts};
