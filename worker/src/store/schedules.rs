//! Schedules and what became of their occurrences.
//!
//! A schedule is one record, from a file or from the API; its definition, its next boundary and its counts change
//! together. Each write names the revision of the record that it follows, so of two writers one is turned away: a fire
//! that was decided before an edit, or twice, commits nothing.

use redb::{ReadTransaction, ReadableTable, TableDefinition};
use serde::{Deserialize, Serialize};
use weir_shared::flow::Schedule;
use weir_shared::ids::{FlowId, Owner, RunId, ScheduleId, TaskId, Timestamp};
use weir_shared::schedule::{Fire, PauseReason};

use super::error::StoreError;
use super::handle::Store;
use super::keys;
use super::tables::{self, OpenTables};
use super::writer::{Change, Outcome};

/// Schedule → its record, as JSON.
pub(super) const SCHEDULES: TableDefinition<&[u8; 16], &[u8]> = TableDefinition::new("schedules");
/// (schedule, number) → what became of an occurrence, as JSON. Numbers of a schedule count up from 1.
pub(super) const FIRES: TableDefinition<&[u8; 24], &[u8]> = TableDefinition::new("fires");

/// Occurrences kept of a schedule.
const KEPT: u64 = 1_000;

/// A schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScheduleRecord {
    pub(crate) id: ScheduleId,
    pub(crate) flow: FlowId,
    pub(crate) owner: Owner,
    pub(crate) origin: Origin,
    /// What it is, in the words of a flow file.
    pub(crate) said: Schedule,
    pub(crate) standing: Standing,
    pub(crate) created_at: Timestamp,
    /// Where an interval's boundaries are counted from.
    pub(crate) first: Timestamp,
    /// The next boundary that nothing was decided about.
    pub(crate) next: Option<Timestamp>,
    /// Whether `next` is the extra fire at the beginning.
    pub(crate) extra: bool,
    /// The last boundary that something was decided about: none up to it is decided about again.
    pub(crate) through: Option<Timestamp>,
    /// Boundaries that came due and wait for the end of the run before them.
    pub(crate) waiting: Vec<Timestamp>,
    pub(crate) last_fire_at: Option<Timestamp>,
    pub(crate) last_task: Option<TaskId>,
    pub(crate) last_run: Option<RunId>,
    pub(crate) last_error: Option<String>,
    pub(crate) fires: u64,
    pub(crate) missed: u64,
    pub(crate) skipped: u64,
    /// How often it was written.
    pub(crate) revision: u64,
    /// How many occurrences were recorded.
    pub(crate) recorded: u64,
}

/// Where a schedule is declared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Origin {
    Api,
    /// In a flow file: the nth of those with this name.
    File {
        name: Option<String>,
        nth: usize,
    },
}

/// How a schedule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Standing {
    Active,
    Paused(PauseReason),
    Completed,
    Expired,
}

impl ScheduleRecord {
    /// The first record of a schedule, which nothing has come of yet. When it comes round is not said.
    pub(crate) fn new(
        id: ScheduleId,
        (flow, owner): (&FlowId, &Owner),
        (origin, said): (Origin, Schedule),
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            flow: flow.clone(),
            owner: owner.clone(),
            origin,
            said,
            standing: Standing::Active,
            created_at: now,
            first: now,
            next: None,
            extra: false,
            through: None,
            waiting: Vec::new(),
            last_fire_at: None,
            last_task: None,
            last_run: None,
            last_error: None,
            fires: 0,
            missed: 0,
            skipped: 0,
            revision: 1,
            recorded: 0,
        }
    }
}

/// A fire that a run is admitted for: the schedule as it is afterwards, and what is recorded with it. The last
/// occurrence is the run's own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FireClaim {
    pub(crate) record: ScheduleRecord,
    pub(crate) fires: Vec<Fire>,
}

impl Store {
    /// Stores a schedule that follows the revision before it, and occurrences with it; false when another write came
    /// first, or the schedule is gone, and nothing was stored.
    pub(crate) async fn put_schedule(&self, record: ScheduleRecord, fires: Vec<Fire>) -> Result<bool, StoreError> {
        let change = Change::PutSchedule { record: Box::new(record), fires };
        Ok(matches!(self.change(change).await?, Outcome::Followed(true)))
    }

    /// Removes a schedule and its occurrences; false when there is none. Runs that it started go on.
    pub(crate) async fn remove_schedule(&self, id: ScheduleId) -> Result<bool, StoreError> {
        Ok(matches!(self.change(Change::RemoveSchedule { id }).await?, Outcome::Gone(1)))
    }

    /// Every schedule, oldest first.
    pub(crate) fn schedules(&self) -> Result<Vec<ScheduleRecord>, StoreError> {
        self.read(|transaction| {
            let Some(schedules) = tables::readable(transaction, SCHEDULES)? else { return Ok(Vec::new()) };
            schedules.iter()?.map(|entry| decode(entry?.1.value())).collect()
        })
    }

    /// The schedule of this id.
    pub(crate) fn schedule(&self, id: &ScheduleId) -> Result<Option<ScheduleRecord>, StoreError> {
        self.read(|transaction| {
            let Some(schedules) = tables::readable(transaction, SCHEDULES)? else { return Ok(None) };
            schedules.get(&keys::uuid_key(id.as_str()))?.map(|json| decode(json.value())).transpose()
        })
    }

    /// The newest occurrences of a schedule, newest first.
    pub(crate) fn fires(&self, id: &ScheduleId, limit: usize) -> Result<Vec<Fire>, StoreError> {
        self.read(|transaction| newest(transaction, id, limit))
    }
}

/// Stores a record and occurrences; false, and nothing stored, when the record does not follow the stored one.
pub(super) fn put(tables: &mut OpenTables<'_>, record: &ScheduleRecord, fires: &[Fire]) -> Result<bool, StoreError> {
    if !follows(tables, record)? {
        return Ok(false);
    }
    let mut record = record.clone();
    let schedule = keys::uuid_key(record.id.as_str());
    for fire in fires {
        record.recorded += 1;
        tables.fires.insert(&keys::numbered(&schedule, record.recorded), encode(fire)?.as_slice())?;
        if let Some(surplus) = record.recorded.checked_sub(KEPT) {
            tables.fires.remove(&keys::numbered(&schedule, surplus))?;
        }
    }
    tables.schedules.insert(&schedule, encode(&record)?.as_slice())?;
    Ok(true)
}

/// Whether a record is what may be written next. A schedule that was removed is followed by nothing.
pub(super) fn follows(tables: &OpenTables<'_>, record: &ScheduleRecord) -> Result<bool, StoreError> {
    let stored = tables.schedules.get(&keys::uuid_key(record.id.as_str()))?;
    let stored: Option<ScheduleRecord> = stored.map(|json| decode(json.value())).transpose()?;
    Ok(stored.map_or(0, |stored| stored.revision) + 1 == record.revision)
}

/// Records the fire of a run that is recorded in the same transaction. That it may was judged before.
pub(super) fn record(
    tables: &mut OpenTables<'_>,
    claim: &FireClaim,
    (run, task): (&RunId, &TaskId),
) -> Result<(), StoreError> {
    let FireClaim { mut record, mut fires } = claim.clone();
    record.last_run = Some(run.clone());
    record.last_task = Some(task.clone());
    if let Some(own) = fires.last_mut() {
        own.run_id = Some(run.clone());
        own.task_id = Some(task.clone());
    }
    put(tables, &record, &fires).map(drop)
}

/// Removes a schedule with all that is kept of it; false when there is none.
pub(super) fn remove(tables: &mut OpenTables<'_>, id: &ScheduleId) -> Result<bool, StoreError> {
    let key = keys::uuid_key(id.as_str());
    let (first, last) = (keys::numbered(&key, 0), keys::numbered(&key, u64::MAX));
    tables.fires.retain_in::<&[u8; 24], _>(&first..=&last, |_, _| false)?;
    Ok(tables.schedules.remove(&key)?.is_some())
}

/// Removes every schedule of a flow; how many.
pub(super) fn remove_of_flow(tables: &mut OpenTables<'_>, flow: &FlowId) -> Result<u64, StoreError> {
    let gone = of_flow(tables, flow)?;
    for record in &gone {
        remove(tables, &record.id)?;
    }
    Ok(gone.len() as u64)
}

/// Gives every schedule of a flow to another.
pub(super) fn rename_flow(tables: &mut OpenTables<'_>, from: &FlowId, to: &FlowId) -> Result<(), StoreError> {
    for mut record in of_flow(tables, from)? {
        record.flow = to.clone();
        record.revision += 1;
        let key = keys::uuid_key(record.id.as_str());
        tables.schedules.insert(&key, encode(&record)?.as_slice())?;
    }
    Ok(())
}

fn of_flow(tables: &OpenTables<'_>, flow: &FlowId) -> Result<Vec<ScheduleRecord>, StoreError> {
    let all = tables.schedules.iter()?.map(|entry| decode::<ScheduleRecord>(entry?.1.value()));
    all.filter(|record| record.as_ref().map_or(true, |record| record.flow == *flow)).collect()
}

fn newest(transaction: &ReadTransaction, id: &ScheduleId, limit: usize) -> Result<Vec<Fire>, StoreError> {
    let Some(fires) = tables::readable(transaction, FIRES)? else { return Ok(Vec::new()) };
    let key = keys::uuid_key(id.as_str());
    let (first, last) = (keys::numbered(&key, 0), keys::numbered(&key, u64::MAX));
    let newest = fires.range::<&[u8; 24]>(&first..=&last)?.rev().take(limit);
    newest.map(|entry| decode(entry?.1.value())).collect()
}

fn encode(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(value).map_err(|error| StoreError::Io { reason: error.to_string() })
}

fn decode<T: serde::de::DeserializeOwned>(json: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(json)
        .map_err(|error| StoreError::Damaged { reason: format!("a schedule cannot be read: {error}") })
}
