//! The course of one schedule: what is to be done about it now. Pure: record, timetable and time in; records to commit
//! and fires to start out.
//!
//! Guarantees: nothing is decided twice about one boundary, whatever the clock does, since `next` only moves on and
//! never back to or before `through`; every boundary that passes while a schedule is active is started, skipped or
//! counted as missed; after a stretch in which nobody looked, what is made up for is what `catchUp` says.

use jiff::Timestamp as Moment;
use weir_shared::flow::{CatchUp, Overlap};
use weir_shared::ids::Timestamp;
use weir_shared::schedule::{Fire, FireOutcome, PauseReason};

use super::calendar::{Timetable, moment_of, timestamp_of};
use crate::store::{ScheduleRecord, Standing};

/// How late a fire may be and still counts as on time: a busy machine, a restart. Below the shortest interval.
const LATE_MS: i64 = 30_000;
/// Occurrences that may wait for the run before them, and fires that are made up for after downtime.
pub(super) const MOST_WAITING: usize = 1_000;
/// How far ahead of the clock the last boundary may be before a person's edit starts over: the clock was wrong then.
const WRONG_CLOCK_MS: i64 = 24 * 60 * 60 * 1_000;

/// What is said of a fire whose run ended with the worker.
const CUT_OFF: &str = "the worker ended during the run of the last fire, which is not started again";

/// What there is to look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) now: Timestamp,
    /// Whether the last run of the schedule is still going.
    pub(super) is_running: bool,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Decision {
    /// Nothing before this moment, unless something happens.
    Rest { until: Option<Timestamp> },
    /// Commit this, then look again.
    Record(Change),
    /// Start a run with this as its claim, then look again.
    Start(Change),
}

/// A record as it is to be, and what became of occurrences. Of a start, the last one is what is started.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub(super) record: ScheduleRecord,
    pub(super) fires: Vec<Fire>,
}

impl Change {
    fn of(record: &ScheduleRecord) -> Self {
        let record = ScheduleRecord { revision: record.revision + 1, ..record.clone() };
        Self { record, fires: Vec::new() }
    }

    fn note(&mut self, outcome: FireOutcome, dues: &[Timestamp], at: Timestamp) {
        let [due, ..] = dues else { return };
        self.fires.push(Fire {
            due_at: *due,
            until: dues.last().copied().filter(|_| dues.len() > 1),
            count: dues.len() as u64,
            at,
            outcome,
            task_id: None,
            run_id: None,
            reason: None,
        });
    }

    /// Counts boundaries that nothing makes up for.
    fn miss(&mut self, dues: &[Timestamp], now: Timestamp) {
        self.record.missed += dues.len() as u64;
        self.note(FireOutcome::Missed, dues, now);
    }

    fn skip(&mut self, dues: &[Timestamp], (now, reason): (Timestamp, &str)) {
        self.record.skipped += dues.len() as u64;
        self.note(FireOutcome::Skipped, dues, now);
        if let Some(fire) = self.fires.last_mut().filter(|_| !dues.is_empty()) {
            fire.reason = Some(reason.to_owned());
        }
    }

    fn start(mut self, due: Timestamp, now: Timestamp) -> Decision {
        self.record.fires += 1;
        self.record.last_fire_at = Some(now);
        self.record.last_error = None;
        self.note(FireOutcome::Started, &[due], now);
        Decision::Start(self)
    }
}

/// What is to be done about a schedule now.
pub(super) fn decide(record: &ScheduleRecord, timetable: &Timetable, look: Look) -> Decision {
    if record.standing != Standing::Active {
        return Decision::Rest { until: None };
    }
    if let Some(due) = record.waiting.first().copied().filter(|_| !look.is_running) {
        let mut change = Change::of(record);
        change.record.waiting.remove(0);
        return change.start(due, look.now);
    }
    let expires = expiry(record);
    let next = record.next.filter(|next| expires.is_none_or(|expires| *next < expires));
    match next {
        Some(next) if next <= look.now => due(record, timetable, look),
        Some(next) => Decision::Rest { until: Some(next) },
        None if !record.waiting.is_empty() => Decision::Rest { until: None },
        None => match expires {
            Some(expires) if record.next.is_some() && look.now < expires => Decision::Rest { until: Some(expires) },
            Some(_) if record.next.is_some() => over(record, Standing::Expired),
            Some(_) | None => over(record, Standing::Completed),
        },
    }
}

fn over(record: &ScheduleRecord, standing: Standing) -> Decision {
    let mut change = Change::of(record);
    change.record.standing = standing;
    change.record.next = None;
    Decision::Record(change)
}

/// Decides about the boundaries that have come.
fn due(record: &ScheduleRecord, timetable: &Timetable, look: Look) -> Decision {
    let (dues, next) = passed(record, timetable, look.now);
    let Some((last, earlier)) = dues.split_last() else { return Decision::Rest { until: next } };
    let mut change = Change::of(record);
    change.record.next = next;
    change.record.extra = false;
    change.record.through = Some(*last);
    let on_time = look.now.0.saturating_sub(last.0) <= LATE_MS;
    match catch_up(record) {
        CatchUp::None if !on_time => {
            change.miss(&dues, look.now);
            Decision::Record(change)
        }
        CatchUp::All if !(earlier.is_empty() && on_time) => {
            let room = MOST_WAITING.saturating_sub(record.waiting.len());
            let (missed, kept) = dues.split_at(dues.len().saturating_sub(room));
            change.miss(missed, look.now);
            change.record.waiting.extend(kept);
            Decision::Record(change)
        }
        CatchUp::Latest | CatchUp::None | CatchUp::All => {
            change.miss(earlier, look.now);
            occurrence(change, *last, look)
        }
    }
}

/// One occurrence whose time is now.
fn occurrence(mut change: Change, due: Timestamp, look: Look) -> Decision {
    match change.record.said.overlap.unwrap_or_default() {
        Overlap::Queue if look.is_running && change.record.waiting.len() < MOST_WAITING => {
            change.record.waiting.push(due);
            Decision::Record(change)
        }
        Overlap::Skip | Overlap::Queue if look.is_running => {
            change.skip(&[due], (look.now, "the run before it was still going"));
            Decision::Record(change)
        }
        Overlap::Skip | Overlap::Queue | Overlap::Allow => change.start(due, look.now),
    }
}

/// The boundaries from `next` on that have come and are not past the expiry, and the one after them.
fn passed(record: &ScheduleRecord, timetable: &Timetable, now: Timestamp) -> (Vec<Timestamp>, Option<Timestamp>) {
    let expires = expiry(record);
    let has_come = |boundary: &Timestamp| *boundary <= now && expires.is_none_or(|expires| *boundary < expires);
    let mut dues = Vec::new();
    let mut next = record.next;
    let mut is_extra = record.extra;
    while let Some(boundary) = next.filter(has_come) {
        dues.push(boundary);
        let goes_on = is_extra || record.said.recurring.unwrap_or(true);
        is_extra = false;
        next = if goes_on { timetable.next_after(moment_of(boundary)).map(timestamp_of) } else { None };
    }
    (dues, next)
}

/// The same schedule when no run could be started: the occurrence is lost, and its row says why.
pub(super) fn not_started(mut start: Change, (outcome, why): (FireOutcome, String)) -> Change {
    start.record.fires = start.record.fires.saturating_sub(1);
    match outcome {
        FireOutcome::Skipped => start.record.skipped += 1,
        FireOutcome::Started | FireOutcome::Missed | FireOutcome::Failed => start.record.last_error = Some(why.clone()),
    }
    if let Some(fire) = start.fires.last_mut() {
        fire.outcome = outcome;
        fire.reason = Some(why);
    }
    start
}

/// What an earlier worker left of a schedule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    pub(super) now: Timestamp,
    /// Whether the run of the last fire ended with that worker.
    pub(super) is_cut_off: bool,
}

/// What a new start of the worker makes of what the one before it left. Occurrences that waited are made up for only
/// where every missed fire is; a fire whose run was cut off is reported and not started again.
pub(super) fn after_restart(record: &ScheduleRecord, left: Left) -> Option<Change> {
    let drops = !record.waiting.is_empty() && catch_up(record) != CatchUp::All;
    let reports = left.is_cut_off && record.last_error.is_none();
    if !drops && !reports {
        return None;
    }
    let mut change = Change::of(record);
    if drops {
        let waiting = std::mem::take(&mut change.record.waiting);
        change.miss(&waiting, left.now);
    }
    if reports {
        change.record.last_error = Some(CUT_OFF.to_owned());
    }
    Some(change)
}

/// The schedule paused. Boundaries that have come by now are missed, what waits is skipped, and what comes while it is
/// paused is nothing.
pub(super) fn paused(
    record: &ScheduleRecord,
    timetable: Option<&Timetable>,
    (now, reason): (Timestamp, PauseReason),
) -> Change {
    let mut change = Change::of(record);
    if let Some(timetable) = timetable.filter(|_| record.standing == Standing::Active) {
        let (dues, _) = passed(record, timetable, now);
        change.record.through = dues.last().copied().or(record.through);
        change.miss(&dues, now);
    }
    let waiting = std::mem::take(&mut change.record.waiting);
    change.skip(&waiting, (now, "the schedule was paused"));
    change.record.next = None;
    change.record.extra = false;
    change.record.standing = Standing::Paused(reason);
    change
}

/// The schedule active again, from its next time on.
pub(super) fn resumed(record: &ScheduleRecord, timetable: &Timetable, now: Timestamp) -> Change {
    let mut change = Change::of(record);
    change.record.standing = Standing::Active;
    change.record.next = next_from(record, timetable, now);
    change
}

/// An edited schedule, from its new next time on. An interval is counted from now.
pub(super) fn edited(record: &ScheduleRecord, timetable: &Timetable, now: Timestamp) -> Change {
    let mut change = resumed(record, timetable, now);
    let waiting = std::mem::take(&mut change.record.waiting);
    change.skip(&waiting, (now, "the schedule was changed"));
    change.record.first = timestamp_of(timetable.first);
    change.record.extra = false;
    change.record.last_error = None;
    change
}

/// The same with one more fire, now, if the schedule is active.
pub(super) fn with_extra(mut change: Change, now: Timestamp) -> Change {
    if change.record.standing == Standing::Active {
        change.record.next = Some(now);
        change.record.extra = true;
    }
    change
}

/// The first boundary of a new schedule.
pub(super) fn begun(mut record: ScheduleRecord, timetable: &Timetable, now: Timestamp) -> ScheduleRecord {
    record.first = timestamp_of(timetable.first);
    record.extra = record.said.fire_immediately.unwrap_or(false);
    record.next = if record.extra { Some(now) } else { timetable.next_after(moment_of(now)).map(timestamp_of) };
    record
}

/// A new schedule that begins paused.
pub(super) fn as_new(mut change: Change, reason: PauseReason) -> Change {
    change.record.standing = Standing::Paused(reason);
    change.record.next = None;
    change.record.extra = false;
    change
}

/// The same schedule with what was said of it changed, and nothing of when.
pub(super) fn restated(record: &ScheduleRecord) -> Change {
    Change::of(record)
}

fn next_from(record: &ScheduleRecord, timetable: &Timetable, now: Timestamp) -> Option<Timestamp> {
    let decided = record.through.filter(|through| through.0.saturating_sub(now.0) <= WRONG_CLOCK_MS);
    let after = decided.map_or(now, |through| through.max(now));
    timetable.next_after(moment_of(after)).map(timestamp_of)
}

/// When the schedule ends, if it does. What is no moment was refused when it was read.
pub(super) fn expiry(record: &ScheduleRecord) -> Option<Timestamp> {
    let said = record.said.expires_at.as_ref()?.as_ref()?;
    said.parse::<Moment>().ok().map(timestamp_of)
}

fn catch_up(record: &ScheduleRecord) -> CatchUp {
    record.said.catch_up.unwrap_or_default()
}

#[cfg(test)]
#[path = "course_tests.rs"]
mod tests;
