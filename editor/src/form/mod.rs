//! Fields made from schemas: of a tool's arguments and of a flow's inputs.
//!
//! - `schema`: a schema (and the display of a tool) as a list of fields (pure)
//! - `text`: values as they are typed, and back (pure)
//! - `control`: the right control for a field

pub mod schema;
pub mod text;

#[cfg(target_arch = "wasm32")]
pub(crate) mod control;
