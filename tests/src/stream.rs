//! A stream of server-sent events, read frame by frame. Dropping it cuts the connection.

use std::io::{BufRead, BufReader, Read};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::wait::PATIENCE;

/// One frame. A comment is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The `id` line; frames that cannot be resumed from carry none.
    pub id: Option<u64>,
    pub event: String,
    pub data: Value,
}

/// An open stream.
pub struct Stream {
    reader: BufReader<Box<dyn Read + Send>>,
    /// The comments that keep a stream alive must not keep a test waiting.
    deadline: Instant,
    /// The `retry` line of the worker, in milliseconds.
    pub retry: Option<u64>,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("retry", &self.retry).finish_non_exhaustive()
    }
}

impl Stream {
    /// A stream over the body of an answer.
    pub fn of(body: impl Read + Send + 'static) -> Self {
        Self { reader: BufReader::new(Box::new(body)), deadline: Instant::now() + PATIENCE, retry: None }
    }

    /// The next frame, or none when the worker has ended the stream.
    pub fn frame(&mut self) -> Result<Option<Frame>> {
        let (mut id, mut event, mut data) = (None, String::new(), Vec::<String>::new());
        loop {
            if Instant::now() > self.deadline {
                bail!("the stream has neither ended nor told what the test waits for in {PATIENCE:?}");
            }
            let mut line = String::new();
            if self.reader.read_line(&mut line).context("the stream broke off")? == 0 {
                return Ok(None);
            }
            let line = line.trim_end_matches(['\r', '\n']);
            if line.is_empty() {
                if data.is_empty() && event.is_empty() {
                    continue;
                }
                let data = serde_json::from_str(&data.join("\n")).with_context(|| format!("data of `{event}`"))?;
                return Ok(Some(Frame { id, event, data }));
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                // A comment.
                "" => {}
                "id" => id = Some(value.parse().with_context(|| format!("`{value}` is no sequence number"))?),
                "event" => value.clone_into(&mut event),
                "data" => data.push(value.to_owned()),
                "retry" => self.retry = Some(value.parse()?),
                other => bail!("an event stream has no field `{other}`"),
            }
        }
    }

    /// Reads up to and including the first frame of this name for which `wanted` holds.
    pub fn until(&mut self, event: &str, wanted: impl Fn(&Value) -> bool) -> Result<Frame> {
        let mut seen = Vec::new();
        while let Some(frame) = self.frame()? {
            if frame.event == event && wanted(&frame.data) {
                return Ok(frame);
            }
            seen.push(format!("{} {}", frame.event, frame.data));
        }
        bail!("the stream ended without `{event}`; it had:\n{}", seen.join("\n"))
    }

    /// Every frame that is left.
    pub fn to_end(mut self) -> Result<Vec<Frame>> {
        let mut frames = Vec::new();
        while let Some(frame) = self.frame()? {
            frames.push(frame);
        }
        Ok(frames)
    }
}
