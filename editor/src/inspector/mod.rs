//! The inspector: what is selected, configured.
//!
//! - `tree`: the values a field may refer to, with their types and why one does not fit (pure)
//! - `source`: where a value comes from: written by hand or taken from elsewhere (pure)
//! - `inputs_schema`: the flow's inputs as rows, written back into their schema (pure)
//! - `node`, `argument`, `picker`, `output`, `behaviour`: a node; `start`: the flow's inputs; `about`: the flow

pub mod inputs_schema;
pub mod source;
pub mod tree;

#[cfg(target_arch = "wasm32")]
mod about;
#[cfg(target_arch = "wasm32")]
mod argument;
#[cfg(target_arch = "wasm32")]
mod behaviour;
#[cfg(target_arch = "wasm32")]
mod node;
#[cfg(target_arch = "wasm32")]
mod output;
#[cfg(target_arch = "wasm32")]
mod panel;
#[cfg(target_arch = "wasm32")]
mod picker;
#[cfg(target_arch = "wasm32")]
mod start;

#[cfg(target_arch = "wasm32")]
pub(crate) use panel::Inspector;
