//! Who the worker's children are: the leaders of units, and the orphans that come to it as a subreaper.
//!
//! There is one such table a process, because the kernel keeps one list of children a process. It guarantees that a
//! leader is reaped by its own unit only, and that an orphan is reaped or killed only when it is known whose it was.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::cgroup::Cgroup;
use super::marks::{self, Environ, Marks};
use super::spec::{SpawnError, UnitSpec};
use super::sys::{self, CpuTime, Launch, Started};

static CHILDREN: LazyLock<Mutex<Children>> = LazyLock::new(|| {
    let (own_group, own_session) = sys::own_group_and_session();
    Mutex::new(Children { leaders: HashMap::new(), starting: 0, strangers: HashMap::new(), own_group, own_session })
});

/// How often, and how far apart, an orphan is looked at that is in the middle of an `exec`. One takes some tens of
/// microseconds, and on a machine that has no time for it a thousand times that.
const LOOKS_DURING_EXEC: u32 = 2_000;
const BETWEEN_LOOKS: Duration = Duration::from_micros(100);

/// The table.
#[derive(Debug)]
struct Children {
    leaders: HashMap<u32, Ownership>,
    /// Spawns that have begun: their leaders exist, or will, and are not in the table yet.
    starting: u32,
    /// Orphans without marks, with their start times, so that each is looked at once.
    strangers: HashMap<u32, u64>,
    own_group: u32,
    own_session: u32,
}

/// Who looks after a leader.
#[derive(Debug)]
enum Ownership {
    /// A unit that runs.
    Unit(Marks),
    /// Nobody any more: it was killed, and whoever comes by takes its zombie.
    Abandoned,
}

/// A started leader in the table. Dropping it without [`Leader::reap`] kills its group.
#[derive(Debug)]
pub(super) struct Leader {
    pid: u32,
    marks: Marks,
    /// Its unit's control group, where it has one.
    cgroup: Option<Cgroup>,
    reaped: bool,
}

/// An orphan that belongs to a unit and still runs.
#[derive(Debug)]
pub(super) struct Orphan {
    pid: u32,
    pub(super) pidfd: OwnedFd,
    /// Whether it had left the unit's group.
    pub(super) outside: bool,
}

/// What the kernel counted of a unit as a whole; nothing where it has no control group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// Bytes.
    pub(super) peak_memory: Option<u64>,
    pub(super) ran_out_of_memory: bool,
}

fn table() -> MutexGuard<'static, Children> {
    // Every critical section leaves the table whole, also one that panics.
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a leader and enters it.
///
/// The table is not locked during the spawn: sixteen units may start at once. A process that ends before it is
/// entered is told from an orphan by `starting`.
pub(super) fn start(spec: &UnitSpec, launch: Launch, marks: Marks) -> Result<(Leader, Started), SpawnError> {
    table().starting += 1;
    let started = sys::start(spec, launch);
    let mut table = table();
    table.starting -= 1;
    let (started, cgroup) = started?;
    table.leaders.insert(started.pid, Ownership::Unit(marks.clone()));
    drop(table);
    Ok((Leader { pid: started.pid, marks, cgroup, reaped: false }, started))
}

impl Leader {
    /// The process id, which is also the group's.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Takes the leader's zombie away, last of all. None while it still runs.
    pub(super) fn reap(&mut self) -> Option<CpuTime> {
        let mut table = table();
        // Under the lock: once reaped, the id may be given to a leader that is entered next.
        let usage = sys::reap(self.pid)?;
        table.leaders.remove(&self.pid);
        self.reaped = true;
        Some(usage)
    }

    /// What runs beside the leader and belongs to this unit: orphans in its group, or marked as its own, or marked as
    /// of a unit that has ended; and all that is in its control group. Zombies among the orphans are reaped on the way.
    pub(super) fn orphans(&self) -> Vec<Orphan> {
        let mut orphans = table().look_after_orphans(Some(self));
        for pid in self.cgroup.iter().flat_map(Cgroup::processes).filter(|pid| *pid != self.pid) {
            if orphans.iter().all(|orphan| orphan.pid != pid)
                && let (Ok(pidfd), Some(stat)) = (sys::open_pidfd(pid), sys::stat(pid))
            {
                orphans.push(Orphan { pid, pidfd, outside: stat.group != self.pid });
            }
        }
        orphans
    }

    /// SIGKILL to the unit's control group, where it has one.
    pub(super) fn kill_control_group(&self) {
        self.cgroup.iter().for_each(Cgroup::kill);
    }

    /// What the unit's control group counted.
    pub(super) fn counted(&self) -> Counted {
        let Some(cgroup) = &self.cgroup else { return Counted::default() };
        Counted { peak_memory: cgroup.peak_memory(), ran_out_of_memory: cgroup.ran_out_of_memory() }
    }

    /// Like [`Leader::orphans`], but only those inside the group.
    pub(super) fn group(&self) -> Vec<Orphan> {
        let mut orphans = self.orphans();
        orphans.retain(|orphan| !orphan.outside);
        orphans
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if !self.reaped {
            sys::kill_group(self.pid);
            self.kill_control_group();
            table().leaders.insert(self.pid, Ownership::Abandoned);
        }
    }
}

/// Reaps what has ended among the orphans and the abandoned.
pub(super) fn reap_strays() {
    let _running = table().look_after_orphans(None);
}

impl Children {
    fn look_after_orphans(&mut self, unit: Option<&Leader>) -> Vec<Orphan> {
        self.leaders.retain(|pid, owner| match owner {
            Ownership::Unit(_) => true,
            Ownership::Abandoned => sys::reap(*pid).is_none(),
        });
        let mut running = Vec::new();
        for pid in sys::adopted_children() {
            if self.leaders.contains_key(&pid) {
                continue;
            }
            let Some(stat) = sys::stat(pid) else { continue };
            // A child in the worker's own group was started by something else than a unit.
            if stat.group == self.own_group {
                continue;
            }
            if stat.zombie {
                let may_be_a_leader = stat.group == pid && stat.session == self.own_session;
                if !(may_be_a_leader && self.starting > 0) {
                    let _usage = sys::reap(pid);
                    self.strangers.remove(&pid);
                }
                continue;
            }
            let Some(unit) = unit else { continue };
            let inside = stat.group == unit.pid;
            if !inside && !self.was_started_by(pid, stat.start_time, &unit.marks) {
                continue;
            }
            // It cannot be reaped by anyone else while the table is locked, so the id is still its own.
            if let Ok(pidfd) = sys::open_pidfd(pid) {
                running.push(Orphan { pid, pidfd, outside: !inside });
            }
        }
        running
    }

    /// Whether an orphan outside the unit's group is to end with this unit.
    fn was_started_by(&mut self, orphan: u32, start_time: u64, unit: &Marks) -> bool {
        let Some(found) = self.marks_of(orphan, start_time) else { return false };
        if found == *unit {
            return true;
        }
        // Of a unit of this worker that gave up waiting for it.
        let lives = |owner: &Ownership| match owner {
            Ownership::Unit(marks) => *marks == found,
            Ownership::Abandoned => false,
        };
        found.worker == unit.worker && self.starting == 0 && !self.leaders.values().any(lives)
    }

    fn marks_of(&mut self, orphan: u32, start_time: u64) -> Option<Marks> {
        if self.strangers.get(&orphan) == Some(&start_time) {
            return None;
        }
        for _ in 0..LOOKS_DURING_EXEC {
            match marks::environ(orphan) {
                Environ::Marked(found) => return Some(found.marks),
                Environ::Unmarked | Environ::Empty => {
                    self.strangers.insert(orphan, start_time);
                    return None;
                }
                Environ::Unsettled if sys::stat(orphan).is_none_or(|stat| stat.zombie) => return None,
                Environ::Unsettled => std::thread::sleep(BETWEEN_LOOKS),
            }
        }
        // Not remembered as a stranger: the next look may tell.
        None
    }
}
