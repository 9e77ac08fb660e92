//! The model of flows and runs, and every decision that worker and page must agree on.
//!
//! This crate does no I/O, reads no clock, makes no random numbers and knows no async runtime; it builds for wasm32.
//!
//! A flow's way through it: bytes → `read` → [`flow`] → `check` → `compile` → [`plan`]; a run's way: `bind` inputs →
//! `run::decide` what happens → [`run::event`] what is recorded → `run::reduce` what it adds up to.

pub mod bind;
pub mod canonical;
pub mod check;
pub mod compile;
#[cfg(feature = "openapi")]
mod described;
pub mod diff;
pub mod expression;
pub mod finding;
pub mod flow;
mod found;
mod graph;
pub mod ids;
pub mod layout;
pub mod limits;
pub mod mask;
pub mod message;
pub mod nearest;
pub mod plan;
pub mod pointer;
pub mod published;
pub mod read;
pub mod recurrence;
pub mod reference;
pub mod run;
pub mod schedule;
pub mod schema;
pub mod select;
pub mod shell;
pub mod task;
pub mod tool;
pub mod webhook;
pub mod wire;
