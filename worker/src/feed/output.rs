//! Output of running steps on its way to those who watch: at most ten frames a second and 32 KiB each for every
//! stream of an attempt, and never a wait for the child.
//!
//! What comes faster than that is left out here and can be read from the run's directory; a frame's `offset` shows
//! the hole. The last 32 KiB of every stream are kept for whoever connects while the attempt runs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use weir_shared::ids::StepIndex;
use weir_shared::run::event::{OutputStream, StepOutput};

use super::run::RunFeed;
use super::wire::Frame;
use crate::tool::call::OutputTap;

/// Bytes of one frame, and of what is kept for those who connect.
const FRAME_BYTES: usize = 32 * 1024;
/// The least time between two frames of one stream.
const PACE: Duration = Duration::from_millis(100);

/// The output of one attempt.
pub(crate) struct AttemptOutput {
    feed: Weak<RunFeed>,
    index: StepIndex,
    attempt: u32,
    stdout: Mutex<Paced>,
    stderr: Mutex<Paced>,
    /// Itself, for the frame that a timer sends later.
    this: Weak<Self>,
}

#[derive(Default)]
struct Paced {
    /// Bytes not sent yet, at most a frame's worth, and where they begin.
    pending: Vec<u8>,
    pending_at: u64,
    last_sent: Option<Instant>,
    timer_set: bool,
    tail: VecDeque<u8>,
    /// Bytes of the stream so far.
    end: u64,
}

impl AttemptOutput {
    pub(crate) fn new(feed: &Arc<RunFeed>, index: StepIndex, attempt: u32) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            feed: Arc::downgrade(feed),
            index,
            attempt,
            stdout: Mutex::default(),
            stderr: Mutex::default(),
            this: this.clone(),
        })
    }

    /// Sends what is pending, whatever the pace: the attempt is over.
    pub(crate) fn finish(&self) {
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            self.flush(stream, Cut::Nowhere);
        }
    }

    /// The last 32 KiB of both streams, for who connects now.
    pub(crate) fn recent(&self) -> Vec<Frame> {
        let streams = [OutputStream::Stdout, OutputStream::Stderr];
        let recent = |stream: OutputStream| {
            let mut paced = self.paced(stream);
            let offset = paced.end - paced.tail.len() as u64;
            let bytes = paced.tail.make_contiguous();
            (!bytes.is_empty()).then(|| self.frame(stream, offset, bytes))
        };
        streams.into_iter().filter_map(recent).collect()
    }

    fn paced(&self, stream: OutputStream) -> std::sync::MutexGuard<'_, Paced> {
        let paced = match stream {
            OutputStream::Stdout => &self.stdout,
            OutputStream::Stderr => &self.stderr,
        };
        paced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn frame(&self, stream: OutputStream, offset: u64, bytes: &[u8]) -> Frame {
        let text = String::from_utf8_lossy(bytes).into_owned();
        Frame::output(&StepOutput { index: self.index, attempt: self.attempt, stream, offset, text })
    }

    fn flush(&self, stream: OutputStream, cut: Cut) {
        let Some(feed) = self.feed.upgrade() else { return };
        let mut paced = self.paced(stream);
        paced.timer_set = false;
        let whole = match cut {
            Cut::Nowhere => paced.pending.len(),
            Cut::BetweenCharacters => whole_characters(&paced.pending),
        };
        if whole == 0 {
            return;
        }
        let frame = self.frame(stream, paced.pending_at, &paced.pending[..whole]);
        paced.pending.drain(..whole);
        paced.pending_at += whole as u64;
        paced.last_sent = Some(Instant::now());
        feed.output(frame);
    }
}

/// Where a frame may end.
#[derive(Clone, Copy)]
enum Cut {
    /// A character that has only come in part waits for the next frame.
    BetweenCharacters,
    Nowhere,
}

/// Bytes up to a character that is still incomplete at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        // An error without a length is an unfinished character at the end.
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => {
            let unfinished = bytes.iter().rev().take(3).position(|byte| *byte >= 0xC0).map_or(0, |back| back + 1);
            let start = bytes.len() - unfinished;
            match std::str::from_utf8(&bytes[start..]) {
                Err(error) if error.error_len().is_none() => start,
                _ => bytes.len(),
            }
        }
    }
}

impl OutputTap for AttemptOutput {
    fn write(&self, stream: OutputStream, offset: u64, bytes: &[u8]) {
        let wait = {
            let mut paced = self.paced(stream);
            paced.remember(offset, bytes);
            if paced.timer_set {
                return;
            }
            paced.timer_set = true;
            paced.last_sent.map_or(Duration::ZERO, |sent| PACE.saturating_sub(sent.elapsed()))
        };
        if wait.is_zero() {
            self.flush(stream, Cut::BetweenCharacters);
            return;
        }
        let this = self.this.clone();
        // The timer ends by itself within a tenth of a second, and holds nothing alive.
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            if let Some(output) = this.upgrade() {
                output.flush(stream, Cut::BetweenCharacters);
            }
        });
    }
}

impl Paced {
    fn remember(&mut self, offset: u64, bytes: &[u8]) {
        self.end = offset + bytes.len() as u64;
        let kept = &bytes[bytes.len().saturating_sub(FRAME_BYTES)..];
        let surplus = (self.tail.len() + kept.len()).saturating_sub(FRAME_BYTES);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(kept);
        // A reader wants the newest: what was pending makes room, and the offset moves past the hole.
        if self.pending.is_empty() {
            self.pending_at = offset;
        }
        self.pending.extend_from_slice(kept);
        let surplus = self.pending.len().saturating_sub(FRAME_BYTES);
        self.pending.drain(..surplus);
        self.pending_at = self.end - self.pending.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_has_come_in_part_waits() {
        assert_eq!(whole_characters("añ".as_bytes()), 3);
        assert_eq!(whole_characters(&"añ".as_bytes()[..2]), 1);
        assert_eq!(whole_characters(b"\xff\xfeab"), 4);
        assert_eq!(whole_characters(b"\xff\xfeab\xe2\x82"), 4);
        assert_eq!(whole_characters(b""), 0);
    }

    #[test]
    fn fast_output_keeps_the_newest_and_shows_the_hole() {
        let mut paced = Paced::default();
        paced.remember(0, &[b'a'; 10]);
        paced.remember(10, &vec![b'b'; FRAME_BYTES]);
        assert_eq!((paced.pending_at, paced.pending.len()), (10, FRAME_BYTES));
        paced.remember(10 + FRAME_BYTES as u64, b"c");
        assert_eq!((paced.pending_at, paced.pending.last()), (11, Some(&b'c')));
        assert_eq!((paced.end, paced.tail.len()), (11 + FRAME_BYTES as u64, FRAME_BYTES));
    }
}
