//! Where on the time line the times of a rule lie: one after the other, in a zone, through every change of its clock.
//!
//! Times that a change skips move forward by the gap, and times that come twice count once, at the earlier offset; a
//! pattern that follows elapsed time matches whatever the clock shows instead. Equal moments come once, and each
//! answer is later than what was asked about. Pure: no clock, and the zone is given.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use weir_shared::ids;
use weir_shared::recurrence::{Follows, Pattern, Rule};

/// A rule in a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Timetable {
    pub(crate) rule: Rule,
    pub(crate) zone: TimeZone,
    /// Where an interval's first boundary lies. Patterns have no use for it.
    pub(crate) first: Timestamp,
}

impl Timetable {
    /// The timetable of a rule that is new at this moment: an interval's first boundary is one interval later.
    pub(crate) fn beginning(rule: Rule, zone: TimeZone, now: Timestamp) -> Self {
        let first = match rule {
            Rule::Interval { seconds } => {
                let wait = i64::try_from(seconds).map_or(SignedDuration::MAX, SignedDuration::from_secs);
                let first = now.checked_add(wait).unwrap_or(Timestamp::MAX);
                // Boundaries are whole seconds.
                Timestamp::from_second(first.as_second()).unwrap_or(first)
            }
            Rule::Pattern(_) => now,
        };
        Self { rule, zone, first }
    }

    /// The first moment after this one; `None` when none comes for decades.
    pub(crate) fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        match &self.rule {
            Rule::Interval { seconds } => next_of_interval(self.first, *seconds, after),
            Rule::Pattern(pattern) => match pattern.follows() {
                Follows::Calendar => next_by_calendar(pattern, &self.zone, after),
                Follows::Elapsed => next_by_elapsed_time(pattern, &self.zone, after),
            },
        }
    }

    /// Every moment after this one, in order.
    pub(crate) fn after(&self, after: Timestamp) -> impl Iterator<Item = Timestamp> {
        std::iter::successors(self.next_after(after), |last| self.next_after(*last))
    }
}

/// A moment of the worker as the calendar counts it; the far ends of time stand for what lies beyond them.
pub(crate) fn moment_of(at: ids::Timestamp) -> Timestamp {
    let far = if at.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(at.0).unwrap_or(far)
}

/// The other way round. Moments of timetables are whole seconds, so nothing is lost.
pub(crate) fn timestamp_of(moment: Timestamp) -> ids::Timestamp {
    ids::Timestamp(moment.as_millisecond())
}

fn next_of_interval(first: Timestamp, seconds: u64, after: Timestamp) -> Option<Timestamp> {
    if after < first {
        return Some(first);
    }
    let seconds = i64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?;
    let passed = after.duration_since(first).as_secs() / seconds;
    first.checked_add(SignedDuration::from_secs(seconds.checked_mul(passed.checked_add(1)?)?)).ok()
}

/// The wall clock is read between two changes of it, where it runs like any other clock.
fn next_by_elapsed_time(pattern: &Pattern, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let mut start = after.checked_add(1.nanosecond()).ok()?;
    loop {
        let offset = zone.to_offset(start);
        let change = zone.following(start).next().map(|change| change.timestamp());
        let moment = offset.to_timestamp(pattern.next_from(offset.to_datetime(start))?).ok()?;
        match change {
            Some(change) if moment >= change => start = change,
            Some(_) | None => return Some(moment),
        }
    }
}

/// Moved times lie among later ones: a time that a gap of one hour moves to 03:30 comes after 03:00. So the times up to
/// the one found are looked at, too.
fn next_by_calendar(pattern: &Pattern, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let mut found: Option<Timestamp> = None;
    let mut time = pattern.next_from(earliest_pending(zone, after))?;
    while found.is_none_or(|found| time <= zone.to_datetime(found)) {
        let moment = zone.to_timestamp(time).ok()?;
        if moment > after && found.is_none_or(|found| moment < found) {
            found = Some(moment);
        }
        match time.checked_add(1.minute()).ok().and_then(|from| pattern.next_from(from)) {
            Some(next) => time = next,
            None => break,
        }
    }
    found
}

/// The earliest wall-clock time whose moment may be after this one. Within a gap's length after it, times that it
/// skipped are still to come.
fn earliest_pending(zone: &TimeZone, after: Timestamp) -> DateTime {
    let now = zone.to_datetime(after);
    let Some(change) = after.checked_add(1.nanosecond()).ok().and_then(|until| zone.preceding(until).next()) else {
        return now;
    };
    let Ok(just_before) = change.timestamp().checked_sub(1.nanosecond()) else { return now };
    let before = zone.to_offset(just_before);
    let gap = SignedDuration::from_secs(i64::from(change.offset().seconds() - before.seconds()));
    if after.duration_since(change.timestamp()) < gap { before.to_datetime(change.timestamp()) } else { now }
}

#[cfg(test)]
#[path = "calendar_tests.rs"]
mod tests;
