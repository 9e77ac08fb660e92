//! What starts runs without a person: deliveries of webhooks.
//!
//! Each way in judges who asks and hands one request to `engine`, with what it claims; nothing here runs a flow.

pub(crate) mod webhook;
