//! (run, seq) → event. Sequence numbers of a run go from 1 without gaps; an event is never changed.

use redb::{ReadTransaction, ReadableTable};
use serde::Deserialize;
use weir_shared::ids::{RunId, Seq, Timestamp};
use weir_shared::run::event::{Event, Recorded};

use super::error::StoreError;
use super::keys::{self, RunKey};
use super::tables::{self, JOURNAL, OpenTables};

/// An event in the form it is stored in.
#[derive(Debug)]
pub(super) struct StoredEvent {
    pub(super) seq: Seq,
    pub(super) json: Vec<u8>,
}

impl StoredEvent {
    /// Encodes an event.
    pub(super) fn of(event: &Recorded) -> Result<Self, StoreError> {
        let json = serde_json::to_vec(event).map_err(|error| StoreError::Io { reason: error.to_string() })?;
        Ok(Self { seq: event.seq, json })
    }
}

/// Writes events that follow the run's last one; refuses, without writing any, those that do not.
pub(super) fn append(tables: &mut OpenTables<'_>, run: &RunId, events: &[StoredEvent]) -> Result<(), StoreError> {
    let key = keys::run_key(run);
    let Some(first) = events.first() else { return Ok(()) };
    let out_of_order = |seq| StoreError::OutOfOrder { run: run.clone(), seq };
    if first.seq != last(tables, &key)?.next() {
        return Err(out_of_order(first.seq));
    }
    if let Some(pair) = events.windows(2).find(|pair| pair[1].seq != pair[0].seq.next()) {
        return Err(out_of_order(pair[1].seq));
    }
    for event in events {
        tables.journal.insert(&keys::event_key(&key, event.seq), event.json.as_slice())?;
    }
    Ok(())
}

/// The place of the run's last event; 0 when it has none.
fn last(tables: &OpenTables<'_>, run: &RunKey) -> Result<Seq, StoreError> {
    let range = keys::events_after(run, Seq(0));
    let Some(entry) = tables.journal.range::<&[u8; 24]>(range.start()..=range.end())?.next_back() else {
        return Ok(Seq(0));
    };
    let (key, _) = entry?;
    Ok(seq_of(key.value()))
}

fn seq_of(key: &[u8; 24]) -> Seq {
    Seq(keys::number_of(key))
}

/// At most `limit` events of a run after this place, in order.
pub(super) fn events(
    transaction: &ReadTransaction,
    run: &RunId,
    after: Seq,
    limit: usize,
) -> Result<Vec<Recorded>, StoreError> {
    let Some(journal) = tables::readable(transaction, JOURNAL)? else { return Ok(Vec::new()) };
    let range = keys::events_after(&keys::run_key(run), after);
    let mut events = Vec::new();
    for entry in journal.range::<&[u8; 24]>(range.start()..=range.end())?.take(limit) {
        let (key, json) = entry?;
        let seq = seq_of(key.value());
        let event = decode(seq, json.value()).map_err(|error| StoreError::Damaged {
            reason: format!("event {seq} of run {run} cannot be read: {error}"),
        })?;
        events.push(event);
    }
    Ok(events)
}

/// Reads a stored event, whose place its key tells. The time is read apart from the event: read as one, `flatten` has
/// serde copy everything into values of its own first, which for a long journal is most of the work.
fn decode(seq: Seq, json: &[u8]) -> serde_json::Result<Recorded> {
    #[derive(Deserialize)]
    struct Moment {
        ts: Timestamp,
    }
    let Moment { ts } = serde_json::from_slice(json)?;
    let event: Event = serde_json::from_slice(json)?;
    Ok(Recorded { seq, ts, event })
}

/// The runs that have a journal, oldest first. It costs one seek a run.
pub(super) fn runs(transaction: &ReadTransaction) -> Result<Vec<RunKey>, StoreError> {
    let mut runs = Vec::new();
    let Some(journal) = tables::readable(transaction, JOURNAL)? else { return Ok(runs) };
    let mut from = [0; 24];
    while let Some(entry) = journal.range::<&[u8; 24]>(&from..)?.next() {
        let (key, _) = entry?;
        let mut run = [0; 16];
        run.copy_from_slice(&key.value()[..16]);
        runs.push(run);
        from = keys::event_key(&run, Seq(u64::MAX));
    }
    Ok(runs)
}

/// The place of a run's last event, read without the events; 0 for an unknown run.
pub(super) fn last_seq(transaction: &ReadTransaction, run: &RunId) -> Result<Seq, StoreError> {
    let Some(journal) = tables::readable(transaction, JOURNAL)? else { return Ok(Seq(0)) };
    let range = keys::events_after(&keys::run_key(run), Seq(0));
    let last = journal.range::<&[u8; 24]>(range.start()..=range.end())?.next_back().transpose()?;
    Ok(last.map_or(Seq(0), |(key, _)| seq_of(key.value())))
}

/// Removes every event of a run.
pub(super) fn remove(tables: &mut OpenTables<'_>, run: &RunKey) -> Result<(), StoreError> {
    let range = keys::events_after(run, Seq(0));
    tables.journal.retain_in::<&[u8; 24], _>(range.start()..=range.end(), |_, _| false)?;
    Ok(())
}
