//! Keys of the tables, as bytes that sort the way the tables are read.
//!
//! A run is its UUID's 16 bytes, so runs sort by the time they were made; a place in the journal is that and the
//! sequence number as 8 bytes, high byte first. A webhook's trigger is its UUID too; its deliveries are numbered.

use std::ops::RangeInclusive;

use weir_shared::ids::{FlowId, RunId, Seq, Timestamp};

use super::error::StoreError;

/// A run.
pub(super) type RunKey = [u8; 16];
/// A place in the journal.
pub(super) type EventKey = [u8; 24];

/// The key of a run.
pub(super) fn run_key(run: &RunId) -> RunKey {
    uuid_key(run.as_str())
}

/// The bytes of a UUID as ids write it.
pub(super) fn uuid_key(text: &str) -> [u8; 16] {
    let mut key = [0; 16];
    let digits = text.bytes().filter_map(|byte| char::from(byte).to_digit(16));
    for (at, digit) in digits.enumerate().take(32) {
        // A hexadecimal digit is below 16: the cast cannot cut.
        key[at / 2] = (key[at / 2] << 4) | u8::try_from(digit).unwrap_or(0);
    }
    key
}

/// The run of a key.
pub(super) fn run_of(key: &RunKey) -> Result<RunId, StoreError> {
    let text = uuid::Uuid::from_bytes(*key).to_string();
    text.parse().map_err(|_| StoreError::Damaged { reason: format!("{text} stands where a run id should") })
}

/// The key of an event.
pub(super) fn event_key(run: &RunKey, seq: Seq) -> EventKey {
    numbered(run, seq.0)
}

/// The `number`th thing of a UUID.
pub(super) fn numbered(uuid: &[u8; 16], number: u64) -> [u8; 24] {
    let mut key = [0; 24];
    key[..16].copy_from_slice(uuid);
    key[16..].copy_from_slice(&number.to_be_bytes());
    key
}

/// The number in such a key.
pub(super) fn number_of(key: &[u8; 24]) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&key[16..]);
    u64::from_be_bytes(number)
}

/// An event that was named to a trigger.
pub(super) fn event_id(trigger: &[u8; 16], digest: &[u8; 32]) -> [u8; 48] {
    let mut key = [0; 48];
    key[..16].copy_from_slice(trigger);
    key[16..].copy_from_slice(digest);
    key
}

/// An event by its age. A moment before 1970 counts as 1970.
pub(super) fn aged(at: Timestamp, event: &[u8; 48]) -> [u8; 56] {
    let mut key = [0; 56];
    key[..8].copy_from_slice(&u64::try_from(at.0).unwrap_or(0).to_be_bytes());
    key[8..].copy_from_slice(event);
    key
}

/// The event of a key by age.
pub(super) fn event_of_aged(key: &[u8; 56]) -> [u8; 48] {
    let mut event = [0; 48];
    event.copy_from_slice(&key[8..]);
    event
}

/// Where the events of a run after this one are.
pub(super) fn events_after(run: &RunKey, after: Seq) -> RangeInclusive<EventKey> {
    event_key(run, Seq(after.0.saturating_add(1)))..=event_key(run, Seq(u64::MAX))
}

/// The key of a run in the index by flow: flow ids hold no zero byte, so one ends the id.
pub(super) fn flow_run_key(flow: &FlowId, run: &RunKey) -> Vec<u8> {
    let mut key = Vec::with_capacity(flow.as_str().len() + 17);
    key.extend_from_slice(flow.as_str().as_bytes());
    key.push(0);
    key.extend_from_slice(run);
    key
}

/// Flow and run of a key of the index by flow.
pub(super) fn flow_and_run(key: &[u8]) -> Result<(FlowId, RunKey), StoreError> {
    let damaged = || StoreError::Damaged { reason: "a key of the index by flow is malformed".to_owned() };
    let at = key.len().checked_sub(17).ok_or_else(damaged)?;
    let flow = std::str::from_utf8(&key[..at]).ok().and_then(|text| text.parse().ok()).ok_or_else(damaged)?;
    let run = key[at + 1..].try_into().map_err(|_| damaged())?;
    Ok((flow, run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_back_and_sort_as_their_tables_are_read() {
        let early: RunId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        let late: RunId = "01890a5d-ac97-774b-bcce-b302099a8057".parse().unwrap();
        assert_eq!(run_of(&run_key(&early)).unwrap(), early);
        assert!(run_key(&early) < run_key(&late));

        let key = run_key(&early);
        assert!(event_key(&key, Seq(255)) < event_key(&key, Seq(256)));
        assert!(!events_after(&key, Seq(3)).contains(&event_key(&key, Seq(3))));
        assert!(events_after(&key, Seq(3)).contains(&event_key(&key, Seq(4))));
        assert!(!events_after(&key, Seq(3)).contains(&event_key(&run_key(&late), Seq(4))));

        let flow: FlowId = "report".parse().unwrap();
        let longer: FlowId = "report-2".parse().unwrap();
        assert_eq!(flow_and_run(&flow_run_key(&flow, &key)).unwrap(), (flow.clone(), key));
        assert!(flow_run_key(&flow, &[255; 16]) < flow_run_key(&longer, &[0; 16]));
    }
}
