//! The tools: their catalog, and one built-in tool a file.
//!
//! - `call`: what every tool is given and answers

pub(crate) mod call;
