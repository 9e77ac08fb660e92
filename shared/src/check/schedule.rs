//! Schedules as far as they can be judged without a clock and a zone database.

use serde_json::json;

use super::ground::Ground;
use crate::bind::bind;
use crate::finding::Code;
use crate::flow::Schedule;
use crate::found::Found;
use crate::pointer::Pointer;
use crate::recurrence::{Rule, RuleText};

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
        for fault in Rule::of(RuleText::of(schedule)).err().unwrap_or_default() {
            self.bad(fault.key, &fault.problem, fault.instead);
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
}

/// The spelling alone: whether the zone exists is asked of a zone database.
fn looks_like_a_zone(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'+'))
}
