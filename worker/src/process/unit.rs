//! One attempt, from spawn to the end of its whole tree. One [`Unit`] owns one process; nothing else signals or
//! reaps it.
//!
//! The loop waits for one thing at a time, turns it into an input, and does what `step` answers. It guarantees that
//! the end is told only once everything that belongs to the attempt is gone, the leader's zombie last.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use weir_shared::run::event::OutputStream;

use super::capture::{Capture, Captured};
use super::children::{self, Leader, Orphan};
use super::leftovers::{Note, Notes};
use super::marks::Marks;
use super::report::{Remains, UnitEnd};
use super::spec::{SpawnError, UnitSpec};
use super::step::{Action, At, Exit, Group, Input, Pipes, UnitState, step};
use super::stop::next_request;
use super::sys::{self, Launch};
use crate::secret::{Masked, Masker};
use crate::tool::call::{OutputTap, StopReceiver};

/// Bytes taken from a pipe at once: what a pipe holds.
const PIECE: usize = 64 * 1024;
/// Pieces taken from a pipe before anything else is looked at: a process that writes without end must not keep its
/// own deadline from being noticed.
const PIECES_A_TURN: usize = 16;

/// A process that runs, and everything its loop needs.
#[derive(Debug)]
struct Unit {
    leader: Leader,
    pidfd: AsyncFd<OwnedFd>,
    stdout: Stream,
    stderr: Stream,
    /// Orphans whose end is waited for.
    awaited: Vec<AsyncFd<OwnedFd>>,
    awaiting: Awaiting,
    /// An input that an action made.
    next: Option<Input>,
    swept: u32,
    note: Option<Note>,
}

/// What is told once the awaited orphans have ended.
#[derive(Debug, Clone, Copy)]
enum Awaiting {
    Group,
    Tree,
}

/// The reading end of one output.
struct Stream {
    name: OutputStream,
    /// None once every writer has closed it.
    pipe: Option<AsyncFd<OwnedFd>>,
    /// Stands between the pipe and all that keeps or sees the output.
    masked: Masked,
    capture: Capture,
    tap: Arc<dyn OutputTap>,
}

/// Reads one piece from a pipe into the capture; its length, 0 at the end.
type ReadPiece<'a> = dyn FnMut(&OwnedFd) -> io::Result<usize> + 'a;

/// What a unit is run with.
pub(super) struct Surroundings<'a> {
    pub(super) marks: Marks,
    pub(super) notes: &'a Notes,
    pub(super) masker: &'a Masker,
    pub(super) stopping: StopReceiver,
    pub(super) tap: Arc<dyn OutputTap>,
}

/// Who hears the output, and what is hidden from it.
#[derive(Clone, Copy)]
struct Hearing<'a> {
    masker: &'a Masker,
    tap: &'a Arc<dyn OutputTap>,
}

/// Runs the command to the end of its tree.
///
/// The spawn is done right here: it takes half a millisecond, less than handing it to another thread and back would
/// cost a runtime that has two cores.
pub(super) async fn run(spec: &UnitSpec, launch: Launch, around: Surroundings<'_>) -> UnitEnd {
    let Surroundings { marks, notes, masker, mut stopping, tap } = around;
    if let Some(reason) = *stopping.borrow_and_update() {
        return UnitEnd::withheld(reason);
    }
    let began = Instant::now();
    let mut unit = match Unit::start(spec, launch, marks, Hearing { masker, tap: &tap }) {
        Ok(unit) => unit,
        Err(error) => return UnitEnd::not_started(error, began.elapsed()),
    };
    // One that was asked for while the process was being started.
    unit.next = stopping.borrow_and_update().map(Input::Stop);

    let mut state = UnitState::started(began, spec.timeout);
    let mut timer = pin!(tokio::time::sleep_until(began.into()));
    let mut timer_at = began;
    let ending = loop {
        if let UnitState::Ended(ending) = state {
            break ending;
        }
        let wake_at = state.wake_at();
        if let Some(wake_at) = wake_at
            && wake_at != timer_at
        {
            timer.as_mut().reset(wake_at.into());
            timer_at = wake_at;
        }
        let leader_runs = matches!(state, UnitState::Running { .. } | UnitState::Stopping { .. });
        let input = if let Some(input) = unit.next.take() {
            Some(input)
        } else {
            tokio::select! {
                reason = next_request(&mut stopping) => Some(Input::Stop(reason)),
                () = timer.as_mut(), if wake_at.is_some() => Some(Input::Time),
                exit = exited(&unit.pidfd), if leader_runs => Some(unit.leader_ended(exit, &state)),
                () = unit.stdout.ready(), if unit.stdout.is_open() => unit.read_stdout(),
                () = unit.stderr.ready(), if unit.stderr.is_open() => unit.read_stderr(),
                () = all_ended(&mut unit.awaited), if !unit.awaited.is_empty() => unit.look_for_orphans(),
            }
        };
        let Some(input) = input else {
            tokio::task::coop::consume_budget().await;
            continue;
        };
        let (next, actions) = step(state, input, At { ladder: &spec.ladder, now: Instant::now() });
        state = next;
        for action in actions {
            unit.act(action, spec, notes);
        }
    };

    let counted = unit.leader.counted();
    let cpu = unit.leader.reap();
    let remains = Remains {
        pid: unit.leader.pid(),
        ending,
        ladder: spec.ladder,
        cpu,
        counted,
        swept: unit.swept,
        duration: began.elapsed(),
        limit: spec.timeout,
    };
    UnitEnd::of(&remains, unit.stdout.finish(), unit.stderr.finish())
}

impl Unit {
    fn start(spec: &UnitSpec, launch: Launch, marks: Marks, hearing: Hearing<'_>) -> Result<Self, SpawnError> {
        let (leader, started) = children::start(spec, launch, marks)?;
        let stream = |name: OutputStream, pipe: OwnedFd| -> Result<Stream, SpawnError> {
            let path = spec.run_dir.output(spec.identity.step, spec.identity.attempt, name);
            let capture = Capture::new(spec.output, path);
            Ok(Stream {
                name,
                pipe: Some(watch(pipe)?),
                masked: hearing.masker.stream(),
                capture,
                tap: Arc::clone(hearing.tap),
            })
        };
        // An error from here on drops the leader, which kills its group.
        Ok(Self {
            pidfd: watch(started.pidfd)?,
            stdout: stream(OutputStream::Stdout, started.stdout)?,
            stderr: stream(OutputStream::Stderr, started.stderr)?,
            leader,
            awaited: Vec::new(),
            awaiting: Awaiting::Tree,
            next: None,
            swept: 0,
            note: None,
        })
    }

    fn act(&mut self, action: Action, spec: &UnitSpec, notes: &Notes) {
        match action {
            Action::Tend => {
                if self.note.is_none() {
                    self.note = notes.write(&spec.run_dir, self.leader.pid());
                }
                children::reap_strays();
            }
            Action::Ask => sys::signal_group(self.leader.pid(), spec.ladder.signal),
            Action::KillGroup => sys::kill_group(self.leader.pid()),
            Action::AwaitGroup => {
                self.awaiting = Awaiting::Group;
                self.next = self.look_for_orphans();
            }
            Action::SweepTree => {
                self.awaiting = Awaiting::Tree;
                self.next = self.look_for_orphans();
            }
        }
    }

    /// Looks for what is still there of the unit beside its leader: waits for it, and kills it first when the whole
    /// tree is to go. The input when nothing is there.
    fn look_for_orphans(&mut self) -> Option<Input> {
        let orphans = match self.awaiting {
            Awaiting::Group => self.leader.group(),
            Awaiting::Tree => self.leader.orphans(),
        };
        if orphans.is_empty() {
            self.awaited.clear();
            return Some(match self.awaiting {
                Awaiting::Group => Input::GroupGone,
                Awaiting::Tree => Input::TreeGone { pipes: self.drain_pipes() },
            });
        }
        if let Awaiting::Tree = self.awaiting {
            for Orphan { pidfd, outside, .. } in &orphans {
                sys::kill(pidfd);
                self.swept += u32::from(*outside);
            }
            // Also what was forked since they were listed.
            self.leader.kill_control_group();
        }
        // One that cannot be watched is waited for no longer than the state's own patience.
        self.awaited = orphans.into_iter().filter_map(|orphan| watch(orphan.pidfd).ok()).collect();
        None
    }

    fn leader_ended(&mut self, exit: Exit, state: &UnitState) -> Input {
        let group = match state {
            UnitState::Stopping { .. } if !self.leader.group().is_empty() => Group::Living,
            UnitState::Stopping { .. } | UnitState::Running { .. } | UnitState::Draining(_) | UnitState::Ended(_) => {
                Group::Empty
            }
        };
        Input::LeaderEnded { exit, pipes: self.drain_pipes(), group }
    }

    fn read_stdout(&mut self) -> Option<Input> {
        self.stdout.read();
        self.closed()
    }

    fn read_stderr(&mut self) -> Option<Input> {
        self.stderr.read();
        self.closed()
    }

    fn closed(&self) -> Option<Input> {
        (!self.stdout.is_open() && !self.stderr.is_open()).then_some(Input::PipesClosed)
    }

    /// Takes what is in the pipes now.
    fn drain_pipes(&mut self) -> Pipes {
        self.stdout.drain();
        self.stderr.drain();
        if self.closed().is_some() { Pipes::Closed } else { Pipes::Open }
    }
}

impl Stream {
    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Returns once there is something to read, or the end.
    async fn ready(&self) {
        match &self.pipe {
            // An error is met again, and handled, by `read`.
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    /// Takes what the runtime says is there, without waiting.
    fn read(&mut self) {
        // Through `try_io`, so that the runtime learns when the pipe is empty.
        self.take(|pipe, piece| pipe.try_io(Interest::READABLE, piece));
    }

    /// Takes what is there, whether the runtime has heard of it or not.
    fn drain(&mut self) {
        self.take(|pipe, piece| piece(pipe.get_ref()));
    }

    #[expect(clippy::large_stack_arrays, reason = "not initialised, and a buffer a stream would be held all its life")]
    fn take(&mut self, read: impl Fn(&AsyncFd<OwnedFd>, &mut ReadPiece<'_>) -> io::Result<usize>) {
        let Some(pipe) = &self.pipe else { return };
        let mut buffer = [MaybeUninit::<u8>::uninit(); PIECE];
        let mut piece = |fd: &OwnedFd| {
            let (bytes, _rest) = rustix::io::read(fd, &mut buffer)?;
            if self.masked.passes() {
                keep(&mut self.capture, &*self.tap, self.name, bytes);
            } else {
                keep(&mut self.capture, &*self.tap, self.name, &self.masked.push(bytes));
            }
            Ok(bytes.len())
        };
        for _ in 0..PIECES_A_TURN {
            match read(pipe, &mut piece) {
                Ok(0) => {
                    self.pipe = None;
                    return;
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.pipe = None;
                    return;
                }
            }
        }
    }
}

impl Stream {
    /// What the stream said, with the end that was held back.
    fn finish(mut self) -> Captured {
        let held = self.masked.finish();
        keep(&mut self.capture, &*self.tap, self.name, &held);
        self.capture.finish()
    }
}

/// Hands bytes to what keeps them and to what sees them.
fn keep(capture: &mut Capture, tap: &dyn OutputTap, name: OutputStream, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let offset = capture.seen();
    capture.push(bytes);
    tap.write(name, offset, bytes);
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("name", &self.name).field("pipe", &self.pipe).finish_non_exhaustive()
    }
}

fn watch(fd: OwnedFd) -> Result<AsyncFd<OwnedFd>, SpawnError> {
    sys::watch(fd).map_err(|source| SpawnError::Other { source })
}

/// Returns once the leader is a zombie.
async fn exited(pidfd: &AsyncFd<OwnedFd>) -> Exit {
    loop {
        let Ok(mut ready) = pidfd.readable().await else { return std::future::pending().await };
        match sys::exit_of(pidfd.get_ref()) {
            Ok(Some(exit)) => return exit,
            Ok(None) => ready.clear_ready(),
            // The child is someone else's to wait for, which cannot be while the table of children is right.
            Err(_) => return Exit::Stuck,
        }
    }
}

/// Returns once each of these processes has ended.
async fn all_ended(processes: &mut Vec<AsyncFd<OwnedFd>>) {
    while let Some(process) = processes.last() {
        let _ended = process.readable().await;
        processes.pop();
    }
}
