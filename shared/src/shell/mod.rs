//! References in a shell command: where they stand, and what is written there instead.
//!
//! A reference never pastes text into a command. It becomes the expansion of an environment variable, written for the
//! quotes it stands in, so that its value is one word or a piece of one, and nothing in it is syntax. Where this
//! version cannot be sure of the place it refuses the command: it knows bare words, double quotes, single quotes and
//! comments, and nothing that nests.
//!
//! - `places`: the place of every reference, or why the command is refused
//! - `words`: the unquoted words of a command, for finding interpreters

mod places;
mod words;

pub use places::{Place, Refusal, places};
