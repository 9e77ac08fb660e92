//! A pattern from a calendar rule: daily, weekly or monthly at a time of day.

use super::pattern::{Days, Follows, Pattern};
use super::rule::RuleFault;
use crate::flow::{Calendar, Frequency, MonthDay};

/// The time of day of a rule that names none.
const DEFAULT_TIME: (i8, i8) = (9, 0);

/// The pattern of a calendar rule, or everything that is wrong with it.
pub(super) fn pattern(calendar: &Calendar) -> Result<Pattern, Vec<RuleFault>> {
    let mut faults = Vec::new();
    let (hour, minute) = match calendar.time.as_deref().map(|text| (text, clock_time(text))) {
        None => DEFAULT_TIME,
        Some((_, Some(time))) => time,
        Some((text, None)) => {
            let problem = format!("`{text}` is no time of day");
            faults.push(RuleFault::new("calendar.time", problem, "Write HH:mm, such as 07:30."));
            DEFAULT_TIME
        }
    };
    let frequency = calendar.frequency.unwrap_or(Frequency::Daily);
    let of_week = weekdays(calendar, frequency, &mut faults);
    let month_day = month_day(calendar, frequency, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    let days = match frequency {
        Frequency::Daily | Frequency::Weekly => Days::Both { of_month: u32::MAX, of_week },
        Frequency::Monthly => Days::AtMost(month_day),
    };
    Ok(Pattern { minutes: 1 << minute, hours: 1 << hour, days, months: u16::MAX, follows: Follows::Calendar })
}

/// The weekdays of the rule, as bits from Sunday.
fn weekdays(calendar: &Calendar, frequency: Frequency, faults: &mut Vec<RuleFault>) -> u8 {
    let mut fault =
        |key: &'static str, problem: &str, instead| faults.push(RuleFault::new(key, problem.to_owned(), instead));
    let mut bits = 0;
    if let Some(weekdays) = &calendar.weekdays {
        if weekdays.iter().any(|day| !(1..=7).contains(day)) {
            fault("calendar.weekdays", "a weekday is 1 (Monday) to 7", "Use numbers from 1 to 7.");
        }
        if frequency != Frequency::Weekly {
            fault("calendar.weekdays", "only a weekly rule has weekdays", "Set `frequency` to \"weekly\".");
        }
        // Sunday is 7 here and 0 in the bits.
        bits = weekdays.iter().fold(0, |bits, day| bits | 1 << (day % 7));
    }
    if frequency != Frequency::Weekly {
        return u8::MAX;
    }
    if calendar.weekdays.as_ref().is_none_or(Vec::is_empty) {
        fault("calendar", "a weekly rule names its weekdays", "Add `weekdays`, such as [1, 5].");
    }
    bits
}

/// The day of the month of the rule.
fn month_day(calendar: &Calendar, frequency: Frequency, faults: &mut Vec<RuleFault>) -> i8 {
    let mut fault =
        |key: &'static str, problem: &str, instead| faults.push(RuleFault::new(key, problem.to_owned(), instead));
    let Some(day) = calendar.month_day else {
        if frequency == Frequency::Monthly {
            fault("calendar", "a monthly rule names its day", "Add `monthDay`: 1 to 31, or \"last\".");
        }
        return 31;
    };
    if frequency != Frequency::Monthly {
        fault("calendar.monthDay", "only a monthly rule has a day", "Set `frequency` to \"monthly\".");
    }
    match day {
        MonthDay::Last(_) => 31,
        MonthDay::Day(day) => i8::try_from(day).ok().filter(|day| (1..=31).contains(day)).unwrap_or_else(|| {
            let problem = "a day of the month is 1 to 31, or \"last\"";
            fault("calendar.monthDay", problem, "Use 1 to 31, or \"last\".");
            31
        }),
    }
}

/// Hour and minute of a text `HH:mm`.
fn clock_time(text: &str) -> Option<(i8, i8)> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str, most: i8| {
        let is_plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|value| is_plain && *value <= most)
    };
    Some((number(hour, 23)?, number(minute, 59)?))
}
