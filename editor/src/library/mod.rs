//! The library: every flow as a card, live.
//!
//! - `sketch`: a flow as a few boxes and lines (pure)
//! - `order`: which cards show, and in which order (pure)
//! - `shelf`: the flows of the worker as a signal, kept up to date
//! - `page`, `card`, `dialogs`: what is drawn

pub mod order;
pub mod sketch;

#[cfg(target_arch = "wasm32")]
mod card;
#[cfg(target_arch = "wasm32")]
mod dialogs;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
mod shelf;

#[cfg(target_arch = "wasm32")]
pub(crate) use page::LibraryPage;
