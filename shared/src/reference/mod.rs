//! Plain references: `{{inputs.day}}`, `{{node.fetch.result.json.items[0]}}`, and the texts they stand in.
//!
//! - `grammar`: what a plain reference is
//! - `parse`: a text to its pieces
//! - `walk`: the texts of a step's arguments, and which steps they name
//! - `resolve`: pieces and values to arguments
//!
//! More than a plain reference is an expression, which this version refuses by name. Nothing here evaluates code.

mod grammar;
mod parse;
mod resolve;
mod walk;

pub use grammar::{Fact, Reference, Root, Segment};
pub use parse::{Content, Dialect, ExpressionKind, Piece, Syntax, Template, TemplateFault, parse};
pub use resolve::{Lookup, Resolved, Unresolved, Values, resolve_args, resolve_goal};
pub(crate) use walk::step_of;
pub use walk::{Text, references_in_flow, steps_named, texts};
