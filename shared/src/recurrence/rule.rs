//! [`Rule`]: when a schedule comes round, as one of three kinds.

use super::pattern::Pattern;
use super::{calendar, cron};
use crate::flow::{Calendar, Schedule};

/// The shortest interval between two fires, in seconds.
pub const LEAST_INTERVAL_SECONDS: u64 = 60;
/// The longest, so that its arithmetic stays far from the end of time: a hundred years.
const MOST_INTERVAL_SECONDS: u64 = 100 * 366 * 24 * 60 * 60;

/// When something comes round again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// At times of a wall clock.
    Pattern(Pattern),
    /// Every so many seconds from a first time on.
    Interval { seconds: u64 },
}

/// The keys that say when, as a flow file and the API have them.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleText<'a> {
    pub calendar: Option<&'a Calendar>,
    pub cron: Option<&'a str>,
    pub interval_seconds: Option<u64>,
}

impl<'a> RuleText<'a> {
    /// Those of a schedule in a flow file.
    pub fn of(schedule: &'a Schedule) -> Self {
        Self {
            calendar: schedule.calendar.as_ref(),
            cron: schedule.cron.as_deref(),
            interval_seconds: schedule.interval_seconds,
        }
    }
}

/// One thing that is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFault {
    /// The key from the schedule on, such as `calendar.time`; empty for the schedule itself.
    pub key: &'static str,
    pub problem: String,
    /// What to write instead, as a sentence.
    pub instead: &'static str,
}

impl RuleFault {
    pub(super) fn new(key: &'static str, problem: String, instead: &'static str) -> Self {
        Self { key, problem, instead }
    }
}

impl Rule {
    /// The rule that these keys make, or all that is wrong with them.
    pub fn of(text: RuleText<'_>) -> Result<Self, Vec<RuleFault>> {
        let given = [text.calendar.is_some(), text.cron.is_some(), text.interval_seconds.is_some()];
        let mut faults = Vec::new();
        if given.into_iter().filter(|is_given| *is_given).count() != 1 {
            let problem = "it needs exactly one of calendar, cron and intervalSeconds".to_owned();
            faults.push(RuleFault::new("", problem, "Keep one of the three."));
        }
        let mut rule = None;
        if let Some(calendar) = text.calendar {
            calendar::pattern(calendar).map_or_else(|more| faults.extend(more), |it| rule = Some(Rule::Pattern(it)));
        }
        if let Some(text) = text.cron {
            match cron::pattern(text) {
                Ok(pattern) => rule = Some(Rule::Pattern(pattern)),
                Err(problem) => faults.push(RuleFault::new(
                    "cron",
                    problem,
                    "Write five fields: minute hour day month weekday, such as 30 7 * * 1-5.",
                )),
            }
        }
        if let Some(seconds) = text.interval_seconds {
            if seconds < LEAST_INTERVAL_SECONDS {
                faults.push(RuleFault::new("intervalSeconds", "it is below 60".to_owned(), "Use 60 or more."));
            } else if seconds > MOST_INTERVAL_SECONDS {
                let problem = "it is over a hundred years".to_owned();
                faults.push(RuleFault::new("intervalSeconds", problem, "Use 3162240000 or less."));
            }
            rule = Some(Rule::Interval { seconds });
        }
        match rule {
            Some(rule) if faults.is_empty() => Ok(rule),
            _ => Err(faults),
        }
    }
}
