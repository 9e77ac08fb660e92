//! The tables of format 1, and all of them open for one group of changes.
//!
//! Tables of later parts (schedules, chats) come beside these under names of their own; a table
//! that is not there yet reads as an empty one, so adding one does not change the format.

use redb::{ReadTransaction, ReadableDatabase, Table, TableDefinition, TableError, WriteTransaction};

use super::deliveries::{DELIVERIES, DELIVERING};
use super::error::StoreError;
use super::event_ids::{EVENT_AGES, EVENT_IDS};
use super::flows::{ACCEPTED, TOMBSTONES};
use super::plugins::PLUGINS;
use super::schedules::{FIRES, SCHEDULES};
use super::webhooks::WEBHOOKS;

/// What the store says of itself: `format`, `worker_id`.
pub(super) const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");
/// (run, seq) → the event as JSON: the truth.
pub(super) const JOURNAL: TableDefinition<&[u8; 24], &[u8]> = TableDefinition::new("journal");
/// run → its row as JSON: a cache of the journal.
pub(super) const ROWS: TableDefinition<&[u8; 16], &[u8]> = TableDefinition::new("rows");
/// run → what lists filter and search by (`run_text`): narrow, so that reading all of it is quick.
pub(super) const RUN_TEXT: TableDefinition<&[u8; 16], &[u8]> = TableDefinition::new("run_text");
/// (flow, run) → nothing.
pub(super) const FLOW_RUNS: TableDefinition<&[u8], ()> = TableDefinition::new("flow_runs");
/// Runs that have not ended.
pub(super) const UNFINISHED: TableDefinition<&[u8; 16], ()> = TableDefinition::new("unfinished");
/// Digest of a session's token → what it stands for, as JSON.
pub(super) const SESSIONS: TableDefinition<&[u8; 32], &[u8]> = TableDefinition::new("sessions");

/// Every table, open for writing in one transaction.
pub(super) struct OpenTables<'t> {
    pub(super) journal: Table<'t, &'static [u8; 24], &'static [u8]>,
    pub(super) rows: Table<'t, &'static [u8; 16], &'static [u8]>,
    pub(super) run_text: Table<'t, &'static [u8; 16], &'static [u8]>,
    pub(super) flow_runs: Table<'t, &'static [u8], ()>,
    pub(super) unfinished: Table<'t, &'static [u8; 16], ()>,
    pub(super) sessions: Table<'t, &'static [u8; 32], &'static [u8]>,
    pub(super) plugins: Table<'t, &'static str, &'static [u8]>,
    pub(super) accepted: Table<'t, &'static str, &'static [u8]>,
    pub(super) tombstones: Table<'t, &'static str, &'static [u8]>,
    pub(super) schedules: Table<'t, &'static [u8; 16], &'static [u8]>,
    pub(super) fires: Table<'t, &'static [u8; 24], &'static [u8]>,
    pub(super) webhooks: Table<'t, &'static [u8; 16], &'static [u8]>,
    pub(super) deliveries: Table<'t, &'static [u8; 24], &'static [u8]>,
    pub(super) delivering: Table<'t, &'static [u8; 16], &'static [u8]>,
    pub(super) event_ids: Table<'t, &'static [u8; 48], &'static [u8]>,
    pub(super) event_ages: Table<'t, &'static [u8; 56], ()>,
}

impl<'t> OpenTables<'t> {
    /// Opens all of them, making those that are not there.
    pub(super) fn of(transaction: &'t WriteTransaction) -> Result<Self, StoreError> {
        Ok(Self {
            journal: transaction.open_table(JOURNAL)?,
            rows: transaction.open_table(ROWS)?,
            run_text: transaction.open_table(RUN_TEXT)?,
            flow_runs: transaction.open_table(FLOW_RUNS)?,
            unfinished: transaction.open_table(UNFINISHED)?,
            sessions: transaction.open_table(SESSIONS)?,
            plugins: transaction.open_table(PLUGINS)?,
            accepted: transaction.open_table(ACCEPTED)?,
            tombstones: transaction.open_table(TOMBSTONES)?,
            schedules: transaction.open_table(SCHEDULES)?,
            fires: transaction.open_table(FIRES)?,
            webhooks: transaction.open_table(WEBHOOKS)?,
            deliveries: transaction.open_table(DELIVERIES)?,
            delivering: transaction.open_table(DELIVERING)?,
            event_ids: transaction.open_table(EVENT_IDS)?,
            event_ages: transaction.open_table(EVENT_AGES)?,
        })
    }
}

/// Opens a table for reading; `None` when nothing was ever written to it.
pub(super) fn readable<K: redb::Key + 'static, V: redb::Value + 'static>(
    transaction: &ReadTransaction,
    table: TableDefinition<K, V>,
) -> Result<Option<redb::ReadOnlyTable<K, V>>, StoreError> {
    match transaction.open_table(table) {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

/// A look at the last commit.
pub(super) fn snapshot(database: &redb::Database) -> Result<ReadTransaction, StoreError> {
    Ok(database.begin_read()?)
}
