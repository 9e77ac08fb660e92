//! What this machine holds about flows beside their files: which versions it accepted, and what was begun with a flow
//! and has to be finished.
//!
//! A flow that is deleted or renamed changes here first, in one transaction with all that depends on it, and leaves a
//! tombstone; then its files change; then the tombstone goes. A start finishes what still has one.

use std::collections::BTreeMap;

use redb::{ReadTransaction, ReadableTable, TableDefinition};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weir_shared::ids::{FlowId, Revision};

use super::error::StoreError;
use super::tables::{self, OpenTables};
use super::{schedules, webhooks};

/// Flow → [`AcceptedVersions`] as JSON.
pub(super) const ACCEPTED: TableDefinition<&str, &[u8]> = TableDefinition::new("accepted");
/// Flow → [`Tombstone`] as JSON.
pub(super) const TOMBSTONES: TableDefinition<&str, &[u8]> = TableDefinition::new("tombstones");

/// The versions of a flow that this machine runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AcceptedVersions {
    /// The highest number that was ever accepted: it is not given again, also when its file is gone.
    pub(crate) highest: u64,
    /// Number → SHA-256 of the flow in it, in hexadecimal.
    pub(crate) versions: BTreeMap<u64, String>,
}

/// What was begun with a flow's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "what")]
pub(crate) enum Tombstone {
    /// The file goes, if it is still at this revision.
    Deleted {
        revision: Revision,
    },
    Renamed {
        to: FlowId,
    },
}

/// What went with a flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cancelled {
    pub(crate) schedules: u64,
    pub(crate) webhook_triggers: u64,
}

/// Accepts a version.
pub(super) fn accept(tables: &mut OpenTables<'_>, flow: &FlowId, number: u64, sha256: &str) -> Result<(), StoreError> {
    let mut accepted = accepted_in(tables, flow)?;
    accepted.highest = accepted.highest.max(number);
    accepted.versions.insert(number, sha256.to_owned());
    put_accepted(tables, flow, &accepted)
}

/// Cancels all that depends on a flow, and leaves a tombstone.
pub(super) fn forget(
    tables: &mut OpenTables<'_>,
    flow: &FlowId,
    tombstone: &Tombstone,
) -> Result<Cancelled, StoreError> {
    let highest = accepted_in(tables, flow)?.highest;
    put_accepted(tables, flow, &AcceptedVersions { highest, versions: BTreeMap::new() })?;
    let cancelled = Cancelled {
        schedules: schedules::remove_of_flow(tables, flow)?,
        webhook_triggers: webhooks::remove_of_flow(tables, flow)?,
    };
    tables.tombstones.insert(flow.as_str(), encode(tombstone)?.as_slice())?;
    Ok(cancelled)
}

/// Gives all that depends on a flow to another id, and leaves a tombstone.
pub(super) fn rename(tables: &mut OpenTables<'_>, from: &FlowId, to: &FlowId) -> Result<(), StoreError> {
    let moved = accepted_in(tables, from)?;
    let there = accepted_in(tables, to)?;
    let left = AcceptedVersions { highest: moved.highest, versions: BTreeMap::new() };
    put_accepted(tables, to, &AcceptedVersions { highest: moved.highest.max(there.highest), ..moved })?;
    put_accepted(tables, from, &left)?;
    webhooks::rename_flow(tables, from, to)?;
    schedules::rename_flow(tables, from, to)?;
    tables.tombstones.insert(from.as_str(), encode(&Tombstone::Renamed { to: to.clone() })?.as_slice())?;
    Ok(())
}

/// Takes a tombstone away: its work is done.
pub(super) fn settle(tables: &mut OpenTables<'_>, flow: &FlowId) -> Result<(), StoreError> {
    tables.tombstones.remove(flow.as_str())?;
    Ok(())
}

/// The versions of a flow that were accepted.
pub(super) fn accepted(transaction: &ReadTransaction, flow: &FlowId) -> Result<AcceptedVersions, StoreError> {
    let Some(table) = tables::readable(transaction, ACCEPTED)? else { return Ok(AcceptedVersions::default()) };
    table.get(flow.as_str())?.map_or(Ok(AcceptedVersions::default()), |json| decode(json.value()))
}

/// What has to be finished.
pub(super) fn tombstones(transaction: &ReadTransaction) -> Result<Vec<(FlowId, Tombstone)>, StoreError> {
    let Some(table) = tables::readable(transaction, TOMBSTONES)? else { return Ok(Vec::new()) };
    let entry = |(id, json): (redb::AccessGuard<'_, &str>, redb::AccessGuard<'_, &[u8]>)| {
        let id = id.value().parse::<FlowId>().map_err(|error| StoreError::Damaged { reason: error.to_string() })?;
        Ok((id, decode(json.value())?))
    };
    table.iter()?.map(|row| entry(row?)).collect()
}

fn accepted_in(tables: &OpenTables<'_>, flow: &FlowId) -> Result<AcceptedVersions, StoreError> {
    tables.accepted.get(flow.as_str())?.map_or(Ok(AcceptedVersions::default()), |json| decode(json.value()))
}

fn put_accepted(tables: &mut OpenTables<'_>, flow: &FlowId, accepted: &AcceptedVersions) -> Result<(), StoreError> {
    tables.accepted.insert(flow.as_str(), encode(accepted)?.as_slice())?;
    Ok(())
}

fn encode(record: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(record).map_err(|error| StoreError::Io { reason: error.to_string() })
}

fn decode<T: DeserializeOwned>(json: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(json)
        .map_err(|error| StoreError::Damaged { reason: format!("what is kept about a flow cannot be read: {error}") })
}
