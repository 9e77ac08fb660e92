//! What callers ask for, judged: a schedule in the words of a flow file, or everything that is wrong with it.

use weir_shared::bind::bind;
use weir_shared::finding::Fault;
use weir_shared::flow::{Flow, PermissionMode, Schedule};
use weir_shared::ids::Timestamp;
use weir_shared::limits::NAME_CHARS;
use weir_shared::recurrence::RuleText;
use weir_shared::schedule::{ChangeSchedule, CreateSchedule, Said};

use super::calendar::{Timetable, moment_of};
use super::preview::judged;
use crate::store::ScheduleRecord;

/// How long an interval made through the API lasts when nothing is said: a week.
const INTERVAL_LASTS_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// The timetable of a stored schedule; an unknown zone has none.
pub(super) fn timetable(record: &ScheduleRecord) -> Option<Timetable> {
    let (rule, zone) = judged(RuleText::of(&record.said), record.said.time_zone.as_deref()).ok()?;
    Some(Timetable { rule, zone, first: moment_of(record.first) })
}

/// The timetable of a schedule that is new from now on; an unknown zone has none.
pub(super) fn timetable_from(said: &Schedule, now: Timestamp) -> Option<Timetable> {
    let (rule, zone) = judged(RuleText::of(said), said.time_zone.as_deref()).ok()?;
    Some(Timetable::beginning(rule, zone, moment_of(now)))
}

/// The schedule that a caller asks for, and its timetable.
pub(super) fn created(asked: &CreateSchedule, now: Timestamp) -> Result<(Schedule, Timetable), Vec<Fault>> {
    let mut said = Schedule {
        name: asked.name.as_ref().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()),
        calendar: asked.calendar.clone(),
        cron: asked.cron.clone(),
        interval_seconds: asked.interval_seconds,
        time_zone: asked.time_zone.clone(),
        recurring: asked.recurring,
        fire_immediately: asked.fire_immediately,
        inputs: asked.inputs.clone(),
        permission_mode: asked.permission_mode,
        overlap: asked.overlap,
        catch_up: asked.catch_up,
        ..Schedule::default()
    };
    said.expires_at = match &asked.expires_at {
        Said::Value(moment) => Some(Some(moment.to_string())),
        Said::Null => Some(None),
        Said::Nothing if said.interval_seconds.is_some() && said.recurring.unwrap_or(true) => {
            Some(Some(Timestamp(now.0.saturating_add(INTERVAL_LASTS_MS)).to_string()))
        }
        Said::Nothing => None,
    };
    let timetable = judge(&mut said, (&asked.expires_at, now))?;
    Ok((said, timetable))
}

/// A schedule as a caller changes it, and its timetable, which is new from now on where the rule is.
pub(super) fn changed(
    record: &ScheduleRecord,
    asked: &ChangeSchedule,
    now: Timestamp,
) -> Result<(Schedule, Timetable), Vec<Fault>> {
    let mut said = record.said.clone();
    if asked.calendar.is_some() || asked.cron.is_some() || asked.interval_seconds.is_some() {
        said.calendar.clone_from(&asked.calendar);
        said.cron.clone_from(&asked.cron);
        said.interval_seconds = asked.interval_seconds;
    }
    match &asked.time_zone {
        Said::Nothing => {}
        Said::Null => said.time_zone = None,
        Said::Value(zone) => said.time_zone = Some(zone.clone()),
    }
    match &asked.expires_at {
        Said::Nothing => {}
        Said::Null => said.expires_at = Some(None),
        Said::Value(moment) => said.expires_at = Some(Some(moment.to_string())),
    }
    if let Some(name) = &asked.name {
        said.name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    }
    said.recurring = asked.recurring.or(said.recurring);
    said.permission_mode = asked.permission_mode.or(said.permission_mode);
    said.overlap = asked.overlap.or(said.overlap);
    said.catch_up = asked.catch_up.or(said.catch_up);
    if let Some(inputs) = &asked.inputs {
        said.inputs = Some(inputs.clone());
    }
    let timetable = judge(&mut said, (&asked.expires_at, now))?;
    Ok((said, timetable))
}

/// Whether a change is one of when, and not only of what.
pub(super) fn changes_times(before: &Schedule, after: &Schedule) -> bool {
    before.calendar != after.calendar
        || before.cron != after.cron
        || before.interval_seconds != after.interval_seconds
        || before.time_zone != after.time_zone
        || before.recurring != after.recurring
}

/// The timetable of what a caller says, who may have given an end.
fn judge(said: &mut Schedule, (end, now): (&Said<Timestamp>, Timestamp)) -> Result<Timetable, Vec<Fault>> {
    let fault = |path: &str, message: &str| Fault {
        path: path.to_owned(),
        code: "bad_schedule".to_owned(),
        message: message.to_owned(),
    };
    let mut faults = Vec::new();
    let rule = judged(RuleText::of(said), said.time_zone.as_deref()).map_err(|more| faults.extend(more)).ok();
    if said.name.as_ref().is_some_and(|name| name.chars().count() > NAME_CHARS) {
        faults.push(fault("name", "it has more than 160 characters"));
    }
    if matches!(end, Said::Value(end) if *end <= now) {
        faults.push(fault("expiresAt", "it is in the past"));
    }
    let Some((rule, zone)) = rule.filter(|_| faults.is_empty()) else { return Err(faults) };
    // What the machine's zone is may change; this schedule's stays.
    said.time_zone = zone.iana_name().map(str::to_owned);
    Ok(Timetable::beginning(rule, zone, moment_of(now)))
}

/// Whether the inputs fit the flow: all faults at once.
pub(super) fn check_inputs(flow: &Flow, said: &Schedule) -> Result<(), Vec<Fault>> {
    bind(flow.inputs.as_ref(), &said.inputs.clone().unwrap_or_default()).map(drop)
}

/// The mode that its runs are in.
pub(super) fn mode(said: &Schedule) -> PermissionMode {
    said.permission_mode.unwrap_or_default()
}
