//! Schedules as far as they can be judged without a clock and a zone database.

use serde_json::json;

use super::ground::Ground;
use crate::bind::bind;
use crate::finding::Code;
use crate::flow::{Calendar, Frequency, MonthDay, Schedule};
use crate::found::Found;
use crate::pointer::Pointer;

/// The shortest interval between two fires, in seconds.
const LEAST_INTERVAL_SECONDS: u64 = 60;

pub(super) fn schedules(ground: &Ground<'_>) -> Vec<Found> {
    let Some(schedules) = &ground.flow.schedules else { return Vec::new() };
    let root = Pointer::root().key("schedules");
    let mut found = Vec::new();
    for (at, schedule) in schedules.iter().enumerate() {
        let name = schedule.name.clone().unwrap_or_else(|| format!("number {}", at + 1));
        let mut judge = Judge { name, pointer: root.index(at), found: &mut found };
        judge.schedule(schedule);
        if let Err(faults) = bind(ground.flow.inputs.as_ref(), &schedule.inputs.clone().unwrap_or_default()) {
            for fault in faults {
                judge.bad(
                    "inputs",
                    &format!("`{}`: {}", fault.path, fault.message),
                    "Give the inputs the flow asks for.",
                );
            }
        }
    }
    found.push(Found::new(Code::NotYetInForce, &root, json!({ "key": "schedules" })));
    found
}

struct Judge<'f> {
    name: String,
    pointer: Pointer,
    found: &'f mut Vec<Found>,
}

impl Judge<'_> {
    fn bad(&mut self, key: &str, problem: &str, instead: &str) {
        let pointer =
            key.split('.').filter(|step| !step.is_empty()).fold(self.pointer.clone(), |at, step| at.key(step));
        let params = json!({ "schedule": self.name, "key": key, "problem": problem, "instead": instead });
        self.found.push(Found::new(Code::BadSchedule, &pointer, params));
    }

    fn schedule(&mut self, schedule: &Schedule) {
        let given = [schedule.calendar.is_some(), schedule.cron.is_some(), schedule.interval_seconds.is_some()];
        if given.into_iter().filter(|is_given| *is_given).count() != 1 {
            self.bad("", "it needs exactly one of calendar, cron and intervalSeconds", "Keep one of the three.");
        }
        if let Some(calendar) = &schedule.calendar {
            self.calendar(calendar);
        }
        if let Some(problem) = schedule.cron.as_deref().and_then(cron_problem) {
            self.bad("cron", &problem, "Write five fields: minute hour day month weekday, such as 30 7 * * 1-5.");
        }
        if schedule.interval_seconds.is_some_and(|seconds| seconds < LEAST_INTERVAL_SECONDS) {
            self.bad("intervalSeconds", "it is below 60", "Use 60 or more.");
        }
        if let Some(zone) = schedule.time_zone.as_deref().filter(|zone| !looks_like_a_zone(zone)) {
            self.bad("timeZone", &format!("`{zone}` names no time zone"), "Write an IANA name such as Europe/Berlin.");
        }
        if let Some(Some(moment)) = &schedule.expires_at
            && moment.parse::<jiff::Timestamp>().is_err()
        {
            self.bad("expiresAt", "it is no moment", "Write RFC 3339 with an offset: 2026-12-31T00:00:00Z.");
        }
    }

    fn calendar(&mut self, calendar: &Calendar) {
        if let Some(time) = calendar.time.as_deref().filter(|time| !is_clock_time(time)) {
            self.bad("calendar.time", &format!("`{time}` is no time of day"), "Write HH:mm, such as 07:30.");
        }
        let frequency = calendar.frequency.unwrap_or(Frequency::Daily);
        if let Some(weekdays) = &calendar.weekdays {
            if weekdays.iter().any(|day| !(1..=7).contains(day)) {
                self.bad("calendar.weekdays", "a weekday is 1 (Monday) to 7", "Use numbers from 1 to 7.");
            }
            if frequency != Frequency::Weekly {
                self.bad("calendar.weekdays", "only a weekly rule has weekdays", "Set `frequency` to \"weekly\".");
            }
        }
        if frequency == Frequency::Weekly && calendar.weekdays.as_ref().is_none_or(Vec::is_empty) {
            self.bad("calendar", "a weekly rule names its weekdays", "Add `weekdays`, such as [1, 5].");
        }
        if let Some(day) = calendar.month_day {
            if matches!(day, MonthDay::Day(day) if !(1..=31).contains(&day)) {
                self.bad(
                    "calendar.monthDay",
                    "a day of the month is 1 to 31, or \"last\"",
                    "Use 1 to 31, or \"last\".",
                );
            }
            if frequency != Frequency::Monthly {
                self.bad("calendar.monthDay", "only a monthly rule has a day", "Set `frequency` to \"monthly\".");
            }
        } else if frequency == Frequency::Monthly {
            self.bad("calendar", "a monthly rule names its day", "Add `monthDay`: 1 to 31, or \"last\".");
        }
    }
}

fn is_clock_time(text: &str) -> bool {
    let Some((hours, minutes)) = text.split_once(':') else { return false };
    let number = |text: &str, most: u32| {
        text.len() == 2
            && text.bytes().all(|b| b.is_ascii_digit())
            && text.parse::<u32>().is_ok_and(|value| value <= most)
    };
    number(hours, 23) && number(minutes, 59)
}

/// The spelling alone: whether the zone exists is asked of a zone database.
fn looks_like_a_zone(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'+'))
}

const MACROS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

struct CronField {
    name: &'static str,
    least: u32,
    most: u32,
    names: &'static [&'static str],
}

const CRON: [CronField; 5] = [
    CronField { name: "minute", least: 0, most: 59, names: &[] },
    CronField { name: "hour", least: 0, most: 23, names: &[] },
    CronField { name: "day", least: 1, most: 31, names: &[] },
    CronField {
        name: "month",
        least: 1,
        most: 12,
        names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    },
    CronField { name: "weekday", least: 0, most: 7, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

fn cron_problem(text: &str) -> Option<String> {
    let text = text.trim();
    if text.starts_with('@') {
        return (!MACROS.contains(&text)).then(|| format!("`{text}` is none of {}", MACROS.join(", ")));
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != CRON.len() {
        return Some(format!("it has {} fields, and a rule has five", fields.len()));
    }
    let wrong = CRON.iter().zip(&fields).find(|(field, text)| !text.split(',').all(|part| is_cron_part(field, part)));
    if let Some((field, text)) = wrong {
        return Some(format!("`{text}` is no {}", field.name));
    }
    (fields[4] == "*" && never_comes(fields[2], fields[3])).then(|| "that day comes in none of its months".to_owned())
}

fn is_cron_part(field: &CronField, part: &str) -> bool {
    let (range, step) = match part.split_once('/') {
        Some((range, step)) => (range, Some(step)),
        None => (part, None),
    };
    if step.is_some_and(|step| !step.parse::<u32>().is_ok_and(|step| (1..=field.most).contains(&step))) {
        return false;
    }
    if range == "*" {
        return true;
    }
    match range.split_once('-') {
        None => cron_value(field, range).is_some(),
        Some((from, to)) => match (cron_value(field, from), cron_value(field, to)) {
            (Some(from), Some(to)) => from <= to,
            _ => false,
        },
    }
}

fn cron_value(field: &CronField, text: &str) -> Option<u32> {
    let by_name = field.names.iter().position(|name| text.eq_ignore_ascii_case(name));
    let offset = u32::from(field.name == "month");
    by_name
        .and_then(|at| u32::try_from(at).ok())
        .map(|at| at + offset)
        .or_else(|| text.parse().ok().filter(|value| (field.least..=field.most).contains(value)))
}

/// Plain days that none of the plain months has, such as 30 February.
fn never_comes(days: &str, months: &str) -> bool {
    let plain = |text: &str, field: &CronField| -> Option<Vec<u32>> {
        text.split(',').map(|part| cron_value(field, part)).collect()
    };
    let (Some(days), Some(months)) = (plain(days, &CRON[2]), plain(months, &CRON[3])) else { return false };
    let length = |month: u32| match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    !days.iter().any(|day| months.iter().any(|month| *day <= length(*month)))
}
