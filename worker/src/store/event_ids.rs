//! Events that senders named, as digests, and the run that each started: what makes a retry start nothing.
//!
//! A digest lives for a week at least, longer than its delivery and its run, and so carries what a retry is answered.
//! Those past their time go a few at a time whenever another comes, and in retention's passes.

use redb::{ReadTransaction, ReadableTable, TableDefinition};
use serde::{Deserialize, Serialize};
use weir_shared::ids::{RunId, TaskId, Timestamp, TriggerId};
use weir_shared::webhook::DeliveryStatus;

use super::claim::EventDigest;
use super::deliveries;
use super::error::StoreError;
use super::keys;
use super::tables::{self, OpenTables};

/// (trigger, digest) → what it started, as JSON.
pub(super) const EVENT_IDS: TableDefinition<&[u8; 48], &[u8]> = TableDefinition::new("event_ids");
/// (time, trigger, digest) → nothing: the oldest first.
pub(super) const EVENT_AGES: TableDefinition<&[u8; 56], ()> = TableDefinition::new("event_ages");

/// How long an event is known, in milliseconds: seven days.
const LIFE_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// How many go with one that comes: more than one, so that a backlog shrinks.
const GO_WITH_ONE: usize = 4;

/// An event that has started a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClaimedEvent {
    pub(crate) at: Timestamp,
    /// Of its delivery, which may be gone.
    pub(super) number: u64,
    pub(crate) run: RunId,
    pub(crate) task: TaskId,
    /// How its run ended.
    pub(super) ended: Option<DeliveryStatus>,
}

type Place<'a> = (&'a [u8; 16], &'a EventDigest);

/// Claims an event, and lets a few go that are past their time.
pub(super) fn claim(tables: &mut OpenTables<'_>, place: Place<'_>, event: &ClaimedEvent) -> Result<(), StoreError> {
    expire(tables, event.at, GO_WITH_ONE)?;
    put(tables, place, event)?;
    tables.event_ages.insert(&keys::aged(event.at, &keys::event_id(place.0, place.1)), ())?;
    Ok(())
}

/// Lets go what is past its time at `now`, the oldest first and at most so many. Tells how many went.
pub(super) fn expire(tables: &mut OpenTables<'_>, now: Timestamp, most: usize) -> Result<usize, StoreError> {
    let until = keys::aged(Timestamp(now.0.saturating_sub(LIFE_MS)), &[0; 48]);
    let mut past = Vec::new();
    for entry in tables.event_ages.range::<&[u8; 56]>(..&until)?.take(most) {
        past.push(*entry?.0.value());
    }
    for aged in &past {
        tables.event_ages.remove(aged)?;
        tables.event_ids.remove(&keys::event_of_aged(aged))?;
    }
    Ok(past.len())
}

/// Writes how the run of an event ended, if the event is still known.
pub(super) fn settle(tables: &mut OpenTables<'_>, place: Place<'_>, ended: DeliveryStatus) -> Result<(), StoreError> {
    match claimed_in(tables, place)? {
        Some(event) => put(tables, place, &ClaimedEvent { ended: Some(ended), ..event }),
        None => Ok(()),
    }
}

/// Forgets every event of a trigger. Their ages go when they are past their time.
pub(super) fn remove_all(tables: &mut OpenTables<'_>, trigger: &[u8; 16]) -> Result<(), StoreError> {
    let (first, last) = (keys::event_id(trigger, &[0; 32]), keys::event_id(trigger, &[255; 32]));
    tables.event_ids.retain_in::<&[u8; 48], _>(&first..=&last, |_, _| false)?;
    Ok(())
}

/// What an event has started, within a transaction that writes.
pub(super) fn claimed_in(tables: &OpenTables<'_>, place: Place<'_>) -> Result<Option<ClaimedEvent>, StoreError> {
    tables.event_ids.get(&keys::event_id(place.0, place.1))?.map(|json| decode(json.value())).transpose()
}

/// Whether an event has started a run.
pub(super) fn is_claimed(
    transaction: &ReadTransaction,
    trigger: &TriggerId,
    event: &EventDigest,
) -> Result<bool, StoreError> {
    let Some(events) = tables::readable(transaction, EVENT_IDS)? else { return Ok(false) };
    Ok(events.get(&keys::event_id(&keys::uuid_key(trigger.as_str()), event))?.is_some())
}

/// The status of the delivery of an event.
pub(super) fn status(transaction: &ReadTransaction, event: &ClaimedEvent) -> Result<DeliveryStatus, StoreError> {
    match event.ended {
        Some(ended) => Ok(ended),
        None => deliveries::status_of_run(transaction, &event.run),
    }
}

fn put(tables: &mut OpenTables<'_>, place: Place<'_>, event: &ClaimedEvent) -> Result<(), StoreError> {
    let json = serde_json::to_vec(event).map_err(|error| StoreError::Io { reason: error.to_string() })?;
    tables.event_ids.insert(&keys::event_id(place.0, place.1), json.as_slice())?;
    Ok(())
}

fn decode(json: &[u8]) -> Result<ClaimedEvent, StoreError> {
    serde_json::from_slice(json)
        .map_err(|error| StoreError::Damaged { reason: format!("a claimed event cannot be read: {error}") })
}
