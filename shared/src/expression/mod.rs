//! Expressions: `{{ node.fetch.result.items | length }}`, and texts with statements (`{% for … %}`).
//!
//! The language is minijinja's, with undefined values refused, bounded work and bounded output, no templates beside
//! the one at hand and no macros. What an expression names is told from its syntax tree before anything runs, so a run
//! waits for the right steps and gives an expression nothing that it does not name.
//!
//! - `environment`: the language: its bounds, its filters, how values become text
//! - `filters`: the filters of our own
//! - `walk`: a way through a syntax tree
//! - `names`: what an expression names, and what is wrong with it, without running it
//! - `soften`: paths that may lead nowhere, before `default` and `is defined`
//! - `evaluate`: source and context to a value or a text
//!
//! Where an expression stands in a text and what its names mean is the business of `reference`.

mod environment;
mod evaluate;
mod filters;
mod names;
mod soften;
mod walk;

pub(crate) use environment::ask_reference;
pub use environment::{FUEL, OUTPUT_BYTES};
pub(crate) use evaluate::{Context, Failure, evaluate, render, seen};
pub use evaluate::{query, template};
pub(crate) use names::{Chain, Found, Key, of_expression, of_template};
