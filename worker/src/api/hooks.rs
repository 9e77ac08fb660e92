//! `POST /api/workflow-hooks/{triggerId}`: calls of webhooks.
//!
//! The door hands these on by itself, around the routes: no token and no Origin is asked for here, and the secret is
//! judged before the body is read, where every other route gets its body whole.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use hyper::body::{Body, Bytes};
use warp::http::request::Parts;
use warp::http::{HeaderMap, Method, StatusCode};
use warp::reply::Response;
use weir_shared::ids::TriggerId;
use weir_shared::webhook::{DELIVERY_BYTES, DeliveryAnswer, DeliveryStatus, EVENT_ID_HEADER, MOST_WAIT_SECONDS};

use super::answer::{Answer, json, settle};
use super::body;
use super::problem::ApiError;
use super::query::Query;
use super::refusals::{CALL, START};
use super::route::{Route, any_object, of, post, text, whole};
use super::serve::Peer;
use crate::intake::webhook::{Accepted, Call, Knock, Webhooks};

const PREFIX: &str = "/api/workflow-hooks/";

/// The one route, for its description and its other methods.
pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/api/workflow-hooks/{triggerId}", "callWebhook", "Starts a run of the webhook's flow, once for an event")
            .at(("triggerId", of::<TriggerId>(), "The webhook"))
            .query(("wait", whole(0..=u64::MAX), "Seconds to wait for the end of the run; 60 at most"))
            .header((EVENT_ID_HEADER, text(), "The event's name, of at most 200 characters: it starts one run"))
            .may_take(any_object("Inputs of the run, in the place of the webhook's own; 256 KiB at most"))
            .answers(StatusCode::ACCEPTED, of::<DeliveryAnswer>(), "A run is admitted, and goes on")
            .answers(StatusCode::OK, of::<DeliveryAnswer>(), "The run has ended, or an earlier call started it")
            .refuses(CALL)
            .refuses(START)
            .for_senders(),
    ]
}

/// The trigger that a request calls; none: it is no call of a webhook.
pub(super) fn trigger_of(parts: &Parts) -> Option<&str> {
    let trigger = parts.uri.path().strip_prefix(PREFIX)?;
    (parts.method == Method::POST).then_some(trigger)
}

/// Answers a call of this trigger.
pub(super) async fn receive<B>(webhooks: &Webhooks, trigger: &str, parts: &Parts, body: B) -> Response
where
    B: Body<Data = Bytes> + Unpin,
{
    settle(answer(webhooks, trigger, parts, body).await)
}

async fn answer<B>(webhooks: &Webhooks, trigger: &str, parts: &Parts, mut body: B) -> Answer
where
    B: Body<Data = Bytes> + Unpin,
{
    let headers = |name: &str| value_of(&parts.headers, name);
    let peer = peer_of(parts);
    let call = Call { trigger, peer, headers: &headers };
    let (wait, knock) = match before_body(webhooks, &call, parts) {
        Ok(judged) => judged,
        Err(error) => {
            body::drain(&parts.headers, &mut body).await;
            return Err(error);
        }
    };
    let bytes = body::read(&parts.headers, body, DELIVERY_BYTES).await?;
    let guest = webhooks.let_in(knock, &call, &bytes)?;
    let accepted = webhooks.deliver(guest, &bytes).await?;
    drop(bytes);
    tell(webhooks, accepted, wait).await
}

/// What is judged before a byte of the body is read.
fn before_body(webhooks: &Webhooks, call: &Call<'_>, parts: &Parts) -> Result<(Duration, Knock), ApiError> {
    if !call.peer.to_canonical().is_loopback() && !webhooks.allow_remote() {
        return Err(ApiError::RemoteWebhook);
    }
    let wait = wait_of(parts.uri.query().unwrap_or_default())?;
    Ok((wait, webhooks.knock(call)?))
}

/// What the sender is told, at once or when the run has ended.
async fn tell(webhooks: &Webhooks, mut accepted: Accepted, wait: Duration) -> Answer {
    let outcome = if wait.is_zero() { None } else { webhooks.outcome(&accepted.run, wait).await? };
    if outcome.is_none() && !wait.is_zero() {
        // It may have come on meanwhile.
        accepted.status = webhooks.status(&accepted.run)?.unwrap_or(accepted.status);
    }
    let code = if accepted.is_duplicate || outcome.is_some() { StatusCode::OK } else { StatusCode::ACCEPTED };
    let (status, result, error) = match outcome {
        Some(outcome) => (Some(outcome.status), outcome.result, outcome.error),
        None => (None, None, None),
    };
    json(
        code,
        &DeliveryAnswer {
            trigger_id: accepted.trigger,
            task_id: accepted.task,
            run_id: accepted.run,
            accepted: true,
            duplicate: accepted.is_duplicate,
            delivery_status: status.map_or(accepted.status, DeliveryStatus::of),
            status,
            result,
            error,
        },
    )
}

/// `wait=<seconds>`, and nothing else.
fn wait_of(query: &str) -> Result<Duration, ApiError> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let seconds = Query::of(pairs, &["wait"])?.value::<u64>("wait", "a whole number of seconds")?;
    Ok(Duration::from_secs(seconds.unwrap_or(0).min(MOST_WAIT_SECONDS)))
}

/// A header's value; one that is there twice is none that could be right.
fn value_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a [u8]> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    Some(if values.next().is_some() { b"\xff" } else { first.as_bytes() })
}

/// Who is at the other end. The accept loop says so of every request; where none did, it is nobody near.
fn peer_of(parts: &Parts) -> IpAddr {
    parts.extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_whole_seconds_and_a_minute_at_most() {
        assert_eq!(wait_of("").unwrap(), Duration::ZERO);
        assert_eq!(wait_of("wait=5").unwrap(), Duration::from_secs(5));
        assert_eq!(wait_of("wait=600").unwrap(), Duration::from_mins(1));
        for wrong in ["wait=a", "wait=-1", "wait=1.5", "wiat=1", "wait=1&wait=2"] {
            assert!(wait_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_header_that_is_there_twice_is_no_value_that_could_be_right() {
        let mut headers = HeaderMap::new();
        headers.append("x-a", "one".parse().unwrap());
        assert_eq!(value_of(&headers, "x-a"), Some(&b"one"[..]));
        headers.append("x-a", "one".parse().unwrap());
        assert_eq!(value_of(&headers, "x-a"), Some(&b"\xff"[..]));
        assert_eq!(value_of(&headers, "x-b"), None);
    }
}
