//! The life of a unit as one pure transition: `Running → Stopping → Draining → Ended`.
//!
//! [`step`] takes a state and an input and says the next state and what to do. It sends no signal, reads no clock
//! and knows no process; `unit` does what it says.

use std::time::{Duration, Instant};

use super::stop::{Ladder, Rung};
use crate::tool::call::StopReason;

/// A unit that lives this long is written down for the case that the worker dies. Shorter ones are found by their
/// marks alone, and a file for each would cost more than many commands take.
pub(super) const SLOW_AFTER: Duration = Duration::from_millis(50);
/// How often the orphans of a long-lived unit are looked after, so that their zombies do not pile up.
pub(super) const TEND_EVERY: Duration = Duration::from_secs(1);
/// How long a descendant may keep a pipe open after the leader's end.
pub(super) const PIPE_PATIENCE: Duration = Duration::from_millis(500);
/// How long the rest of the tree may take to die after SIGKILL.
pub(super) const TREE_PATIENCE: Duration = Duration::from_secs(1);
/// How long the leader may take to die after SIGKILL. Only a process stuck inside the kernel takes longer, and
/// waiting for it would make its run impossible to end.
pub(super) const LEADER_PATIENCE: Duration = Duration::from_secs(10);

/// How a leader's life ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
    /// It was still there long after SIGKILL.
    Stuck,
}

/// Whether any writer may still hold an output pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pipes {
    Open,
    Closed,
}

/// Whether anyone but the leader lives in the process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Living,
    Empty,
}

/// What a unit was asked to do, and how far that went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stopped {
    pub(crate) reason: StopReason,
    pub(super) rung: Rung,
}

/// What is waited for after the leader's end, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Members of the group that were asked to stop and still have grace.
    Group,
    /// Pipes that a descendant may hold.
    Pipes,
    /// Everything that is left was killed and has to be gone.
    Tree,
}

/// Where a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitState {
    Running { tend_at: Instant, deadline: Option<Instant> },
    Stopping { stopped: Stopped, escalate_at: Instant },
    Draining(Draining),
    Ended(Ending),
}

/// A unit whose leader has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Draining {
    pub(super) exit: Exit,
    pub(super) stopped: Option<Stopped>,
    pub(super) rest: Rest,
    pub(super) leaked: bool,
    pub(super) give_up_at: Instant,
}

/// How a unit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) exit: Exit,
    pub(super) stopped: Option<Stopped>,
    pub(super) leaked: bool,
}

/// What happens to a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    /// Someone asks it to stop.
    Stop(StopReason),
    /// The moment of [`UnitState::wake_at`] has come.
    Time,
    LeaderEnded {
        exit: Exit,
        pipes: Pipes,
        group: Group,
    },
    PipesClosed,
    GroupGone,
    /// Every process that is known to belong to the unit is gone and reaped, the leader's zombie excepted.
    TreeGone {
        pipes: Pipes,
    },
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Write the unit down if it is not yet, and look after its orphans.
    Tend,
    /// Send the ladder's signal to the group.
    Ask,
    /// Send SIGKILL to the group.
    KillGroup,
    /// Tell when nobody but the leader's zombie is left in the group.
    AwaitGroup,
    /// Kill whatever belongs to the unit, wherever it went, and tell when it is gone.
    SweepTree,
}

impl UnitState {
    /// A unit that has just started.
    pub(super) fn started(now: Instant, timeout: Option<Duration>) -> Self {
        // A deadline past the end of the clock is none.
        let deadline = timeout.and_then(|timeout| now.checked_add(timeout));
        Self::Running { tend_at: now + SLOW_AFTER, deadline }
    }

    /// When [`Input::Time`] is due.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        match self {
            Self::Running { tend_at, deadline } => Some(deadline.map_or(*tend_at, |deadline| deadline.min(*tend_at))),
            Self::Stopping { escalate_at, .. } => Some(*escalate_at),
            Self::Draining(draining) => Some(draining.give_up_at),
            Self::Ended(_) => None,
        }
    }
}

/// What a transition is made under.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) ladder: &'a Ladder,
    pub(super) now: Instant,
}

/// The next state, and what to do on the way there.
pub(super) fn step(state: UnitState, input: Input, at: At<'_>) -> (UnitState, Vec<Action>) {
    match state {
        UnitState::Running { tend_at, deadline } => running(tend_at, deadline, input, at),
        UnitState::Stopping { stopped, escalate_at } => stopping(stopped, escalate_at, input, at.now),
        UnitState::Draining(remains) => draining(remains, input, at.now),
        UnitState::Ended(ending) => (UnitState::Ended(ending), Vec::new()),
    }
}

fn running(tend_at: Instant, deadline: Option<Instant>, input: Input, at: At<'_>) -> (UnitState, Vec<Action>) {
    let now = at.now;
    match input {
        Input::Stop(reason) => begin_stop(reason, at),
        Input::Time if deadline.is_some_and(|deadline| deadline <= now) => begin_stop(StopReason::TimedOut, at),
        Input::Time if tend_at <= now => {
            (UnitState::Running { tend_at: now + TEND_EVERY, deadline }, vec![Action::Tend])
        }
        Input::LeaderEnded { exit, pipes: Pipes::Open, group: _ } => {
            let give_up_at = now + PIPE_PATIENCE;
            let remains = Draining { exit, stopped: None, rest: Rest::Pipes, leaked: false, give_up_at };
            (UnitState::Draining(remains), Vec::new())
        }
        Input::LeaderEnded { exit, pipes: Pipes::Closed, group: _ } => sweep(exit, None, now),
        Input::Time | Input::PipesClosed | Input::GroupGone | Input::TreeGone { .. } => {
            (UnitState::Running { tend_at, deadline }, Vec::new())
        }
    }
}

fn begin_stop(reason: StopReason, at: At<'_>) -> (UnitState, Vec<Action>) {
    let rung = at.ladder.first_rung(reason);
    let (patience, action) = match rung {
        Rung::Asked => (at.ladder.grace, Action::Ask),
        Rung::Killed => (LEADER_PATIENCE, Action::KillGroup),
    };
    (UnitState::Stopping { stopped: Stopped { reason, rung }, escalate_at: at.now + patience }, vec![action])
}

fn stopping(stopped: Stopped, escalate_at: Instant, input: Input, now: Instant) -> (UnitState, Vec<Action>) {
    let kill = |reason| {
        let stopped = Stopped { reason, rung: Rung::Killed };
        (UnitState::Stopping { stopped, escalate_at: now + LEADER_PATIENCE }, vec![Action::KillGroup])
    };
    match (input, stopped.rung) {
        // A second request goes to the top.
        (Input::Stop(reason), Rung::Asked) => kill(stopped.reason.max(reason)),
        (Input::Stop(reason), Rung::Killed) => {
            let stopped = Stopped { reason: stopped.reason.max(reason), ..stopped };
            (UnitState::Stopping { stopped, escalate_at }, Vec::new())
        }
        (Input::Time, Rung::Asked) if escalate_at <= now => kill(stopped.reason),
        (Input::Time, Rung::Killed) if escalate_at <= now => {
            (UnitState::Ended(Ending { exit: Exit::Stuck, stopped: Some(stopped), leaked: false }), Vec::new())
        }
        // The leader is often a shell that dies at once while the program it ran is still cleaning up.
        (Input::LeaderEnded { exit, pipes: _, group: Group::Living }, Rung::Asked) => {
            let stopped = Some(stopped);
            let remains = Draining { exit, stopped, rest: Rest::Group, leaked: false, give_up_at: escalate_at };
            (UnitState::Draining(remains), vec![Action::AwaitGroup])
        }
        (Input::LeaderEnded { exit, .. }, Rung::Asked | Rung::Killed) => sweep(exit, Some(stopped), now),
        (Input::Time | Input::PipesClosed | Input::GroupGone | Input::TreeGone { .. }, Rung::Asked | Rung::Killed) => {
            (UnitState::Stopping { stopped, escalate_at }, Vec::new())
        }
    }
}

fn draining(remains: Draining, input: Input, now: Instant) -> (UnitState, Vec<Action>) {
    let Draining { exit, stopped, rest, leaked, give_up_at } = remains;
    let overdue = give_up_at <= now;
    match (rest, input) {
        (Rest::Group, Input::Stop(reason)) => {
            let stopped = stopped.map(|stopped| Stopped { reason: stopped.reason.max(reason), rung: Rung::Killed });
            sweep(exit, stopped, now)
        }
        (Rest::Group, Input::Time) if overdue => {
            let stopped = stopped.map(|stopped| Stopped { rung: Rung::Killed, ..stopped });
            sweep(exit, stopped, now)
        }
        // In the second case the leader ended by itself before anyone asked: a stop only ends the waiting.
        (Rest::Group, Input::GroupGone) | (Rest::Pipes, Input::PipesClosed | Input::Stop(_)) => {
            sweep(exit, stopped, now)
        }
        (Rest::Pipes, Input::Time) if overdue => {
            let remains = Draining { leaked: true, rest: Rest::Tree, give_up_at: now + TREE_PATIENCE, ..remains };
            (UnitState::Draining(remains), vec![Action::KillGroup, Action::SweepTree])
        }
        (Rest::Tree, Input::TreeGone { pipes }) => {
            (UnitState::Ended(Ending { exit, stopped, leaked: leaked || pipes == Pipes::Open }), Vec::new())
        }
        (Rest::Tree, Input::Time) if overdue => (UnitState::Ended(Ending { exit, stopped, leaked }), Vec::new()),
        (
            Rest::Group | Rest::Pipes | Rest::Tree,
            Input::Stop(_)
            | Input::Time
            | Input::LeaderEnded { .. }
            | Input::PipesClosed
            | Input::GroupGone
            | Input::TreeGone { .. },
        ) => (UnitState::Draining(remains), Vec::new()),
    }
}

/// The leader's zombie still holds the group's id, so the group can be killed without hitting anyone else.
fn sweep(exit: Exit, stopped: Option<Stopped>, now: Instant) -> (UnitState, Vec<Action>) {
    let give_up_at = now + TREE_PATIENCE;
    let remains = Draining { exit, stopped, rest: Rest::Tree, leaked: false, give_up_at };
    (UnitState::Draining(remains), vec![Action::KillGroup, Action::SweepTree])
}

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;
