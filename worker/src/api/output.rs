//! `GET /api/agent/runs/{id}/steps/{index}/output`: what an attempt of a step wrote, as bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use futures_util::stream;
use hyper::body::Bytes;
use warp::http::StatusCode;
use warp::http::header::{CONTENT_TYPE, HeaderValue};
use warp::reply::{Reply, Response};
use weir_shared::ids::{RunId, Seq, StepIndex};
use weir_shared::limits::MAX_ATTEMPTS;
use weir_shared::run::event::OutputStream;

use super::Api;
use super::answer::{Answer, bytes_of};
use super::ask::visible_run;
use super::problem::ApiError;
use super::query::Query;
use super::route::{Route, get, of, whole};
use crate::access::scope::{Caller, Scope};
use crate::run_dir::RunDirectory;

/// Bytes read and sent at a time, so that an output of any size costs this much memory.
const PIECE_BYTES: usize = 64 * 1024;
const TYPE: &str = "application/octet-stream";

/// The one route.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/api/agent/runs/{id}/steps/{index}/output", "showOutput", "What an attempt of a step wrote, as it did")
            .at(("id", of::<RunId>(), "The run"))
            .at(("index", whole(0..=u32::MAX.into()), "The step"))
            .query((
                "attempt",
                whole(1..=MAX_ATTEMPTS.into()),
                "From 1; the last that wrote anything when it is not said",
            ))
            .query(("stream", of::<OutputStream>(), "`stdout` when it is not said"))
            .query(("offset", whole(0..=u64::MAX), "Bytes to leave out at the beginning"))
            .answers_bytes(TYPE, "The bytes; none when nothing was written")
            .to(Scope::Read, |ask| async move {
                let (run, index): (String, u32) = (ask.at("id")?, ask.at("index")?);
                show(&ask.api, &ask.caller, (&run, StepIndex(index)), &ask.query).await
            }),
    ]
}

async fn show(api: &Api, caller: &Caller, (run, index): (&str, StepIndex), query: &Query) -> Answer {
    let run = visible_run(api, caller, run)?;
    let stream = match query.text("stream") {
        None | Some("stdout") => OutputStream::Stdout,
        Some("stderr") => OutputStream::Stderr,
        Some(other) => return Err(ApiError::bad_parameter("stream", other, "stdout or stderr")),
    };
    let offset: u64 = query.value("offset", "a number of bytes")?.unwrap_or(0);
    let attempt: Option<u32> = query.value("attempt", "the number of an attempt, from 1")?;
    let directory = RunDirectory::of(&api.state, &run);
    let opened = blocking(move || open(&directory, index, attempt, stream, offset)).await?;
    match opened {
        Some(file) => Ok(send(file)),
        None if was_tried(api, &run, index, attempt)? => Ok(bytes_of(StatusCode::OK, TYPE, Bytes::new())),
        None => Err(ApiError::Unknown { what: format!("attempt of step {index} in run {run}") }),
    }
}

/// The file of the attempt, or of the last one that wrote anything; none when nothing was written, or not so much.
fn open(
    directory: &RunDirectory,
    index: StepIndex,
    attempt: Option<u32>,
    stream: OutputStream,
    offset: u64,
) -> io::Result<Option<File>> {
    let attempts = attempt.map_or(1..=MAX_ATTEMPTS, |attempt| attempt..=attempt);
    for attempt in attempts.rev() {
        match File::open(directory.output(index, attempt, stream)) {
            Ok(mut file) => {
                // Nothing is written there yet, and a file system may know no place so far out.
                if offset > file.metadata()?.len() {
                    return Ok(None);
                }
                file.seek(SeekFrom::Start(offset))?;
                return Ok(Some(file));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Whether the step came as far as this attempt: then it wrote nothing, which is not the same as never having been.
fn was_tried(api: &Api, run: &RunId, index: StepIndex, attempt: Option<u32>) -> Result<bool, ApiError> {
    let detail = api.runs.detail(run, Seq(0), 0)?;
    let step = detail.executions.iter().find(|execution| execution.index == index);
    Ok(step.is_some_and(|step| (1..=step.attempts).contains(&attempt.unwrap_or(1))))
}

fn send(file: File) -> Response {
    let pieces = stream::try_unfold(file, |mut file| async move {
        let read = blocking(move || {
            let mut piece = vec![0; PIECE_BYTES];
            let read = file.read(&mut piece)?;
            piece.truncate(read);
            Ok((piece, file))
        });
        let (piece, file) = read.await.map_err(|error| io::Error::other(error.to_string()))?;
        Ok::<_, io::Error>((!piece.is_empty()).then(|| (Bytes::from(piece), file)))
    });
    let mut response = warp::reply::stream(pieces).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TYPE));
    response
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await.map_err(io::Error::other).and_then(std::convert::identity);
    done.map_err(|error| ApiError::Internal { reason: format!("output cannot be read: {error}") })
}
