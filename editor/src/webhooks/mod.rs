//! The webhooks of a flow: addresses that start it, their secrets, and what came in.
//!
//! - `words`: what states and statuses are called
//! - `section`: the list and what was just made
//! - `making`: the form for a new one
//! - `trigger`: one webhook with its deliveries
//! - `secret`: a secret, shown this once, with the line that calls the webhook

pub mod words;

#[cfg(target_arch = "wasm32")]
mod making;
#[cfg(target_arch = "wasm32")]
mod secret;
#[cfg(target_arch = "wasm32")]
pub(crate) mod section;
#[cfg(target_arch = "wasm32")]
mod trigger;
