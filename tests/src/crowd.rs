//! Many followers of one run at once, each in a thread of its own, some of them cut off now and again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Context, Result, bail};
use weir_shared::ids::RunId;

use crate::client::{Client, Followed};
use crate::stream::{Frame, Stream};
use crate::wait::{PATIENCE, until};

/// What a follower's thread may use: a thousand of them are to cost little.
const STACK_BYTES: usize = 256 * 1024;

/// Whether the lines of a crowd hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    Whole,
    /// Each is cut after every so many frames, another number for each follower, and taken up again after the last id.
    Cut,
}

/// What one follower saw of a run, over all its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The ids of the frames that have one, as they came.
    pub ids: Vec<u64>,
    /// Of these frames, to be held against another's.
    pub digest: u64,
    pub connections: usize,
}

/// Followers of a run.
#[derive(Debug)]
pub struct Crowd {
    followers: Vec<JoinHandle<Result<Seen>>>,
}

impl Crowd {
    /// Lets so many follow a run from its beginning. Returns once each is connected and has seen its first frame.
    pub fn gather(client: &Client, run: &RunId, size: usize, lines: Lines) -> Result<Self> {
        let arrived = Arc::new(AtomicUsize::new(0));
        let trouble = Arc::new(Mutex::new(None));
        let mut followers = Vec::with_capacity(size);
        for number in 0..size {
            let (client, run) = (client.clone(), run.clone());
            let (arrived, trouble) = (Arc::clone(&arrived), Arc::clone(&trouble));
            let every = match lines {
                Lines::Whole => usize::MAX,
                Lines::Cut => 20 + number * 7 % 90,
            };
            let follow = move || {
                let followed = follow(&client, &run, every, &|| {
                    arrived.fetch_add(1, Ordering::Relaxed);
                });
                if let Err(error) = &followed {
                    *trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{error:#}"));
                }
                followed
            };
            followers.push(std::thread::Builder::new().stack_size(STACK_BYTES).spawn(follow)?);
        }
        until("everybody to be connected", 4 * PATIENCE, || {
            let trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
            (trouble.is_some() || arrived.load(Ordering::Relaxed) == size).then_some(trouble)
        })?
        .map_or(Ok(Self { followers }), |trouble| bail!("a follower failed: {trouble}"))
    }

    /// What each saw, once the run has ended.
    pub fn seen(self) -> Result<Vec<Seen>> {
        let seen = |follower: JoinHandle<Result<Seen>>| match follower.join() {
            Ok(seen) => seen,
            Err(_) => bail!("a follower panicked"),
        };
        self.followers.into_iter().map(seen).collect()
    }
}

/// Follows a run to its end, with a new connection after every so many frames. Tells when the first frame has come.
fn follow(client: &Client, run: &RunId, every: usize, arrived: &dyn Fn()) -> Result<Seen> {
    let mut seen = Seen { ids: Vec::new(), digest: 0, connections: 0 };
    let mut hasher = DefaultHasher::new();
    loop {
        let last = seen.ids.last().map(u64::to_string);
        let mut stream = match client.try_to_follow(run, last.as_deref())? {
            Followed::Stream(stream) => stream,
            // Everything was seen, and the line was cut right after it.
            Followed::Answer(answer) if answer.status == 204 => break,
            Followed::Answer(answer) => bail!("{answer:?} is no stream"),
        };
        seen.connections += 1;
        if !take(&mut stream, every, &mut (&mut seen, &mut hasher), arrived)? {
            break;
        }
    }
    seen.digest = hasher.finish();
    Ok(seen)
}

/// Takes so many frames; false when the run has told its end.
fn take(
    stream: &mut Stream,
    every: usize,
    (seen, hasher): &mut (&mut Seen, &mut DefaultHasher),
    arrived: &dyn Fn(),
) -> Result<bool> {
    for _ in 0..every {
        let Some(frame) = stream.frame()? else { bail!("the stream ended before the run") };
        // Output that is on its way has no id and is not told again.
        let Some(id) = frame.id else { continue };
        if seen.ids.is_empty() {
            arrived();
        }
        seen.ids.push(id);
        note(&frame, hasher);
        if matches!(frame.event.as_str(), "complete" | "error") {
            return Ok(false);
        }
    }
    Ok(true)
}

fn note(frame: &Frame, hasher: &mut DefaultHasher) {
    (frame.id, &frame.event, frame.data.to_string()).hash(hasher);
}

/// What a follower sees of this run who comes once it has ended.
pub fn afterwards(client: &Client, run: &RunId) -> Result<Seen> {
    follow(client, run, usize::MAX, &|| ()).context("after the end")
}
