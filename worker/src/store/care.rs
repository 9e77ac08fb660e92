//! Looking after a store that no worker has open: check, repair, compact, export.
//!
//! A check changes nothing, not even what opening a store after a crash would mend. A repair makes again what can be
//! told from the journals; it never removes or invents an event. A store that cannot be opened is set aside whole, with
//! the directories of its runs, so that nothing of it is lost and a new one can begin.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use redb::ReadTransaction;
use serde::Serialize;
use weir_shared::ids::{RunId, Seq, Timestamp};
use weir_shared::run::event::Recorded;
use weir_shared::run::{reduce, view};
use weir_shared::wire::RunRow;

use super::create;
use super::error::{OpenError, ShelfError, StoreError};
use super::history::{self, StoredRow};
use super::journal;
use super::keys::{self, RunKey};
use super::shelf::{self, OpenDisk, Opened, panic_text};
use super::tables::{self, OpenTables};
use super::worker_id::WorkerId;

/// Events read at once, so that the longest journal does not fill memory.
const PAGE: usize = 1_000;

/// Why a store was not looked after.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CareError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Write(#[from] io::Error),
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    pub(crate) runs: usize,
    pub(crate) events: u64,
    /// The pages of the file did not add up; opening them for writing mends that.
    pub(crate) pages_differ: bool,
    /// Runs whose row or lists are wrong, and what is: a repair makes them again.
    pub(crate) stale: Vec<(RunId, String)>,
    /// Runs whose journal cannot be followed, and why: nothing can tell what should stand there.
    pub(crate) broken: Vec<(RunId, String)>,
}

impl Checked {
    /// Nothing is wrong.
    pub(crate) fn is_sound(&self) -> bool {
        !self.pages_differ && self.stale.is_empty() && self.broken.is_empty()
    }
}

/// Reads all of a store and compares what can be compared. The file stays as it is.
pub(crate) fn check(path: &Path) -> Result<Checked, CareError> {
    let (mut opened, _) = open(path)?;
    let checked = caught(|| {
        let is_whole = opened.database.check_integrity().map_err(ShelfError::from).map_err(StoreError::from)?;
        let mut checked = survey(&tables::snapshot(&opened.database)?)?;
        checked.pages_differ = !is_whole;
        Ok(checked)
    });
    // Not closed: that would write.
    drop(opened);
    checked.map_err(|error| as_open_error(error, path))
}

/// Makes the rows and lists of these runs again from their journals, and mends the pages of the file.
pub(crate) fn rebuild(path: &Path, checked: &Checked) -> Result<(), CareError> {
    let (mut opened, _) = open(path)?;
    let done = caught(|| {
        opened.hold.release()?;
        opened.database.check_integrity().map_err(ShelfError::from).map_err(StoreError::from)?;
        let transaction = opened.database.begin_write()?;
        {
            let snapshot = tables::snapshot(&opened.database)?;
            let mut tables = OpenTables::of(&transaction)?;
            for (run, _) in &checked.stale {
                if let Ok(row) = row_of_journal(&snapshot, run)?.1 {
                    history::rewrite(&mut tables, &keys::run_key(run), &StoredRow::of(&row)?)?;
                }
            }
        }
        Ok(transaction.commit()?)
    });
    opened.close();
    Ok(done?)
}

/// Gives free pages of the file back to the file system. Tells its size before and after.
pub(crate) fn compact(path: &Path) -> Result<(u64, u64), CareError> {
    let (mut opened, _) = open(path)?;
    let before = std::fs::metadata(path)?.len();
    let done = caught(|| {
        opened.hold.release()?;
        while opened.database.compact()? {}
        Ok(())
    });
    opened.close();
    done?;
    Ok((before, std::fs::metadata(path)?.len()))
}

/// One line of an export.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Line<'a> {
    Store { format: u32, worker_id: &'a str },
    Run { row: &'a RunRow },
    Event { run_id: &'a RunId, event: &'a Recorded },
}

/// Writes everything that a journal holds as JSON lines: the store, then each run, oldest first, before its events.
/// Values stand as they are stored, unmasked. Sessions are left out: they would let somebody in.
pub(crate) fn export(path: &Path, out: &mut dyn Write) -> Result<(), CareError> {
    let (opened, worker) = open(path)?;
    let done = caught(|| {
        let snapshot = tables::snapshot(&opened.database)?;
        Ok(write_all(&snapshot, &worker, out))
    });
    drop(opened);
    done?
}

fn write_all(snapshot: &ReadTransaction, worker: &WorkerId, out: &mut dyn Write) -> Result<(), CareError> {
    let mut line = |line: &Line<'_>| -> Result<(), CareError> {
        serde_json::to_writer(&mut *out, line).map_err(io::Error::from)?;
        Ok(out.write_all(b"\n")?)
    };
    line(&Line::Store { format: super::migrate::FORMAT, worker_id: worker.as_str() })?;
    for key in history::runs(snapshot)? {
        let run = keys::run_of(&key)?;
        let Some(row) = history::row(snapshot, &run)? else { continue };
        line(&Line::Run { row: &row })?;
        let mut after = Seq(0);
        loop {
            let events = journal::events(snapshot, &run, after, PAGE)?;
            let Some(last) = events.last() else { break };
            after = last.seq;
            for event in &events {
                line(&Line::Event { run_id: &run, event })?;
            }
        }
    }
    Ok(())
}

/// Moves a store that cannot be used out of the way, and the directories of its runs with it, under names that end in
/// this moment. Tells the new names.
pub(crate) fn set_aside(store: &Path, runs: &Path, now: Timestamp) -> io::Result<Vec<PathBuf>> {
    let mut moved = Vec::new();
    // The directories first: a new store that found them would take them for leftovers of runs that are gone.
    for path in [runs, store] {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{}", now.0));
        match std::fs::rename(path, &name) {
            Ok(()) => moved.push(PathBuf::from(name)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(moved)
}

fn survey(snapshot: &ReadTransaction) -> Result<Checked, StoreError> {
    let mut checked = Checked::default();
    let keys: BTreeSet<RunKey> = journal::runs(snapshot)?.into_iter().chain(history::runs(snapshot)?).collect();
    for key in keys {
        let run = keys::run_of(&key)?;
        checked.runs += 1;
        let (events, row) = row_of_journal(snapshot, &run)?;
        checked.events += events;
        match row {
            Err(reason) => checked.broken.push((run, reason)),
            Ok(row) => checked.stale.extend(history::fault(snapshot, &key, &row)?.map(|fault| (run, fault))),
        }
    }
    Ok(checked)
}

/// How many events of a run can be read, and the row that they add up to, or why they do not.
fn row_of_journal(snapshot: &ReadTransaction, run: &RunId) -> Result<(u64, Result<RunRow, String>), StoreError> {
    let mut state = weir_shared::run::state::RunState::default();
    let mut read = 0;
    loop {
        let events = match journal::events(snapshot, run, Seq(read), PAGE) {
            Ok(events) => events,
            Err(StoreError::Damaged { reason }) => return Ok((read, Err(reason))),
            Err(error) => return Err(error),
        };
        if events.is_empty() {
            break;
        }
        for event in &events {
            state = match reduce::reduce(state, event) {
                Ok(state) => state,
                Err(error) => return Ok((read, Err(error.to_string()))),
            };
            read += 1;
        }
    }
    Ok((read, view::row(&state).ok_or_else(|| "its journal does not begin with the run".to_owned())))
}

fn open(path: &Path) -> Result<(Opened, WorkerId), OpenError> {
    let file = path.to_owned();
    let disk: OpenDisk = Box::new(move || create::open_file(&file));
    shelf::open(&disk).map_err(|error| error.at(path.to_owned()))
}

/// Does something with the database, which may panic when its file is damaged.
fn caught<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(StoreError::Damaged { reason: panic_text(&*panic) }))
}

/// Damage that only shows on reading is still damage of the store as a whole.
fn as_open_error(error: StoreError, path: &Path) -> CareError {
    match error {
        StoreError::Damaged { .. } => CareError::Open(ShelfError::from(error).at(path.to_owned())),
        other => CareError::Store(other),
    }
}
