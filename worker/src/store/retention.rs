//! Removing ended runs: one that a person deletes, and those past what is kept. Runs that have not ended stay.
//!
//! What is removed frees pages inside the database, which later commits use again; the file does not grow for them.

use redb::{ReadableTable, ReadableTableMetadata};
use weir_shared::ids::{RunId, Timestamp};

use super::error::StoreError;
use super::history;
use super::journal;
use super::keys::{self, RunKey};
use super::tables::OpenTables;

/// Runs removed in one transaction: few enough that events of running runs never wait long behind it.
const BATCH: usize = 64;

/// Which ended runs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The newest so many, those that have not ended counted.
    pub(crate) newest: u64,
    /// Only those created at or after this moment.
    pub(crate) since: Timestamp,
}

/// Removes a run and its journal. False when there is no such run.
pub(super) fn remove(tables: &mut OpenTables<'_>, run: &RunId) -> Result<bool, StoreError> {
    let key = keys::run_key(run);
    if tables.unfinished.get(&key)?.is_some() {
        return Err(StoreError::NotEnded { run: run.clone() });
    }
    if tables.rows.get(&key)?.is_none() {
        return Ok(false);
    }
    remove_whole(tables, &key)?;
    Ok(true)
}

/// Removes the oldest ended runs past what is kept, at most one batch of them, and tells which. An empty answer
/// means that nothing is past it any more.
pub(super) fn prune(tables: &mut OpenTables<'_>, keep: Kept) -> Result<Vec<RunId>, StoreError> {
    let mut surplus = tables.rows.len()?.saturating_sub(keep.newest);
    let mut chosen: Vec<RunKey> = Vec::new();
    for entry in tables.rows.iter()? {
        let (key, json) = entry?;
        let row = history::decode(key.value(), json.value())?;
        if surplus == 0 && row.created_at >= keep.since {
            break;
        }
        surplus = surplus.saturating_sub(1);
        if row.status.is_terminal() {
            chosen.push(*key.value());
        }
        if chosen.len() == BATCH {
            break;
        }
    }
    for key in &chosen {
        remove_whole(tables, key)?;
    }
    chosen.iter().map(keys::run_of).collect()
}

fn remove_whole(tables: &mut OpenTables<'_>, run: &RunKey) -> Result<(), StoreError> {
    journal::remove(tables, run)?;
    history::remove(tables, run)
}
