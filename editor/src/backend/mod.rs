//! The way to the worker: requests, streams, the session, and whether it can be reached at all.
//!
//! Only this folder knows URLs, `fetch` and `EventSource`. Pages call `api`; components never come here. [`answer`]
//! and [`address`] are pure and tested on the host.

pub mod address;
pub mod answer;

#[cfg(target_arch = "wasm32")]
pub(crate) mod api;
#[cfg(target_arch = "wasm32")]
pub(crate) mod connection;
#[cfg(target_arch = "wasm32")]
pub(crate) mod events;
#[cfg(target_arch = "wasm32")]
pub(crate) mod http;
#[cfg(target_arch = "wasm32")]
pub(crate) mod library;
#[cfg(target_arch = "wasm32")]
pub(crate) mod session;
