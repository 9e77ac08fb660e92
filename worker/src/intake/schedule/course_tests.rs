//! Stories of one schedule, and random walks over clock steps, restarts, edits and pauses.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use weir_shared::flow::Schedule;
use weir_shared::ids::{Owner, ScheduleId};

use super::*;
use crate::intake::schedule::wanted;
use crate::store::Origin;

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;

fn at(text: &str) -> Timestamp {
    timestamp_of(text.parse::<Moment>().unwrap())
}

fn record(said: &Value, now: Timestamp) -> ScheduleRecord {
    let said: Schedule = serde_json::from_value(said.clone()).unwrap();
    let table = wanted::timetable_from(&said, now).unwrap();
    let (flow, owner) = ("report".parse().unwrap(), Owner::local());
    let record = ScheduleRecord::new(ScheduleId::from_bytes([1; 16]), (&flow, &owner), (Origin::Api, said), now);
    begun(record, &table, now)
}

fn left(now: Timestamp) -> Left {
    Left { now, is_cut_off: false }
}

/// One schedule, its clock, and everything that became of its occurrences.
struct World {
    record: ScheduleRecord,
    now: Timestamp,
    is_running: bool,
    rows: Vec<Fire>,
}

impl World {
    fn new(said: &Value, now: &str) -> Self {
        let now = at(now);
        Self { record: record(said, now), now, is_running: false, rows: Vec::new() }
    }

    fn table(&self) -> Timetable {
        wanted::timetable(&self.record).unwrap()
    }

    fn take(&mut self, change: Change) {
        assert_eq!(change.record.revision, self.record.revision + 1);
        self.record = change.record;
        self.rows.extend(change.fires);
    }

    /// Does all that is due, every run going on until it is ended.
    fn settle(&mut self) -> Option<Timestamp> {
        for _ in 0..3_000 {
            match decide(&self.record, &self.table(), Look { now: self.now, is_running: self.is_running }) {
                Decision::Rest { until } => return until,
                Decision::Record(change) => self.take(change),
                Decision::Start(change) => {
                    self.is_running = true;
                    self.take(change);
                }
            }
        }
        panic!("it never came to rest: {:?}", self.record);
    }

    fn goes_to(&mut self, now: &str) -> Option<Timestamp> {
        self.now = at(now);
        self.settle()
    }

    fn counts(&self) -> (u64, u64, u64) {
        (self.record.fires, self.record.missed, self.record.skipped)
    }

    fn started(&self) -> Vec<String> {
        let started = self.rows.iter().filter(|row| row.outcome == FireOutcome::Started);
        started.map(|row| row.due_at.to_string()).collect()
    }
}

/// Wish 2: ten hours without a worker, and a schedule of every five minutes.
#[test]
fn one_late_fire_and_no_storm() {
    let mut world = World::new(&json!({"cron": "*/5 * * * *", "timeZone": "UTC"}), "2027-01-01T00:00:00Z");
    assert_eq!(world.goes_to("2027-01-01T10:02:00Z"), Some(at("2027-01-01T10:05:00Z")));
    assert_eq!(world.started(), ["2027-01-01T10:00:00.000Z"]);
    assert_eq!(world.counts(), (1, 119, 0));
    let missed = &world.rows[0];
    assert_eq!((missed.outcome, missed.count), (FireOutcome::Missed, 119));
    assert_eq!((missed.due_at, missed.until), (at("2027-01-01T00:05:00Z"), Some(at("2027-01-01T09:55:00Z"))));
    // A second restart does not run it again.
    assert!(after_restart(&world.record, left(world.now)).is_none());
    world.settle();
    assert_eq!(world.counts(), (1, 119, 0));
}

/// Wish 1: the policy decides, and each missed time is run once or counted.
#[test]
fn missed_fires_are_made_up_for_as_the_policy_says() {
    let hourly = |policy: &str| json!({"cron": "0 * * * *", "timeZone": "UTC", "catchUp": policy});
    let mut none = World::new(&hourly("none"), "2027-01-01T00:00:00Z");
    none.goes_to("2027-01-01T05:30:00Z");
    assert_eq!(none.counts(), (0, 5, 0));
    // On time is on time, however much was missed before.
    none.goes_to("2027-01-01T08:00:10Z");
    assert_eq!(none.counts(), (1, 7, 0));

    let mut all = World::new(&hourly("all"), "2027-01-01T00:00:00Z");
    all.goes_to("2027-01-01T05:30:00Z");
    for done in 1..=5 {
        assert_eq!(all.counts(), (done, 0, 0), "one after the other");
        all.is_running = false;
        all.settle();
    }
    assert_eq!(all.counts(), (5, 0, 0));

    let mut long = World::new(&json!({"intervalSeconds": 60, "catchUp": "all"}), "2027-01-01T00:00:00Z");
    long.goes_to("2027-01-02T00:00:00Z");
    assert_eq!((long.record.missed, long.record.waiting.len() as u64 + long.record.fires), (440, 1_000));
}

/// Wish 3: pausing is not an outage.
#[test]
fn resuming_replays_nothing() {
    let mut world = World::new(&json!({"cron": "0 * * * *", "timeZone": "UTC"}), "2027-01-01T00:00:00Z");
    world.take(paused(&world.record, Some(&world.table()), (world.now, PauseReason::Person)));
    assert_eq!(world.goes_to("2027-01-01T09:30:00Z"), None);
    world.take(resumed(&world.record, &world.table(), world.now));
    assert_eq!(world.settle(), Some(at("2027-01-01T10:00:00Z")));
    assert_eq!(world.counts(), (0, 0, 0));
}

/// Wish 7: "hourly" becomes "every three hours", and the old rule leaves nothing behind.
#[test]
fn an_edit_takes_effect_at_once() {
    let mut world = World::new(&json!({"cron": "0 * * * *", "timeZone": "UTC"}), "2027-01-01T00:10:00Z");
    world.record.said.cron = Some("0 */3 * * *".to_owned());
    world.take(edited(&world.record, &world.table(), world.now));
    assert_eq!(world.settle(), Some(at("2027-01-01T03:00:00Z")));
    world.record.said = serde_json::from_value(json!({"intervalSeconds": 600})).unwrap();
    let table = wanted::timetable_from(&world.record.said, world.now).unwrap();
    world.take(edited(&world.record, &table, world.now));
    assert_eq!(world.settle(), Some(at("2027-01-01T00:20:00Z")));
}

/// Wish 4: a clock that jumps ahead fires no historic minute, one that jumps back fires nothing twice.
#[test]
fn clock_steps_fire_nothing_twice_and_nothing_as_if_live() {
    let mut world = World::new(&json!({"cron": "* * * * *", "timeZone": "UTC"}), "2027-01-01T00:00:30Z");
    world.goes_to("2027-01-01T00:01:00Z");
    world.is_running = false;
    world.goes_to("2027-01-01T06:00:30Z");
    assert_eq!(world.counts(), (2, 358, 0));
    world.is_running = false;
    assert_eq!(world.goes_to("2027-01-01T00:00:00Z"), Some(at("2027-01-01T06:01:00Z")));
    assert_eq!(world.counts(), (2, 358, 0));
}

#[test]
fn an_occurrence_during_the_run_before_it_is_skipped_queued_or_started() {
    let minutely = |overlap: &str| json!({"intervalSeconds": 60, "overlap": overlap});
    let counts_after_three = |overlap: &str| {
        let mut world = World::new(&minutely(overlap), "2027-01-01T00:00:00Z");
        for minute in ["00:01", "00:02", "00:03"] {
            world.goes_to(&format!("2027-01-01T{minute}:00Z"));
        }
        world
    };
    assert_eq!(counts_after_three("skip").counts(), (1, 0, 2));
    assert_eq!(counts_after_three("allow").counts(), (3, 0, 0));
    let mut queued = counts_after_three("queue");
    assert_eq!((queued.counts(), queued.record.waiting.len()), ((1, 0, 0), 2));
    queued.is_running = false;
    queued.settle();
    assert_eq!((queued.counts(), queued.record.waiting.len()), ((2, 0, 0), 1));
    // Like every other task that waits when the worker ends, it is not replayed.
    let change = after_restart(&queued.record, left(queued.now)).unwrap();
    queued.take(change);
    assert_eq!((queued.counts(), queued.record.waiting.len()), ((2, 1, 0), 0));
}

#[test]
fn a_one_shot_fires_once_and_an_extra_fire_comes_first() {
    let mut world = World::new(
        &json!({"intervalSeconds": 600, "recurring": false, "fireImmediately": true}),
        "2027-01-01T00:00:00Z",
    );
    assert_eq!(world.settle(), Some(at("2027-01-01T00:10:00Z")));
    assert_eq!(world.counts(), (1, 0, 0));
    world.is_running = false;
    assert_eq!(world.goes_to("2027-01-01T00:10:00Z"), None);
    assert_eq!((world.counts(), world.record.standing), ((2, 0, 0), Standing::Completed));
    assert_eq!(world.goes_to("2027-01-02T00:10:00Z"), None);
    assert_eq!(world.counts(), (2, 0, 0));
}

#[test]
fn an_expired_schedule_says_so_when_its_time_has_come() {
    let said = json!({"intervalSeconds": 600, "expiresAt": "2027-01-01T00:25:00Z"});
    let mut world = World::new(&said, "2027-01-01T00:00:00Z");
    world.goes_to("2027-01-01T00:10:00Z");
    world.is_running = false;
    assert_eq!(world.goes_to("2027-01-01T00:20:00Z"), Some(at("2027-01-01T00:25:00Z")));
    assert_eq!(world.record.standing, Standing::Active);
    assert_eq!(world.goes_to("2027-01-01T00:25:00Z"), None);
    assert_eq!((world.counts(), world.record.standing), ((2, 0, 0), Standing::Expired));
}

#[test]
fn an_occurrence_that_started_nothing_is_lost_and_says_why() {
    let mut world = World::new(&json!({"intervalSeconds": 60}), "2027-01-01T00:00:00Z");
    world.now = at("2027-01-01T00:01:00Z");
    let Decision::Start(change) = decide(&world.record, &world.table(), Look { now: world.now, is_running: false })
    else {
        panic!("it was due")
    };
    world.take(not_started(change, (FireOutcome::Failed, "the queue is full".to_owned())));
    assert_eq!(world.counts(), (0, 0, 0));
    assert_eq!(world.record.last_error.as_deref(), Some("the queue is full"));
    assert_eq!(world.settle(), Some(at("2027-01-01T00:02:00Z")), "the next one comes all the same");
}

#[test]
fn a_fire_whose_run_was_cut_off_is_reported_and_not_started_again() {
    let mut world = World::new(&json!({"cron": "0 * * * *", "timeZone": "UTC"}), "2027-01-01T00:00:00Z");
    world.goes_to("2027-01-01T01:00:00Z");
    let left = Left { now: world.now, is_cut_off: true };
    let change = after_restart(&world.record, left).unwrap();
    world.take(change);
    assert_eq!(world.record.last_error.as_deref(), Some(CUT_OFF));
    assert!(after_restart(&world.record, left).is_none(), "reported once");
    world.is_running = false;
    assert_eq!(world.settle(), Some(at("2027-01-01T02:00:00Z")));
    assert_eq!(world.counts(), (1, 0, 0));
    world.goes_to("2027-01-01T02:00:00Z");
    assert_eq!((world.counts(), world.record.last_error.as_deref()), ((2, 0, 0), None));
}

#[test]
fn an_extra_fire_comes_at_once_and_moves_no_boundary() {
    let mut world = World::new(&json!({"intervalSeconds": 600}), "2027-01-01T00:00:00Z");
    world.now = at("2027-01-01T00:04:00Z");
    let change = with_extra(restated(&world.record), world.now);
    world.take(change);
    assert_eq!(world.settle(), Some(at("2027-01-01T00:10:00Z")));
    assert_eq!(world.started(), ["2027-01-01T00:04:00.000Z"]);
    let paused = paused(&world.record, Some(&world.table()), (world.now, PauseReason::Person));
    assert_eq!(with_extra(paused.clone(), world.now), paused, "nothing fires while it is paused");
}

#[derive(Debug, Clone)]
enum Step {
    Ahead(i64),
    /// Less than a day in all, which is where an edit starts over.
    Back(i64),
    RunEnds,
    Restart,
    Pause,
    Resume,
    Edit(&'static str),
}

const RULES: [&str; 5] = [
    r#"{"cron":"*/15 * * * *","timeZone":"America/New_York"}"#,
    r#"{"calendar":{"time":"02:30"},"timeZone":"America/New_York","overlap":"queue"}"#,
    r#"{"cron":"*/20 1,2 * * *","timeZone":"Australia/Lord_Howe","catchUp":"all","overlap":"allow"}"#,
    r#"{"intervalSeconds":5400,"catchUp":"none"}"#,
    r#"{"cron":"7 * * * *","timeZone":"Europe/Berlin","overlap":"queue","catchUp":"all"}"#,
];

fn walks() -> impl Strategy<Value = Vec<Step>> {
    let moves = prop_oneof![
        4 => (1_i64..4_000).prop_map(Step::Ahead),
        2 => (4_000_i64..200_000).prop_map(Step::Ahead),
        2 => (1_i64..1_800).prop_map(Step::Back),
        4 => Just(Step::RunEnds),
        1 => Just(Step::Restart),
        1 => Just(Step::Pause),
        1 => Just(Step::Resume),
        1 => (0..RULES.len()).prop_map(|rule| Step::Edit(RULES[rule])),
    ];
    proptest::collection::vec(moves, 1..40)
}

fn walk(world: &mut World, step: &Step) {
    match step {
        Step::Ahead(seconds) => world.now.0 += seconds * SECOND,
        Step::Back(seconds) => world.now.0 -= seconds * SECOND,
        Step::RunEnds => world.is_running = false,
        Step::Restart => {
            // Runs that went on are interrupted.
            world.is_running = false;
            if let Some(change) = after_restart(&world.record, left(world.now)) {
                world.take(change);
            }
        }
        Step::Pause => {
            if world.record.standing == Standing::Active {
                world.take(paused(&world.record, Some(&world.table()), (world.now, PauseReason::Person)));
            }
        }
        Step::Resume => {
            if let Standing::Paused(_) = world.record.standing {
                world.take(resumed(&world.record, &world.table(), world.now));
            }
        }
        Step::Edit(said) => {
            world.record.said = serde_json::from_str(said).unwrap();
            let table = wanted::timetable_from(&world.record.said, world.now).unwrap();
            world.take(edited(&world.record, &table, world.now));
        }
    }
    world.settle();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_boundary_fires_twice_whatever_happens(rule in 0..RULES.len(), steps in walks()) {
        let said: Value = serde_json::from_str(RULES[rule]).unwrap();
        let mut world = World::new(&said, "2027-03-13T12:00:00Z");
        for step in &steps {
            walk(&mut world, step);
        }
        let started: Vec<Timestamp> =
            world.rows.iter().filter(|row| row.outcome == FireOutcome::Started).map(|row| row.due_at).collect();
        let distinct: BTreeSet<Timestamp> = started.iter().copied().collect();
        prop_assert_eq!(distinct.len(), started.len());
        prop_assert_eq!(world.record.fires, started.len() as u64);
        let counted = |outcome| world.rows.iter().filter(|row| row.outcome == outcome).map(|row| row.count).sum::<u64>();
        prop_assert_eq!(world.record.missed, counted(FireOutcome::Missed));
        prop_assert_eq!(world.record.skipped, counted(FireOutcome::Skipped));
    }

    #[test]
    fn every_boundary_is_started_skipped_missed_or_still_waiting(rule in 0..RULES.len(), steps in walks()) {
        let said: Value = serde_json::from_str(RULES[rule]).unwrap();
        let mut world = World::new(&said, "2027-10-30T12:00:00Z");
        let table = world.table();
        let created = moment_of(world.now);
        for step in steps.iter().filter(|step| !matches!(step, Step::Pause | Step::Resume | Step::Edit(_))) {
            walk(&mut world, step);
        }
        let through = world.record.through.unwrap_or(Timestamp(0));
        let boundaries = table.after(created).take_while(|moment| timestamp_of(*moment) <= through).count() as u64;
        let (fires, missed, skipped) = world.counts();
        prop_assert_eq!(fires + missed + skipped + world.record.waiting.len() as u64, boundaries);
        prop_assert!(world.record.next.is_none_or(|next| next > world.now || world.now < through));
    }
}

#[test]
fn a_clock_that_was_a_year_ahead_does_not_hold_an_edited_schedule_back() {
    let mut world = World::new(&json!({"cron": "0 * * * *", "timeZone": "UTC"}), "2028-01-01T00:30:00Z");
    world.goes_to("2028-01-01T01:00:00Z");
    world.now = Timestamp(world.now.0 - 365 * 24 * HOUR);
    assert_eq!(world.settle(), Some(at("2028-01-01T02:00:00Z")), "a step back alone fires nothing twice");
    world.take(edited(&world.record, &world.table(), world.now));
    assert_eq!(world.settle(), Some(at("2027-01-01T02:00:00Z")));
}
