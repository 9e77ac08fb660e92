//! Accepted calls of webhooks: the newest thousand of every trigger, each with how its run ended.
//!
//! A delivery's status follows its run and is no second truth: while the run goes on it is read from the run's row,
//! and the transaction that ends the run writes it here. No body, secret, event or digest of one is kept.

use redb::{ReadTransaction, ReadableTable, TableDefinition};
use serde::{Deserialize, Serialize};
use weir_shared::ids::{DeliveryId, RunId, TaskId, Timestamp, TriggerId};
use weir_shared::run::event::Cause;
use weir_shared::webhook::{Delivery, DeliveryStatus};
use weir_shared::wire::RunRow;

use super::claim::{DeliveryClaim, EventDigest};
use super::error::StoreError;
use super::event_ids::{self, ClaimedEvent};
use super::history;
use super::keys::{self, RunKey};
use super::tables::{self, OpenTables};

/// (trigger, number) → the delivery as JSON. Numbers of a trigger count up from 1.
pub(super) const DELIVERIES: TableDefinition<&[u8; 24], &[u8]> = TableDefinition::new("deliveries");
/// A run that has not ended → whose end it will be, as JSON.
pub(super) const DELIVERING: TableDefinition<&[u8; 16], &[u8]> = TableDefinition::new("delivering");

/// Deliveries kept of a trigger.
const KEPT: u64 = 1_000;

/// A delivery as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeliveryRecord {
    id: DeliveryId,
    run: RunId,
    task: TaskId,
    accepted_at: Timestamp,
    names_event: bool,
    duplicates: u64,
    /// Absent while its run goes on.
    end: Option<DeliveryEnd>,
}

/// How the run of a delivery ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeliveryEnd {
    status: DeliveryStatus,
    completed_at: Option<Timestamp>,
    error: Option<String>,
}

impl DeliveryEnd {
    /// The end that this row tells of, if it is one and of a delivery.
    pub(super) fn of(row: &RunRow) -> Option<Self> {
        let ends = row.cause == Cause::Webhook && row.status.is_terminal();
        let status = DeliveryStatus::of(row.status);
        ends.then(|| Self { status, completed_at: row.completed_at, error: row.error.clone() })
    }
}

/// Where the end of a run is to be written.
#[derive(Debug, Serialize, Deserialize)]
struct Awaited {
    trigger: TriggerId,
    number: u64,
    event: Option<EventDigest>,
}

/// Records the delivery of a run, and its event as claimed. The oldest delivery past what is kept goes.
pub(super) fn record(
    tables: &mut OpenTables<'_>,
    claim: &DeliveryClaim,
    (run, task): (&RunId, &TaskId),
) -> Result<(), StoreError> {
    let trigger = keys::uuid_key(claim.trigger.as_str());
    let number = last_number(tables, &trigger)? + 1;
    let delivery = DeliveryRecord {
        id: DeliveryId::from_bytes(uuid::Uuid::now_v7().into_bytes()),
        run: run.clone(),
        task: task.clone(),
        accepted_at: claim.at,
        names_event: claim.event.is_some(),
        duplicates: 0,
        end: None,
    };
    put(tables, &keys::numbered(&trigger, number), &delivery)?;
    if let Some(surplus) = number.checked_sub(KEPT) {
        tables.deliveries.remove(&keys::numbered(&trigger, surplus))?;
    }
    if let Some(event) = &claim.event {
        let claimed = ClaimedEvent { at: claim.at, number, run: run.clone(), task: task.clone(), ended: None };
        event_ids::claim(tables, (&trigger, event), &claimed)?;
    }
    let awaited = Awaited { trigger: claim.trigger.clone(), number, event: claim.event };
    tables.delivering.insert(&keys::run_key(run), encode(&awaited)?.as_slice())?;
    Ok(())
}

/// Counts one more call with an event that is claimed; nothing when it is not.
pub(super) fn count_duplicate(
    tables: &mut OpenTables<'_>,
    trigger: &TriggerId,
    event: &EventDigest,
) -> Result<Option<ClaimedEvent>, StoreError> {
    let trigger = keys::uuid_key(trigger.as_str());
    let Some(claimed) = event_ids::claimed_in(tables, (&trigger, event))? else { return Ok(None) };
    let key = keys::numbered(&trigger, claimed.number);
    if let Some(mut delivery) = get(tables, &key)? {
        delivery.duplicates += 1;
        put(tables, &key, &delivery)?;
    }
    Ok(Some(claimed))
}

/// Writes how a run ended to its delivery and to the event that it was for, as far as they are still kept.
pub(super) fn settle(tables: &mut OpenTables<'_>, run: &RunKey, end: &DeliveryEnd) -> Result<(), StoreError> {
    let Some(awaited) = tables.delivering.remove(run)?.map(|json| decode::<Awaited>(json.value())).transpose()? else {
        return Ok(());
    };
    let trigger = keys::uuid_key(awaited.trigger.as_str());
    let key = keys::numbered(&trigger, awaited.number);
    if let Some(mut delivery) = get(tables, &key)? {
        delivery.end = Some(end.clone());
        put(tables, &key, &delivery)?;
    }
    match &awaited.event {
        Some(event) => event_ids::settle(tables, (&trigger, event), end.status),
        None => Ok(()),
    }
}

/// Removes all deliveries of a trigger.
pub(super) fn remove_all(tables: &mut OpenTables<'_>, trigger: &[u8; 16]) -> Result<(), StoreError> {
    let (first, last) = (keys::numbered(trigger, 0), keys::numbered(trigger, u64::MAX));
    tables.deliveries.retain_in::<&[u8; 24], _>(&first..=&last, |_, _| false)?;
    Ok(())
}

/// The newest deliveries of a trigger, newest first.
pub(super) fn newest(
    transaction: &ReadTransaction,
    trigger: &TriggerId,
    limit: usize,
) -> Result<Vec<Delivery>, StoreError> {
    let Some(deliveries) = tables::readable(transaction, DELIVERIES)? else { return Ok(Vec::new()) };
    let trigger = keys::uuid_key(trigger.as_str());
    let (first, last) = (keys::numbered(&trigger, 0), keys::numbered(&trigger, u64::MAX));
    let newest = deliveries.range::<&[u8; 24]>(&first..=&last)?.rev().take(limit);
    newest.map(|entry| shown(transaction, decode(entry?.1.value())?)).collect()
}

/// A delivery as it is shown; one whose run goes on takes its status from the run's row.
fn shown(transaction: &ReadTransaction, delivery: DeliveryRecord) -> Result<Delivery, StoreError> {
    let end = match delivery.end {
        Some(end) => end,
        None => DeliveryEnd { status: status_of_run(transaction, &delivery.run)?, completed_at: None, error: None },
    };
    Ok(Delivery {
        delivery_id: delivery.id,
        status: end.status,
        accepted_at: delivery.accepted_at,
        completed_at: end.completed_at,
        duration_ms: end.completed_at.map(|completed| completed.millis_since(delivery.accepted_at)),
        task_id: delivery.task,
        run_id: delivery.run,
        idempotency_key_present: delivery.names_event,
        duplicates: delivery.duplicates,
        error: end.error,
    })
}

/// The status of a delivery whose run has not ended. Such a run has a row: only ended ones are let go.
pub(super) fn status_of_run(transaction: &ReadTransaction, run: &RunId) -> Result<DeliveryStatus, StoreError> {
    let row = history::row(transaction, run)?;
    Ok(row.map_or(DeliveryStatus::Interrupted, |row| DeliveryStatus::of(row.status)))
}

fn last_number(tables: &OpenTables<'_>, trigger: &[u8; 16]) -> Result<u64, StoreError> {
    let (first, last) = (keys::numbered(trigger, 0), keys::numbered(trigger, u64::MAX));
    let newest = tables.deliveries.range::<&[u8; 24]>(&first..=&last)?.next_back().transpose()?;
    Ok(newest.map_or(0, |(key, _)| keys::number_of(key.value())))
}

fn get(tables: &OpenTables<'_>, key: &[u8; 24]) -> Result<Option<DeliveryRecord>, StoreError> {
    tables.deliveries.get(key)?.map(|json| decode(json.value())).transpose()
}

fn put(tables: &mut OpenTables<'_>, key: &[u8; 24], delivery: &DeliveryRecord) -> Result<(), StoreError> {
    tables.deliveries.insert(key, encode(delivery)?.as_slice())?;
    Ok(())
}

fn encode(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(value).map_err(|error| StoreError::Io { reason: error.to_string() })
}

fn decode<T: serde::de::DeserializeOwned>(json: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(json)
        .map_err(|error| StoreError::Damaged { reason: format!("a delivery cannot be read: {error}") })
}
