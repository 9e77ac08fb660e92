//! `GET /api/agent/stream`: a run as it happens, from any of its events on.

use futures_util::StreamExt;
use warp::http::{HeaderMap, StatusCode};
use weir_shared::ids::{RunId, Seq};
use weir_shared::run::event::Event;

use super::Api;
use super::answer::{Answer, empty};
use super::ask::visible_run;
use super::problem::ApiError;
use super::query::Query;
use super::refusals::FOLLOW;
use super::route::{Route, get, of, text, whole};
use super::sse;
use crate::access::scope::{Caller, Scope};
use crate::engine::FollowError;

/// The one route.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/api/agent/stream", "followRun", "A run as it happens, from any of its events on")
            .query(("runId", of::<RunId>(), "The run; required"))
            .query(("after", whole(0..=u64::MAX), "The last event that the caller has"))
            .header(("Last-Event-ID", text(), "The same; it wins over `after`"))
            .streams(of::<Event>(), "A stream of the run's events, and of its output as `step_output` without ids")
            .answers_nothing(StatusCode::NO_CONTENT, "The run has ended, and the caller has all of it")
            .refuses(FOLLOW)
            .to(Scope::Read, |ask| async move { follow(&ask.api, &ask.caller, &ask.query, &ask.headers) }),
    ]
}

fn follow(api: &Api, caller: &Caller, query: &Query, headers: &HeaderMap) -> Answer {
    let run = query.text("runId").ok_or_else(|| ApiError::Malformed {
        code: "missing_parameter",
        message: "say which run, with `runId`".to_owned(),
    })?;
    let run = visible_run(api, caller, run)?;
    let after = last_seen(headers, query.text("after"))?;
    match api.runs.follow(&run, after) {
        Ok(frames) => {
            Ok(sse::answer(frames.map(|frame| sse::frame(frame.id.map(|seq| seq.0), frame.event, &frame.data))))
        }
        // A browser asks again after a stream's end until it is told that there is nothing.
        Err(FollowError::Ended) => Ok(empty(StatusCode::NO_CONTENT)),
        Err(error) => Err(error.into()),
    }
}

/// The last event that the follower has: the header, which a browser sends by itself when it asks again, wins over
/// the query, which it repeats.
fn last_seen(headers: &HeaderMap, after: Option<&str>) -> Result<Seq, ApiError> {
    let header = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("?").trim());
    let Some(text) = header.filter(|text| !text.is_empty()).or(after) else { return Ok(Seq(0)) };
    text.parse().map(Seq).map_err(|_| ApiError::Malformed {
        code: "bad_event_id",
        message: format!("`{text}` is no event of a run: ids are whole numbers from 1"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_wins_over_the_query() {
        let with = |id: &str| HeaderMap::from_iter([("last-event-id".parse().unwrap(), id.parse().unwrap())]);
        assert_eq!(last_seen(&with("7"), Some("3")).unwrap(), Seq(7));
        assert_eq!(last_seen(&HeaderMap::new(), Some("3")).unwrap(), Seq(3));
        assert_eq!(last_seen(&with(""), None).unwrap(), Seq(0));
        for bad in ["abc", "-1", "1.5", "99999999999999999999999"] {
            assert!(last_seen(&with(bad), None).is_err(), "{bad}");
        }
    }
}
