//! A schedule as it is shown.

use serde_json::Value;
use weir_shared::mask::mask_fields;
use weir_shared::schedule::{ScheduleRow, ScheduleSource, ScheduleState};

use super::course::expiry;
use super::wanted::mode;
use super::zone::{name_of, zone};
use crate::engine::SANDBOX;
use crate::store::{Origin, ScheduleRecord, Standing};

/// The row of a record. `inputs` is the schema of its flow's inputs, where it is known.
pub(super) fn row(record: ScheduleRecord, inputs: Option<&Value>) -> ScheduleRow {
    let (state, paused_reason) = match record.standing {
        Standing::Active => (ScheduleState::Active, None),
        Standing::Paused(reason) => (ScheduleState::Paused, Some(reason)),
        Standing::Completed => (ScheduleState::Completed, None),
        Standing::Expired => (ScheduleState::Expired, None),
    };
    let expires_at = expiry(&record);
    let said = record.said;
    let mut shown = said.inputs.clone().unwrap_or_default();
    mask_fields(&mut shown, inputs);
    let time_zone = said.time_zone.clone().or_else(|| zone(None).ok().map(|zone| name_of(&zone).to_owned()));
    ScheduleRow {
        schedule_id: record.id,
        workflow_id: record.flow,
        name: said.name.clone(),
        owner: record.owner,
        source: match record.origin {
            Origin::Api => ScheduleSource::Api,
            Origin::File { .. } => ScheduleSource::File,
        },
        time_zone: time_zone.unwrap_or_default(),
        recurring: said.recurring.unwrap_or(true),
        overlap: said.overlap.unwrap_or_default(),
        catch_up: said.catch_up.unwrap_or_default(),
        permission_mode: mode(&said),
        calendar: said.calendar,
        cron: said.cron,
        interval_seconds: said.interval_seconds,
        next_fire_at: record.next,
        last_fire_at: record.last_fire_at,
        fires: record.fires,
        missed_fires: record.missed,
        skipped_fires: record.skipped,
        waiting_fires: record.waiting.len(),
        last_task_id: record.last_task,
        last_run_id: record.last_run,
        last_error: record.last_error,
        state,
        paused_reason,
        created_at: record.created_at,
        expires_at,
        sandbox_profile: SANDBOX,
        inputs: shown,
    }
}
