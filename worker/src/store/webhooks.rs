//! Triggers of webhooks, by their id. A secret is here as its digest only.

use redb::{ReadTransaction, ReadableTable, TableDefinition};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weir_shared::flow::PermissionMode;
use weir_shared::ids::{FlowId, Owner, Timestamp, TriggerId};
use weir_shared::run::event::SandboxPosture;
use weir_shared::webhook::{RateLimit, SignatureRule};

use super::error::StoreError;
use super::keys;
use super::tables::{self, OpenTables};
use super::{deliveries, event_ids};

/// Trigger → what it is, as JSON.
pub(super) const WEBHOOKS: TableDefinition<&[u8; 16], &[u8]> = TableDefinition::new("webhooks");

/// SHA-256 of a trigger's secret.
pub(crate) type SecretDigest = [u8; 32];

/// A trigger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TriggerRecord {
    pub(crate) id: TriggerId,
    pub(crate) flow: FlowId,
    pub(crate) name: Option<String>,
    pub(crate) owner: Owner,
    pub(crate) default_inputs: Map<String, Value>,
    pub(crate) permission_mode: PermissionMode,
    /// What confined runs when it was made.
    pub(crate) sandbox: SandboxPosture,
    /// None: deliveries are signed, and carry no secret.
    pub(crate) secret: Option<SecretDigest>,
    /// How often its secret was replaced: a call that was let in by an earlier one is not admitted any more.
    pub(crate) generation: u64,
    pub(crate) signature: Option<SignatureRule>,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) created_at: Timestamp,
    pub(crate) rotated_at: Option<Timestamp>,
}

/// Stores a new trigger.
pub(super) fn put(tables: &mut OpenTables<'_>, trigger: &TriggerRecord) -> Result<(), StoreError> {
    let json = serde_json::to_vec(trigger).map_err(|error| StoreError::Io { reason: error.to_string() })?;
    tables.webhooks.insert(&keys::uuid_key(trigger.id.as_str()), json.as_slice())?;
    Ok(())
}

/// Replaces the secret of a trigger; the trigger as it is then, unless there is none.
pub(super) fn replace_secret(
    tables: &mut OpenTables<'_>,
    id: &TriggerId,
    (secret, now): (&SecretDigest, Timestamp),
) -> Result<Option<TriggerRecord>, StoreError> {
    let Some(mut trigger) = get_in(tables, id)? else { return Ok(None) };
    trigger.secret = Some(*secret);
    trigger.generation += 1;
    trigger.rotated_at = Some(now);
    put(tables, &trigger)?;
    Ok(Some(trigger))
}

/// Removes a trigger with all that is kept of its deliveries; false when there is none. Runs that it started go on.
pub(super) fn remove(tables: &mut OpenTables<'_>, id: &TriggerId) -> Result<bool, StoreError> {
    let key = keys::uuid_key(id.as_str());
    if tables.webhooks.remove(&key)?.is_none() {
        return Ok(false);
    }
    deliveries::remove_all(tables, &key)?;
    event_ids::remove_all(tables, &key)?;
    Ok(true)
}

/// Removes every trigger of a flow; how many there were.
pub(super) fn remove_of_flow(tables: &mut OpenTables<'_>, flow: &FlowId) -> Result<u64, StoreError> {
    let triggers = of_flow(tables, flow)?;
    for trigger in &triggers {
        remove(tables, &trigger.id)?;
    }
    Ok(triggers.len() as u64)
}

/// Gives every trigger of a flow to another.
pub(super) fn rename_flow(tables: &mut OpenTables<'_>, from: &FlowId, to: &FlowId) -> Result<(), StoreError> {
    for trigger in of_flow(tables, from)? {
        put(tables, &TriggerRecord { flow: to.clone(), ..trigger })?;
    }
    Ok(())
}

fn of_flow(tables: &OpenTables<'_>, flow: &FlowId) -> Result<Vec<TriggerRecord>, StoreError> {
    let mut triggers = Vec::new();
    for entry in tables.webhooks.iter()? {
        let trigger = decode(entry?.1.value())?;
        if trigger.flow == *flow {
            triggers.push(trigger);
        }
    }
    Ok(triggers)
}

/// The trigger of this id, within a transaction that writes.
pub(super) fn get_in(tables: &OpenTables<'_>, id: &TriggerId) -> Result<Option<TriggerRecord>, StoreError> {
    tables.webhooks.get(&keys::uuid_key(id.as_str()))?.map(|json| decode(json.value())).transpose()
}

/// The trigger of this id.
pub(super) fn get(transaction: &ReadTransaction, id: &TriggerId) -> Result<Option<TriggerRecord>, StoreError> {
    let Some(webhooks) = tables::readable(transaction, WEBHOOKS)? else { return Ok(None) };
    webhooks.get(&keys::uuid_key(id.as_str()))?.map(|json| decode(json.value())).transpose()
}

/// Every trigger, oldest first.
pub(super) fn all(transaction: &ReadTransaction) -> Result<Vec<TriggerRecord>, StoreError> {
    let Some(webhooks) = tables::readable(transaction, WEBHOOKS)? else { return Ok(Vec::new()) };
    webhooks.iter()?.map(|entry| decode(entry?.1.value())).collect()
}

fn decode(json: &[u8]) -> Result<TriggerRecord, StoreError> {
    serde_json::from_slice(json)
        .map_err(|error| StoreError::Damaged { reason: format!("a webhook's trigger cannot be read: {error}") })
}
