//! Signals that mirror the model, and the verbs that change it.
//!
//! - `builder`: everything the builder's panels share, handed out through the context
//! - `card`: what a run makes of a node

pub(crate) mod builder;
pub(crate) mod card;
