//! Webhooks: an address with a secret of its own, and what becomes of a call.
//!
//! A call that is not let in learns nothing: a wrong secret, a missing one, a bad or stale signature and an address
//! that does not exist cost the same work and have the same answer. A call that is let in starts one run, or none, or
//! is told of the run that its event has started. What it starts is the active version of a flow, and a webhook whose flow
//! has none looks like one that does not exist. What a call carries is data: its body becomes inputs and nothing else.
//!
//! - `secret`: making and comparing secrets
//! - `signature`: HMAC-SHA256 over the exact bytes, as senders sign them
//! - `limits`: how often a trigger is called, and how often a peer guesses
//! - `nobody`: what is read where there is no trigger
//! - `in_flight`: calls with one event, one after another
//! - `triggers`: making, listing and removing triggers
//! - `refused`: what a flow must not have to be started by a webhook
//! - `receive`: from a call to its answer
//!
//! It knows no HTTP; `api/hooks` adapts.

mod in_flight;
mod limits;
mod nobody;
mod receive;
mod refused;
mod secret;
mod signature;
mod triggers;

pub(crate) use receive::{Accepted, Call, CallError, Knock};
pub(crate) use refused::Unfit;
pub(crate) use secret::WebhookSecret;
pub(crate) use triggers::{TriggerError, Webhooks, WebhooksOf};
