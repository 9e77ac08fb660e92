//! One row a run: a cache of its journal, written in the same transaction, and the indexes over rows.

use std::collections::BTreeMap;

use redb::{ReadTransaction, ReadableTable};
use weir_shared::ids::{FlowId, RunId};
use weir_shared::wire::{LastRun, RunRow};

use super::error::StoreError;
use super::keys::{self, RunKey};
use super::run_text;
use super::tables::{self, FLOW_RUNS, OpenTables, ROWS, RUN_TEXT, UNFINISHED};

/// A row in the forms it is stored in.
#[derive(Debug)]
pub(super) struct StoredRow {
    json: Vec<u8>,
    text: Vec<u8>,
    flow: Option<FlowId>,
    ended: bool,
}

impl StoredRow {
    /// Encodes a row.
    pub(super) fn of(row: &RunRow) -> Result<Self, StoreError> {
        let json = serde_json::to_vec(row).map_err(|error| StoreError::Io { reason: error.to_string() })?;
        let ended = row.status.is_terminal();
        Ok(Self { json, text: run_text::encode(row), flow: row.flow_id.clone(), ended })
    }
}

/// Writes a run's row and brings the indexes along. What has not changed is not written.
pub(super) fn put(tables: &mut OpenTables<'_>, run: &RunKey, row: &StoredRow) -> Result<(), StoreError> {
    let is_new = match tables.rows.get(run)? {
        Some(stored) if stored.value() == row.json => return Ok(()),
        Some(_) => false,
        None => true,
    };
    tables.rows.insert(run, row.json.as_slice())?;
    let text_changed = tables.run_text.get(run)?.is_none_or(|stored| stored.value() != row.text);
    if text_changed {
        tables.run_text.insert(run, row.text.as_slice())?;
    }
    if is_new && let Some(flow) = &row.flow {
        tables.flow_runs.insert(keys::flow_run_key(flow, run).as_slice(), ())?;
    }
    if row.ended {
        tables.unfinished.remove(run)?;
    } else if is_new {
        tables.unfinished.insert(run, ())?;
    }
    Ok(())
}

/// Removes a run's row from all tables.
pub(super) fn remove(tables: &mut OpenTables<'_>, run: &RunKey) -> Result<(), StoreError> {
    let flow = match tables.rows.remove(run)? {
        Some(json) => decode(run, json.value())?.flow_id,
        None => None,
    };
    tables.run_text.remove(run)?;
    tables.unfinished.remove(run)?;
    if let Some(flow) = flow {
        tables.flow_runs.remove(keys::flow_run_key(&flow, run).as_slice())?;
    }
    Ok(())
}

/// Reads a stored row.
pub(super) fn decode(run: &RunKey, json: &[u8]) -> Result<RunRow, StoreError> {
    serde_json::from_slice(json).map_err(|error| StoreError::Damaged {
        reason: format!("the row of run {} cannot be read: {error}", uuid::Uuid::from_bytes(*run)),
    })
}

/// What is wrong with what is kept of a run beside its journal, given the row that its journal adds up to.
pub(super) fn fault(transaction: &ReadTransaction, run: &RunKey, row: &RunRow) -> Result<Option<String>, StoreError> {
    let right = StoredRow::of(row)?;
    let Some(rows) = tables::readable(transaction, ROWS)? else { return Ok(Some("it has no row".to_owned())) };
    let Some(json) = rows.get(run)? else { return Ok(Some("it has no row".to_owned())) };
    // Read before it is compared: a row of an earlier version may lack a key that is written now.
    if decode(run, json.value()).ok().and_then(|row| StoredRow::of(&row).ok()).is_none_or(|it| it.json != right.json) {
        return Ok(Some("its row differs from its journal".to_owned()));
    }
    let texts = tables::readable(transaction, RUN_TEXT)?;
    let text = texts.map(|texts| texts.get(run)).transpose()?.flatten();
    if text.is_none_or(|text| text.value() != right.text) {
        return Ok(Some("its search text differs from its row".to_owned()));
    }
    let unfinished = tables::readable(transaction, UNFINISHED)?;
    let is_unfinished = unfinished.map(|all| all.get(run)).transpose()?.flatten().is_some();
    if is_unfinished == right.ended {
        return Ok(Some("the list of unfinished runs is wrong about it".to_owned()));
    }
    let Some(flow) = &row.flow_id else { return Ok(None) };
    let by_flow = tables::readable(transaction, FLOW_RUNS)?;
    let key = keys::flow_run_key(flow, run);
    let is_listed = by_flow.map(|all| all.get(key.as_slice())).transpose()?.flatten().is_some();
    Ok((!is_listed).then(|| "the list of its flow's runs lacks it".to_owned()))
}

/// Writes what is kept of a run beside its journal as if there were nothing.
pub(super) fn rewrite(tables: &mut OpenTables<'_>, run: &RunKey, row: &StoredRow) -> Result<(), StoreError> {
    tables.rows.remove(run)?;
    put(tables, run, row)
}

/// The runs that have a row, oldest first.
pub(super) fn runs(transaction: &ReadTransaction) -> Result<Vec<RunKey>, StoreError> {
    let Some(rows) = tables::readable(transaction, ROWS)? else { return Ok(Vec::new()) };
    rows.iter()?.map(|entry| Ok(*entry?.0.value())).collect()
}

/// The row of a run.
pub(super) fn row(transaction: &ReadTransaction, run: &RunId) -> Result<Option<RunRow>, StoreError> {
    let key = keys::run_key(run);
    let Some(rows) = tables::readable(transaction, ROWS)? else { return Ok(None) };
    rows.get(&key)?.map(|json| decode(&key, json.value())).transpose()
}

/// Runs that have not ended, oldest first.
pub(super) fn unfinished(transaction: &ReadTransaction) -> Result<Vec<RunId>, StoreError> {
    let Some(unfinished) = tables::readable(transaction, UNFINISHED)? else { return Ok(Vec::new()) };
    unfinished.iter()?.map(|entry| keys::run_of(entry?.0.value())).collect()
}

/// The newest run of every flow that has one. It costs one seek a flow, however many runs there are.
pub(super) fn last_runs(transaction: &ReadTransaction) -> Result<BTreeMap<FlowId, LastRun>, StoreError> {
    let mut last = BTreeMap::new();
    let (Some(by_flow), Some(rows)) = (tables::readable(transaction, FLOW_RUNS)?, tables::readable(transaction, ROWS)?)
    else {
        return Ok(last);
    };
    let mut below: Option<Vec<u8>> = None;
    loop {
        let newest = match &below {
            None => by_flow.last()?,
            Some(bound) => by_flow.range::<&[u8]>(..bound.as_slice())?.next_back().transpose()?,
        };
        let Some((key, ())) = newest.map(|(key, _)| (key, ())) else { return Ok(last) };
        let (flow, run) = keys::flow_and_run(key.value())?;
        if let Some(json) = rows.get(&run)? {
            let row = decode(&run, json.value())?;
            last.insert(
                flow.clone(),
                LastRun {
                    run_id: row.run_id,
                    status: row.status,
                    created_at: row.created_at,
                    completed_at: row.completed_at,
                    duration_ms: row.duration_ms,
                },
            );
        }
        below = Some(keys::flow_run_key(&flow, &[0; 16]));
    }
}
