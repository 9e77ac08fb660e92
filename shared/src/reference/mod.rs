//! Plain references: `{{inputs.day}}`, `{{node.fetch.result.json.items[0]}}`, and the texts they stand in.
//!
//! - `parse`: a text to its pieces, a reference to its root and path
//! - `walk`: the texts of a step's arguments, and which steps they name
//! - `resolve`: pieces and values to arguments
//!
//! More than a plain reference is an expression, which this version refuses by name. Nothing here evaluates code.

mod parse;
mod resolve;
mod walk;

pub use parse::{
    Content, Dialect, ExpressionKind, Fact, Piece, Reference, Root, Segment, Syntax, Template, TemplateFault, parse,
};
pub use resolve::{Lookup, Resolved, Unresolved, Values, resolve_args, resolve_goal};
pub(crate) use walk::step_of;
pub use walk::{Text, references_in_flow, steps_named, texts};
