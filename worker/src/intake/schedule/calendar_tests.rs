//! The reckoning against one by Python's `zoneinfo`, fire by fire, and the cases that users reported.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use weir_shared::flow::Calendar;
use weir_shared::recurrence::RuleText;

use super::*;
use crate::intake::schedule::zone::zone;

/// Both changes of the clock in both hemispheres, and a 29 February.
const FROM: &str = "2027-03-01T00:00:00Z";
const UNTIL: &str = "2028-03-02T00:00:00Z";

const ZONES: [&str; 6] =
    ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata", "UTC"];

fn rules() -> Vec<Value> {
    let calendars = json!([
        {}, {"time": "00:00"}, {"time": "00:30"}, {"time": "01:30"}, {"time": "01:45"}, {"time": "02:00"},
        {"time": "02:15"}, {"time": "02:30"}, {"time": "03:00"}, {"time": "23:59"}, {"frequency": "daily", "time": "07:30"},
        {"frequency": "weekly", "weekdays": [7], "time": "02:30"},
        {"frequency": "weekly", "weekdays": [1, 3, 5], "time": "09:00"},
        {"frequency": "weekly", "weekdays": [6, 7], "time": "00:00"},
        {"frequency": "weekly", "weekdays": [1, 2, 3, 4, 5, 6, 7], "time": "01:15"},
        {"frequency": "monthly", "monthDay": 1, "time": "00:00"}, {"frequency": "monthly", "monthDay": 14, "time": "02:30"},
        {"frequency": "monthly", "monthDay": 28, "time": "02:30"}, {"frequency": "monthly", "monthDay": 29},
        {"frequency": "monthly", "monthDay": 30, "time": "02:00"}, {"frequency": "monthly", "monthDay": 31, "time": "23:30"},
        {"frequency": "monthly", "monthDay": "last", "time": "02:30"},
    ]);
    let crons = [
        "@yearly",
        "@annually",
        "@monthly",
        "@weekly",
        "@daily",
        "@midnight",
        "@hourly",
        "* * * * *",
        "*/15 * * * *",
        "7 * * * *",
        "0 */2 * * *",
        "30 1-23/2 * * *",
        "30 */2 * * *",
        "15 2/3 * * *",
        "30 2 * * *",
        "30 1 * * *",
        "*/15 2 * * *",
        "*/10 1,2,3 * * *",
        "0 2,3 * * *",
        "0 9-17 * * 1-5",
        "*/20 0-4 * * *",
        "30 7 * * mon-fri",
        "0 0 * * fri-sun",
        "0 12 13 * 5",
        "0 12 */2 * 1",
        "0 12 * * 0,7",
        "59 23 28-31 * *",
        "0 0 29 2 *",
        "0 0 31 * *",
        "0 6 1,15 jan-jun,OCT *",
        "5,10-20/5 4 * * 6",
        "0 2 * 3,4,9,10,11 0",
        "*/30 * * 3,4,9,10,11 sun",
        "0 0 31 1-3 *",
    ];
    let calendars = calendars.as_array().unwrap().iter().map(|calendar| json!({ "calendar": calendar }));
    calendars.chain(crons.iter().map(|cron| json!({ "cron": cron }))).collect()
}

fn rule(text: &Value) -> Rule {
    let calendar: Option<Calendar> = text.get("calendar").map(|it| serde_json::from_value(it.clone()).unwrap());
    let cron = text.get("cron").and_then(Value::as_str);
    Rule::of(RuleText { calendar: calendar.as_ref(), cron, interval_seconds: None }).unwrap()
}

fn moment(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn table(text: &Value, zone_name: &str) -> Timetable {
    Timetable { rule: rule(text), zone: zone(Some(zone_name)).unwrap(), first: moment(FROM) }
}

fn fires(text: &Value, zone_name: &str, from: &str, until: &str) -> Vec<String> {
    let until = moment(until);
    table(text, zone_name).after(moment(from)).take_while(|at| *at < until).map(|at| at.to_string()).collect()
}

/// What Python makes of it.
fn reckoned(asked: &Value) -> BTreeMap<String, Vec<Vec<i64>>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/reckoning/fires.py");
    let mut python = Command::new("python3");
    let mut child = python.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 is there");
    child.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the script failed");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_year_of_every_rule_in_six_zones_is_what_python_reckons_fire_by_fire() {
    let (rules, from, until) = (rules(), moment(FROM), moment(UNTIL));
    let asked = json!({ "from": from.as_second(), "until": until.as_second(), "zones": ZONES, "rules": rules });
    let reckoned = reckoned(&asked);
    let mut compared = 0;
    for name in ZONES {
        for (text, theirs) in rules.iter().zip(&reckoned[name]) {
            let table = table(text, name);
            let ours = table.after(from).take_while(|at| *at < until).map(Timestamp::as_second);
            let ours: Vec<i64> = ours.collect();
            let differs = ours.iter().zip(theirs).find(|(ours, theirs)| ours != theirs);
            assert!(differs.is_none(), "{text} in {name}: {differs:?}");
            assert_eq!(ours.len(), theirs.len(), "{text} in {name}");
            assert!(!ours.is_empty(), "{text} in {name} never fired");
            compared += ours.len();
        }
    }
    assert!(compared > 3_000_000, "only {compared} fires were compared");
}

/// C040: a daily job inside the hour that the spring change skips was silently not run that day.
#[test]
fn a_time_that_the_spring_change_skips_moves_forward_by_the_gap_and_comes_once() {
    for text in [json!({"calendar": {"time": "02:30"}}), json!({"cron": "30 2 * * *"})] {
        assert_eq!(
            fires(&text, "America/New_York", "2026-03-08T06:55:00Z", "2026-03-09T07:00:00Z"),
            ["2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"],
        );
    }
}

#[test]
fn moved_times_keep_their_order_among_the_others_and_equal_moments_come_once() {
    assert_eq!(
        fires(&json!({"cron": "0,30 2,3 * * *"}), "America/New_York", "2027-03-14T00:00:00Z", "2027-03-15T05:00:00Z"),
        ["2027-03-14T07:00:00Z", "2027-03-14T07:30:00Z"],
    );
    // Samoa left out 30 December 2011 whole: its 09:00 moves a day forward, onto that of the 31st.
    assert_eq!(
        fires(&json!({"calendar": {}}), "Pacific/Apia", "2011-12-29T00:00:00Z", "2012-01-01T00:00:00Z"),
        ["2011-12-29T19:00:00Z", "2011-12-30T19:00:00Z", "2011-12-31T19:00:00Z"],
    );
}

#[test]
fn a_time_that_comes_twice_counts_once_and_a_stepped_hour_follows_elapsed_time() {
    let day = ("2027-11-07T05:00:00Z", "2027-11-07T07:30:00Z");
    let new_york = |text: Value| fires(&text, "America/New_York", day.0, day.1);
    assert_eq!(new_york(json!({"calendar": {"time": "01:30"}})), ["2027-11-07T05:30:00Z"]);
    assert_eq!(new_york(json!({"cron": "30 1 * * *"})), ["2027-11-07T05:30:00Z"]);
    assert_eq!(new_york(json!({"cron": "*/15 * * * *"})).len(), 9, "every quarter of two and a half hours");
    assert_eq!(new_york(json!({"cron": "30 * * * *"})), ["2027-11-07T05:30:00Z", "2027-11-07T06:30:00Z"]);
}

/// C042: rules that never match froze one scheduler; another ran them at once.
#[test]
fn a_date_that_never_comes_is_no_rule_and_a_rare_one_is_found() {
    for never in ["0 0 30 2 *", "0 0 31 4 *", "0 0 31 2,11 *", "0 0 31 4,6,9,11 *", "0 0 30-31 feb *"] {
        let refused = Rule::of(RuleText { cron: Some(never), ..RuleText::default() });
        assert!(refused.is_err_and(|faults| faults[0].problem.contains("never")), "{never}");
    }
    let leap_day = table(&json!({"cron": "0 0 29 2 *"}), "UTC");
    assert_eq!(leap_day.next_after(moment("2027-01-01T00:00:00Z")), Some(moment("2028-02-29T00:00:00Z")));
    assert_eq!(leap_day.next_after(moment("2096-03-01T00:00:00Z")), Some(moment("2104-02-29T00:00:00Z")));
    // `*/2` does not restrict, so both must hold: 29 February on a Sunday, Tuesday, Thursday or Saturday.
    let both = table(&json!({"cron": "0 0 29 2 */6"}), "UTC");
    assert_eq!(both.next_after(moment("2027-01-01T00:00:00Z")), Some(moment("2032-02-29T00:00:00Z")));
}

#[test]
fn what_is_no_cron_rule_is_refused() {
    for wrong in [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 13 *",
        "* * * * 8",
        "*/0 * * * *",
        "*/60 * * * *",
        "5-1 * * * *",
        "@reboot",
        "@Daily",
        "0 0 L * *",
        "0 0 ? * 1",
        "0 0 1W * *",
        "0 0 * * 5#2",
        "+5 * * * *",
        "1.5 * * * *",
        ",1 * * * *",
        "0 0 * foo *",
        "-1 * * * *",
        "* * * * mon-",
    ] {
        assert!(Rule::of(RuleText { cron: Some(wrong), ..RuleText::default() }).is_err(), "`{wrong}` was taken");
    }
}

#[test]
fn boundaries_of_an_interval_are_counted_from_the_first_one() {
    let zone = zone(Some("UTC")).unwrap();
    let table = Timetable { rule: Rule::Interval { seconds: 90 }, zone, first: moment("2027-01-01T00:00:07Z") };
    let next = |after: &str| table.next_after(moment(after)).map(|at| at.to_string());
    assert_eq!(next("2026-12-31T00:00:00Z").as_deref(), Some("2027-01-01T00:00:07Z"));
    assert_eq!(next("2027-01-01T00:00:07Z").as_deref(), Some("2027-01-01T00:01:37Z"));
    assert_eq!(next("2027-01-01T00:01:36.999Z").as_deref(), Some("2027-01-01T00:01:37Z"));
    assert_eq!(next("2027-01-01T10:00:00Z").as_deref(), Some("2027-01-01T10:00:07Z"));
}

#[test]
fn zones_are_known_by_name_without_the_data_of_the_system() {
    assert!(zone(Some("Europe/Berlim")).is_err());
    assert!(zone(Some("../../etc/passwd")).is_err());
    assert!(zone(None).is_ok());
    let bundled = jiff::tz::TimeZoneDatabase::bundled();
    assert!(ZONES.iter().all(|name| bundled.get(name).is_ok()));
}
