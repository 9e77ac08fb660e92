//! Who may come in: pure decisions over the head of a request.
//!
//! - [`origin`]: which names the worker answers to, and which pages may talk to it
//! - [`token`]: the long secret of the state directory
//! - [`named`]: further tokens, each of an owner and with less to open
//! - [`session`]: what a page holds in place of the token
//! - [`scope`]: what a caller may do, and who it is
//! - [`entry`]: the order in which all of them are asked
//!
//! Nothing here knows HTTP types, the store, files or clocks; `api::door` adapts.

pub(crate) mod code;
pub(crate) mod entry;
pub(crate) mod named;
pub(crate) mod origin;
pub(crate) mod scope;
pub(crate) mod session;
pub(crate) mod token;
