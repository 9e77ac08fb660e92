//! What a rule would do: its next fires, or everything that is wrong with it. Pure but for the zone database.

use jiff::tz::TimeZone;
use weir_shared::finding::Fault;
use weir_shared::ids::Timestamp;
use weir_shared::recurrence::{Rule, RuleFault, RuleText};
use weir_shared::schedule::{MOST_PREVIEWED, NextFire, PREVIEW_COUNT, Preview};

use super::calendar::{Timetable, moment_of, timestamp_of};
use super::zone::{name_of, zone};

/// The rule and zone of these keys, or all that is wrong with them.
pub(crate) fn judged(rule: RuleText<'_>, zone_name: Option<&str>) -> Result<(Rule, TimeZone), Vec<Fault>> {
    let rule = Rule::of(rule).map_err(|faults| faults.into_iter().map(fault).collect::<Vec<_>>());
    let zone = zone(zone_name).map_err(|unknown| Fault {
        path: "timeZone".to_owned(),
        code: "bad_schedule".to_owned(),
        message: format!("{unknown}. Write an IANA name such as Europe/Berlin."),
    });
    match (rule, zone) {
        (Ok(rule), Ok(zone)) => Ok((rule, zone)),
        (rule, zone) => Err(rule.err().into_iter().flatten().chain(zone.err()).collect()),
    }
}

fn fault(RuleFault { key, problem, instead }: RuleFault) -> Fault {
    Fault { path: key.to_owned(), code: "bad_schedule".to_owned(), message: format!("{problem}. {instead}") }
}

/// The next fires of a timetable after a moment.
pub(crate) fn preview(timetable: &Timetable, after: Timestamp, count: Option<usize>) -> Preview {
    let count = count.unwrap_or(PREVIEW_COUNT).clamp(1, MOST_PREVIEWED);
    let fires = timetable.after(moment_of(after)).take(count).map(|moment| NextFire {
        utc: timestamp_of(moment),
        local: moment.display_with_offset(timetable.zone.to_offset(moment)).to_string(),
    });
    Preview { time_zone: name_of(&timetable.zone).to_owned(), fires: fires.collect() }
}
