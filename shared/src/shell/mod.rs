//! Shell commands: where the references of one stand, and what is written there instead.
//!
//! A reference never pastes text into a command. It becomes the expansion of an environment variable, written for the
//! quotes it stands in, so that its value is one word or a piece of one, and nothing in it is syntax. A parser reads
//! the command as POSIX and bash do; where they differ about what follows, or where a word is code for someone, the
//! reference is refused with what to write instead.
//!
//! - `source`: a command as characters and values
//! - `reader`: the cursor · `quoting`: words · `document`: here-documents · `grammar`: commands
//! - `tree`: what comes of reading
//! - `programs`: which programs take which words for code
//! - `judge`: what becomes of each value · `words`: the same for the words of such programs
//! - `trouble`: why a place is not safe, in words
//! - `places`: the place of every reference, or why it is refused

mod document;
mod grammar;
mod judge;
mod places;
mod programs;
mod quoting;
mod reader;
mod source;
mod tree;
mod trouble;
mod words;

pub use places::{Place, Refusal, places};
