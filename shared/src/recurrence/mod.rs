//! When something comes round again: the rules of schedules, as times of a wall clock and without any zone.
//!
//! One judgement for the check of flow files, the API and the clock that fires them: what is a rule and what is wrong
//! with one is decided here alone. It reads no clock and knows no zones; where on the time line a wall-clock time lies
//! is reckoned by whoever has a zone database.
//!
//! - `rule`: [`Rule`], one of the three kinds, and everything that is wrong with one
//! - `pattern`: wall-clock times that match, and the next of them
//! - `calendar`: a pattern from `{frequency, time, weekdays, monthDay}`
//! - `cron`: a pattern from five fields

mod calendar;
mod cron;
mod pattern;
mod rule;

pub use pattern::{Follows, Pattern};
pub use rule::{LEAST_INTERVAL_SECONDS, Rule, RuleFault, RuleText};
