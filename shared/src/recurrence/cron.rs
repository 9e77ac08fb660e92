//! A pattern from a cron rule: minute, hour, day, month and weekday, as cron has read them for decades.
//!
//! Fields are lists of values, ranges and steps; months and weekdays have names; Sunday is 0 and 7. When both day and
//! weekday are restricted, either one matches; a field that begins with `*` does not count as restricted. No seconds,
//! no years, none of `L W # ?`. The ready-made parsers take those, and none of them tells a fixed hour from a stepped
//! one, which is what decides where the clock is set (see [`Follows`]).

use super::pattern::{Days, Follows, Pattern};

const MACROS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

struct Field {
    name: &'static str,
    least: u8,
    most: u8,
    /// The first of them stands for `least`.
    names: &'static [&'static str],
}

const MINUTE: Field = Field { name: "minute", least: 0, most: 59, names: &[] };
const HOUR: Field = Field { name: "hour", least: 0, most: 23, names: &[] };
const DAY: Field = Field { name: "day", least: 1, most: 31, names: &[] };
const MONTH: Field = Field {
    name: "month",
    least: 1,
    most: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
const WEEKDAY: Field =
    Field { name: "weekday", least: 0, most: 7, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };

/// The pattern of a cron rule, or what is wrong with it.
pub(super) fn pattern(text: &str) -> Result<Pattern, String> {
    let text = text.trim();
    let text = if text.starts_with('@') {
        let known = MACROS.iter().find(|(name, _)| *name == text).map(|(_, fields)| *fields);
        known.ok_or_else(|| format!("`{text}` is none of {}", MACROS.map(|(name, _)| name).join(", ")))?
    } else {
        text
    };
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields[..] else {
        return Err(format!("it has {} fields, and a rule has five", fields.len()));
    };
    let minutes = MINUTE.bits(minute)?;
    let hours = HOUR.bits(hour)?;
    let of_month = DAY.bits(day)?;
    let months = MONTH.bits(month)?;
    let of_week = WEEKDAY.bits(weekday)?;
    let pattern = Pattern {
        minutes,
        hours: narrow(hours),
        days: days(narrow(of_month), of_week, !day.starts_with('*') && !weekday.starts_with('*')),
        months: narrow(months),
        follows: if hour.contains(['*', '/']) { Follows::Elapsed } else { Follows::Calendar },
    };
    if pattern.ever_comes() { Ok(pattern) } else { Err("it never comes: none of its months has that day".to_owned()) }
}

fn days(of_month: u32, of_week: u64, both_restricted: bool) -> Days {
    // Sunday's second number is its first.
    let of_week: u8 = narrow((of_week | of_week >> 7) & 0x7f);
    if both_restricted { Days::Either { of_month, of_week } } else { Days::Both { of_month, of_week } }
}

/// Bits of a field that has no more than the narrower type holds.
fn narrow<T: TryFrom<u64> + Default>(bits: u64) -> T {
    T::try_from(bits).unwrap_or_default()
}

impl Field {
    /// Bit n of the answer: value n matches.
    fn bits(&self, text: &str) -> Result<u64, String> {
        let wrong = || format!("`{text}` is no {}", self.name);
        text.split(',').try_fold(0, |bits, part| Some(bits | self.part(part)?)).ok_or_else(wrong)
    }

    fn part(&self, part: &str) -> Option<u64> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step.parse().ok().filter(|step| (1..=self.most).contains(step))?)),
            None => (part, None),
        };
        let (from, to) = if range == "*" {
            (self.least, self.most)
        } else if let Some((from, to)) = range.split_once('-') {
            (self.value(from)?, self.value(to)?)
        } else {
            let from = self.value(range)?;
            // A step from one value on goes to the end of the field.
            (from, if step.is_some() { self.most } else { from })
        };
        // `fri-sun` ends with the Sunday that comes last.
        let to = if to < from && to == 0 && self.most == WEEKDAY.most { WEEKDAY.most } else { to };
        if from > to {
            return None;
        }
        Some((from..=to).step_by(usize::from(step.unwrap_or(1))).fold(0, |bits, value| bits | 1 << value))
    }

    fn value(&self, text: &str) -> Option<u8> {
        if let Some(at) = self.names.iter().position(|name| text.eq_ignore_ascii_case(name)) {
            return u8::try_from(at).ok().map(|at| at + self.least);
        }
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|value| is_plain && (self.least..=self.most).contains(value))
    }
}
