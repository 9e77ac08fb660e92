//! What watching a directory comes to, whatever lies in it: events only say when to look, and a look waits until
//! nothing more happens, but not for long.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind};

/// How long nothing may happen before a look. A checkout writes its files closer together than this.
const QUIET: Duration = Duration::from_millis(40);
/// The longest a look is put off while things keep happening: a change must show within 300 ms.
const PUT_OFF: Duration = Duration::from_millis(180);

/// What wakes a watching loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Something happened that may have changed what is watched.
    Touched,
    /// Whoever watches is gone.
    Stop,
}

/// The loop is to end.
pub(crate) struct Stopped;

/// Waits for a touch, at most this long, and then until nothing has happened for a while.
pub(crate) fn until_quiet(signals: &Receiver<Signal>, at_most: Duration) -> Result<(), Stopped> {
    match signals.recv_timeout(at_most) {
        Ok(Signal::Touched) => quieten(signals),
        Err(RecvTimeoutError::Timeout) => Ok(()),
        Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => Err(Stopped),
    }
}

fn quieten(signals: &Receiver<Signal>) -> Result<(), Stopped> {
    let latest = Instant::now() + PUT_OFF;
    loop {
        let left = latest.saturating_duration_since(Instant::now());
        match signals.recv_timeout(QUIET.min(left)) {
            Ok(Signal::Touched) if !left.is_zero() => {}
            Ok(Signal::Touched) | Err(RecvTimeoutError::Timeout) => return Ok(()),
            Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return Err(Stopped),
        }
    }
}

/// Whether an event may have changed a file. Reading does not, and our own looks are made of it.
pub(crate) fn may_change(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Any
        | EventKind::Other => true,
        EventKind::Access(_) => false,
    }
}
