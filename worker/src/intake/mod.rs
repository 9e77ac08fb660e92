//! What starts runs without a person: schedules, and deliveries of webhooks.
//!
//! Each way in judges who asks and hands one request to `engine`, with what it claims; nothing here runs a flow.

pub(crate) mod schedule;
pub(crate) mod webhook;
