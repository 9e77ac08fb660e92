//! What a schedule runs: the active version of its flow, or a reason to pause.

use weir_shared::flow::Schedule;
use weir_shared::run::event::{Cause, RunConfig};
use weir_shared::schedule::PauseReason;

use super::wanted::mode;
use crate::published::{ActiveVersion, NotActive};
use crate::run_request::RunRequest;
use crate::store::{ScheduleRecord, StoreError};

/// Why no version of a flow runs, as a reason to pause; an error of the store is none.
pub(super) fn reason(not: NotActive) -> Result<PauseReason, StoreError> {
    match not {
        NotActive::Unknown(_) => Ok(PauseReason::FlowMissing),
        NotActive::NotPublished(_) | NotActive::OutOfService(_) => Ok(PauseReason::Unpublished),
        NotActive::Unaccepted { .. } | NotActive::NotAccepted { .. } => Ok(PauseReason::Unaccepted),
        NotActive::Findings { .. } => Ok(PauseReason::FlowInvalid),
        NotActive::Store(error) => Err(error),
    }
}

/// A wish to run a version for a schedule.
pub(super) fn request(active: &ActiveVersion, record: &ScheduleRecord) -> RunRequest {
    let inputs = record.said.inputs.clone().unwrap_or_default();
    RunRequest::of_active(active, (Cause::Schedule, record.owner.clone()), inputs, config(&record.said))
}

fn config(said: &Schedule) -> RunConfig {
    RunConfig { permission_mode: mode(said), ..RunConfig::default() }
}
