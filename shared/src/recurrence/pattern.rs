//! Wall-clock times that match, to the minute, and the next of them.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, time};

/// Years looked ahead for a day. 29 February falls on a given weekday again after 40 years at most, over 2100.
const YEARS_AHEAD: i16 = 45;

/// Times of a wall clock: every matching minute of every matching hour of every matching day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// Bit n: minute n.
    pub(super) minutes: u64,
    /// Bit n: hour n.
    pub(super) hours: u32,
    pub(super) days: Days,
    /// Bit n: month n, from 1.
    pub(super) months: u16,
    pub(super) follows: Follows,
}

/// What a pattern does where the wall clock is set forward or back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follows {
    /// Each of its times comes once a day: a time that is skipped moves forward by the gap, one that comes twice
    /// counts the first time.
    Calendar,
    /// It matches whatever the clock shows: nothing while times are skipped, and both times when they repeat.
    Elapsed,
}

/// Which days match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Days {
    /// Both the day of the month (bit n: day n) and the weekday (bit n: n days after Sunday) match.
    Both { of_month: u32, of_week: u8 },
    /// One of the two matches.
    Either { of_month: u32, of_week: u8 },
    /// This day of the month, or the last one of a shorter month.
    AtMost(i8),
}

impl Days {
    fn matches(self, date: Date) -> bool {
        let in_month = |days: u32| days & (1 << date.day()) != 0;
        let in_week = |days: u8| days & (1 << date.weekday().to_sunday_zero_offset()) != 0;
        match self {
            Days::Both { of_month, of_week } => in_month(of_month) && in_week(of_week),
            Days::Either { of_month, of_week } => in_month(of_month) || in_week(of_week),
            Days::AtMost(day) => date.day() == day.min(date.days_in_month()),
        }
    }
}

impl Pattern {
    /// What it does where the clock is set.
    pub fn follows(&self) -> Follows {
        self.follows
    }

    /// The first matching time at or after this one; `None` when there is none for decades.
    pub fn next_from(&self, from: DateTime) -> Option<DateTime> {
        let whole = time(from.hour(), from.minute(), 0, 0);
        let mut from_time = (from.hour(), from.minute());
        if whole != from.time() {
            from_time.1 += 1;
        }
        let mut date = from.date();
        if self.has(date)
            && let Some((hour, minute)) = self.time_from(from_time)
        {
            return Some(date.at(hour, minute, 0, 0));
        }
        let (hour, minute) = self.time_from((0, 0))?;
        date = self.day_after(date)?;
        Some(date.at(hour, minute, 0, 0))
    }

    /// Whether any date matches at all, in whatever year.
    pub(super) fn ever_comes(&self) -> bool {
        let has_day = |month: i8, days: u32| (1..=longest(month)).any(|day| days & (1 << day) != 0);
        let in_some_month = |days: u32| (1..=12).any(|month| self.months & (1 << month) != 0 && has_day(month, days));
        let has_date = match self.days {
            // Over the centuries each date falls on each weekday.
            Days::Both { of_month, of_week } => of_week != 0 && in_some_month(of_month),
            Days::Either { of_month, of_week } => of_week != 0 || in_some_month(of_month),
            Days::AtMost(_) => true,
        };
        has_date && self.months != 0 && self.time_from((0, 0)).is_some()
    }

    fn has(&self, date: Date) -> bool {
        self.months & (1 << date.month()) != 0 && self.days.matches(date)
    }

    /// The first matching day after this one.
    fn day_after(&self, date: Date) -> Option<Date> {
        let last_year = date.year().saturating_add(YEARS_AHEAD);
        let mut day = date.tomorrow().ok()?;
        while day.year() <= last_year {
            if self.months & (1 << day.month()) == 0 {
                day = day.first_of_month().checked_add(1.month()).ok()?;
            } else if self.days.matches(day) {
                return Some(day);
            } else {
                day = day.tomorrow().ok()?;
            }
        }
        None
    }

    /// The first matching hour and minute at or after this one. A minute of 60 is the next hour.
    fn time_from(&self, (hour, minute): (i8, i8)) -> Option<(i8, i8)> {
        let minute_from = |least: i8| (least..60).find(|minute| self.minutes & (1 << minute) != 0);
        let has_hour = |hour: i8| self.hours & (1 << hour) != 0;
        if has_hour(hour)
            && let Some(minute) = minute_from(minute)
        {
            return Some((hour, minute));
        }
        let first = minute_from(0)?;
        (hour + 1..24).find(|hour| has_hour(*hour)).map(|hour| (hour, first))
    }
}

/// Days of a month in the year where it has most.
fn longest(month: i8) -> i8 {
    match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
