//! The trigger of nobody, read in place of one that is not there, so that a look for a trigger takes as long whether it
//! finds one or not. It opens to nothing: it is read and thrown away.

use weir_shared::flow::PermissionMode;
use weir_shared::ids::{FlowId, Owner, Timestamp, TriggerId};
use weir_shared::webhook::RateLimit;

use crate::engine::SANDBOX;
use crate::store::TriggerRecord;

/// As long as an ordinary flow's id.
const FLOW: &str = "nobodys-flow";

/// A record as the store keeps it.
pub(super) struct Nobody {
    id: TriggerId,
    record: Vec<u8>,
}

impl Nobody {
    pub(super) fn new() -> Self {
        let id = TriggerId::from_bytes([0; 16]);
        let flow = FLOW.parse::<FlowId>().ok();
        let record = flow.and_then(|flow| serde_json::to_vec(&record_of(id.clone(), flow)).ok()).unwrap_or_default();
        Self { id, record }
    }

    /// An id that no trigger has: what is looked for where an address names no id at all.
    pub(super) fn id(&self) -> TriggerId {
        self.id.clone()
    }

    /// Does the work of reading a trigger.
    pub(super) fn read(&self) {
        let _read_for_its_time = std::hint::black_box(serde_json::from_slice::<TriggerRecord>(&self.record));
    }
}

fn record_of(id: TriggerId, flow: FlowId) -> TriggerRecord {
    TriggerRecord {
        id,
        flow,
        name: None,
        owner: Owner::local(),
        default_inputs: serde_json::Map::new(),
        permission_mode: PermissionMode::default(),
        sandbox: SANDBOX,
        secret: Some([255; 32]),
        generation: 0,
        signature: None,
        rate_limit: Some(RateLimit::default()),
        created_at: Timestamp(0),
        rotated_at: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_in_place_of_a_trigger_is_one() {
        let nobody = Nobody::new();
        let record: TriggerRecord = serde_json::from_slice(&nobody.record).unwrap();
        assert_eq!(record.id, nobody.id());
    }
}
