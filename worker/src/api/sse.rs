//! Streams of server-sent events, as text.
//!
//! Written here and not with warp's own: its frames leave out the space after the colon, which some readers want, and
//! its comments come only when nothing else does.

use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream::{self, Stream, StreamExt};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use warp::Reply;
use warp::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use warp::reply::Response;

/// How often a comment shows that the stream is alive.
const BEAT: Duration = Duration::from_secs(15);
/// What every stream begins with: how long a browser waits before it asks again, in milliseconds.
const RETRY: &str = "retry: 1000\n\n";

/// A frame as text. Data is JSON on one line.
pub(super) fn frame(id: Option<u64>, event: &str, data: &str) -> String {
    let mut text = String::with_capacity(data.len() + event.len() + 40);
    if let Some(id) = id {
        // Writing to a String cannot fail.
        let _ok = writeln!(text, "id: {id}");
    }
    let _ok = write!(text, "event: {event}\ndata: {data}\n\n");
    text
}

/// The answer that sends these frames, with comments between, until they end.
pub(super) fn answer(frames: impl Stream<Item = String> + Send + 'static) -> Response {
    beating(frames, BEAT)
}

fn beating(frames: impl Stream<Item = String> + Send + 'static, beat: Duration) -> Response {
    let mut beats = interval_at(Instant::now() + beat, beat);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let first = stream::once(std::future::ready(RETRY.to_owned()));
    let rest = stream::unfold(Alive { frames: Box::pin(frames), beats }, |mut alive| async move {
        let text = alive.next().await?;
        Some((text, alive))
    });
    let text = Shared(Mutex::new(Box::pin(first.chain(rest))));
    let mut response = warp::reply::stream(text.map(Ok::<_, std::convert::Infallible>)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // For a proxy in front that would otherwise collect frames.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

type BoxedText = Pin<Box<dyn Stream<Item = String> + Send>>;

struct Alive {
    frames: BoxedText,
    beats: Interval,
}

impl Alive {
    async fn next(&mut self) -> Option<String> {
        tokio::select! {
            frame = self.frames.next() => frame,
            _ = self.beats.tick() => Some(": alive\n\n".to_owned()),
        }
    }
}

/// A stream that may be looked at from several threads, as warp wants it. It never is: only its owner polls it, so
/// the lock is never taken.
struct Shared(Mutex<BoxedText>);

impl Stream for Shared {
    type Item = String;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<String>> {
        self.get_mut().0.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut().poll_next(context)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_stream_says_when_to_ask_again_and_ends_with_its_frames() {
        let frames = stream::iter([frame(Some(1), "a", "{}"), frame(None, "b", "[1]")]);
        let body = answer(frames).into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "retry: 1000\n\nid: 1\nevent: a\ndata: {}\n\nevent: b\ndata: [1]\n\n");
    }

    #[tokio::test]
    async fn comments_come_while_nothing_else_does() {
        let (late, frames) = tokio::sync::mpsc::channel(1);
        let frames = stream::unfold(frames, |mut frames| async move { Some((frames.recv().await?, frames)) });
        let mut body = beating(frames, Duration::from_millis(1)).into_body();
        for expected in ["retry: 1000\n\n", ": alive\n\n", ": alive\n\n"] {
            assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), expected);
        }
        late.send(frame(Some(2), "late", "{}")).await.unwrap();
        drop(late);
        let rest = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        // A comment may still come on either side of it.
        assert_eq!(rest.replace(": alive\n\n", ""), "id: 2\nevent: late\ndata: {}\n\n");
    }
}
