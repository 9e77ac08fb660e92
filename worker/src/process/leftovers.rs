//! What a worker that died left behind: written down while it runs, found and ended at the next start.
//!
//! A process is ended only when everything that is known of it agrees: one from a `pids` file by boot, id and start
//! time, and its environment names no other worker; any other by all of its marks, this state directory included.
//! Whoever moves to another machine, copies a state directory or reuses a process id loses nothing.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::marks;
use super::sys;
use crate::run_dir::RunDirectory;

/// How long leftovers may take to die after SIGKILL before the start goes on without having seen it.
const PATIENCE: Duration = Duration::from_secs(2);

static BOOT_ID: LazyLock<String> = LazyLock::new(|| {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
});

/// The `pids` files of the runs that have a unit worth noting. Shared by all units of a worker.
///
/// A file only grows while its run has such a unit, and goes with the last of them: a stale line is harmless, since
/// its start time cannot come again.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes(Arc<Mutex<HashMap<PathBuf, usize>>>);

/// One unit that is written down, until this is dropped.
#[derive(Debug)]
pub(super) struct Note {
    file: PathBuf,
    notes: Notes,
}

/// What was found at a start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Leftovers {
    /// Processes that were sent SIGKILL.
    pub(crate) killed: usize,
    /// Of these, still there when waiting for them was given up.
    pub(crate) remaining: usize,
}

impl Notes {
    /// Writes the leader down. None when it has just ended, or the file cannot be written: then its marks must do.
    pub(super) fn write(&self, run_dir: &RunDirectory, pid: u32) -> Option<Note> {
        let start_time = sys::stat(pid)?.start_time;
        let file = run_dir.pids();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        append(&file, &format!("{} {pid} {start_time}\n", *BOOT_ID)).ok()?;
        *open.entry(file.clone()).or_insert(0) += 1;
        Some(Note { file, notes: self.clone() })
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let mut open = self.notes.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(count) = open.get_mut(&self.file) else { return };
        *count -= 1;
        if *count == 0 {
            open.remove(&self.file);
            // Left behind, it names processes that have ended, and is taken away at the next start.
            let _left = fs::remove_file(&self.file);
        }
    }
}

fn append(file: &Path, line: &str) -> io::Result<()> {
    let open = || OpenOptions::new().append(true).create(true).mode(0o600).open(file);
    let mut opened = match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = file.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
            }
            open()?
        }
        other => other?,
    };
    opened.write_all(line.as_bytes())
}

/// Ends what an earlier worker with this id left running, and takes its `pids` files away. Called at a start, by the
/// holder of the state directory, before anything is run.
pub(crate) fn end_leftovers(state: &Path, worker: &str) -> Leftovers {
    let runs = state.join("runs");
    let spared = own_ancestry();
    let mut found = Leftovers::default();
    let mut doomed = Vec::new();
    for noted in noted_processes(&runs) {
        if spared.contains(&noted.pid) {
            continue;
        }
        if let Some(pidfd) = open_if(noted.pid, || noted.is_it_still(worker)) {
            // Its group cannot be another's: the leader it is named after is alive, and held by its start time.
            sys::kill_group(noted.pid);
            doomed.push(pidfd);
        }
    }
    // Killing a parent shows no new process here, so one pass is enough, except for what is being forked right now.
    for _ in 0..3 {
        let marked: Vec<OwnedFd> = sys::all_processes()
            .into_iter()
            .filter(|pid| !spared.contains(pid))
            .filter_map(|pid| open_if(pid, || is_marked(pid, worker, &runs)))
            .collect();
        if marked.is_empty() {
            break;
        }
        doomed.extend(marked);
        found.killed += doomed.len();
        found.remaining += kill_and_wait(std::mem::take(&mut doomed));
    }
    found.killed += doomed.len();
    found.remaining += kill_and_wait(doomed);
    for run in directories(&runs) {
        let _absent = fs::remove_file(run.join("pids"));
    }
    found
}

/// A line of a `pids` file of this boot.
#[derive(Debug, Clone, Copy)]
struct Noted {
    pid: u32,
    start_time: u64,
}

impl Noted {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let boot = words.next()?;
        let noted = Self { pid: words.next()?.parse().ok()?, start_time: words.next()?.parse().ok()? };
        (boot == BOOT_ID.as_str()).then_some(noted)
    }

    fn is_it_still(self, worker: &str) -> bool {
        let same = sys::stat(self.pid)
            .is_some_and(|stat| !stat.zombie && stat.start_time == self.start_time && stat.group == self.pid);
        // A program may have wiped its environment; it may not belong to another worker.
        same && marks::read(self.pid).is_none_or(|marked| marked.marks.worker == worker)
    }
}

fn noted_processes(runs: &Path) -> Vec<Noted> {
    let files = directories(runs).into_iter().filter_map(|run| fs::read_to_string(run.join("pids")).ok());
    files.flat_map(|text| text.lines().filter_map(Noted::parse).collect::<Vec<_>>()).collect()
}

fn directories(of: &Path) -> Vec<PathBuf> {
    fs::read_dir(of).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

fn is_marked(pid: u32, worker: &str, runs: &Path) -> bool {
    marks::read(pid)
        .is_some_and(|marked| marked.marks.worker == worker && marked.run_dir == runs.join(&marked.marks.run))
}

/// Holds the process by a descriptor, if it is the right one after it is held.
fn open_if(pid: u32, right: impl Fn() -> bool) -> Option<OwnedFd> {
    // Twice, since opening all of a machine's processes would cost more than looking at them.
    if !right() {
        return None;
    }
    let pidfd = sys::open_pidfd(pid).ok()?;
    right().then_some(pidfd)
}

/// Kills and waits a moment; the number still there. They are not the worker's children, so there is nothing to reap.
fn kill_and_wait(processes: Vec<OwnedFd>) -> usize {
    for process in &processes {
        sys::kill(process);
    }
    let deadline = Instant::now() + PATIENCE;
    let mut left = processes;
    while !left.is_empty() {
        let wait = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).ok();
        let mut polled: Vec<PollFd<'_>> = left.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        if !matches!(poll(&mut polled, wait.as_ref()), Ok(1..)) {
            break;
        }
        let ended: Vec<bool> = polled.iter().map(|fd| !fd.revents().is_empty()).collect();
        let mut ended = ended.into_iter();
        left.retain(|_| ended.next() != Some(true));
    }
    left.len()
}

/// This process and those it comes from: a worker may be restarted out of a step of its predecessor.
fn own_ancestry() -> BTreeSet<u32> {
    let mut ancestry = BTreeSet::new();
    let mut pid = std::process::id();
    while pid > 1 && ancestry.insert(pid) {
        pid = sys::stat(pid).map_or(0, |stat| stat.parent);
    }
    ancestry
}

#[cfg(test)]
#[path = "leftovers_tests.rs"]
mod tests;
