//! Bodies of requests, counted while they arrive.
//!
//! The declared length is only a hint: a body without one, or with a false one, meets the same limit. Before an early
//! answer a little of the rest is read and dropped, since a client that is cut off while it sends may never see why.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use warp::http::HeaderMap;
use warp::http::header::{CONTENT_ENCODING, EXPECT};
use weir_shared::limits::BODY_BYTES;

use super::problem::ApiError;

/// Bytes of a body that holds neither a flow nor a plan: inputs, an approval, a token.
const SMALL_BODY_BYTES: u64 = 1024 * 1024;
/// Bytes of a body that a stranger may send.
const STRANGER_BODY_BYTES: u64 = 16 * 1024;
/// The longest a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);
/// How much is read and dropped before an early answer, and for how long.
const DRAIN_BYTES: usize = 1024 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// How large a body may be here.
pub(super) fn limit_of(path: &str) -> u64 {
    match path {
        "/api/session" => STRANGER_BODY_BYTES,
        "/api/workflows" | "/api/workflows/check" | "/api/agent/run" | "/api/agent/batch" => BODY_BYTES,
        _ if path.starts_with("/api/workflows/") && !path.ends_with("/run") => BODY_BYTES,
        _ => SMALL_BODY_BYTES,
    }
}

/// The whole body, or why not. On a refusal the rest has been drained as far as is right.
pub(super) async fn read<B>(headers: &HeaderMap, body: B, limit: u64) -> Result<Bytes, ApiError>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut body = body;
    let encoded = headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity");
    let refusal = if encoded {
        ApiError::Encoded
    } else if body.size_hint().lower() > limit {
        ApiError::TooLarge { limit }
    } else {
        return match tokio::time::timeout(ARRIVAL, collect(&mut body, limit)).await {
            Ok(Ok(bytes)) => Ok(bytes),
            // It has been told to send by now, and does.
            Ok(Err(error)) => {
                drop_rest(&mut body).await;
                Err(error)
            }
            Err(_late) => Err(ApiError::TooSlow { seconds: ARRIVAL.as_secs() }),
        };
    };
    drain(headers, &mut body).await;
    Err(refusal)
}

async fn collect<B>(body: &mut B, limit: u64) -> Result<Bytes, ApiError>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_cut_off| ApiError::Malformed {
            code: "cut_off",
            message: "the body ended before it was complete".to_owned(),
        })?;
        let Ok(piece) = frame.into_data() else { continue };
        if (whole.len() + piece.len()) as u64 > limit {
            return Err(ApiError::TooLarge { limit });
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

/// Reads and drops what is coming of a body that nobody has begun to read, within bounds.
pub(super) async fn drain<B>(headers: &HeaderMap, body: &mut B)
where
    B: Body<Data = Bytes> + Unpin,
{
    // Such a client sends nothing until it is told to: reading would tell it.
    if !headers.contains_key(EXPECT) {
        drop_rest(body).await;
    }
}

/// Reads and drops what is still coming, within bounds.
async fn drop_rest<B>(body: &mut B)
where
    B: Body<Data = Bytes> + Unpin,
{
    let reading = async {
        let mut dropped = 0;
        while dropped <= DRAIN_BYTES {
            let Some(Ok(frame)) = body.frame().await else { return };
            dropped += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // Late is as good as done: the answer goes out either way.
    let _done_or_late = tokio::time::timeout(DRAIN_TIME, reading).await;
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::StreamBody;
    use hyper::body::Frame;

    use super::*;

    /// A body without a length, in pieces of 1 KiB, that counts how much of it was taken.
    fn chunked(pieces: usize) -> impl Body<Data = Bytes, Error = Infallible> + Unpin {
        StreamBody::new(futures_util::stream::iter(
            (0..pieces).map(|_| Ok(Frame::data(Bytes::from_static(&[b' '; 1024])))),
        ))
    }

    #[tokio::test]
    async fn a_body_without_a_length_meets_the_same_limit() {
        let headers = HeaderMap::new();
        assert_eq!(read(&headers, chunked(4), 4096).await.unwrap().len(), 4096);
        assert!(matches!(read(&headers, chunked(5), 4096).await, Err(ApiError::TooLarge { limit: 4096 })));
        assert!(matches!(read(&headers, chunked(50_000), 4096).await, Err(ApiError::TooLarge { .. })));
    }

    #[tokio::test]
    async fn a_compressed_body_is_refused_unread() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, "gzip".parse().unwrap());
        assert!(matches!(read(&headers, chunked(1), 4096).await, Err(ApiError::Encoded)));
    }

    #[test]
    fn only_flows_and_plans_may_be_large() {
        for large in ["/api/workflows", "/api/workflows/a", "/api/workflows/check", "/api/agent/run"] {
            assert_eq!(limit_of(large), BODY_BYTES, "{large}");
        }
        for small in ["/api/workflows/a/run", "/api/agent/r/approve", "/", "/api/unknown"] {
            assert_eq!(limit_of(small), SMALL_BODY_BYTES, "{small}");
        }
        assert_eq!(limit_of("/api/session"), STRANGER_BODY_BYTES);
    }
}
