//! Schedules of a real worker, whose clock starts where the story wants it: through a change to summer time, a night
//! without power, and power cuts around the fires themselves.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_shared::ids::Timestamp;
use weir_shared::run::event::Cause;
use weir_shared::run::state::RunStatus;
use weir_shared::schedule::{FireList, FireOutcome, ScheduleList, ScheduleRow, ScheduleState};
use weir_tests::client::Client;
use weir_tests::command_line;
use weir_tests::flows::one_command_flow;
use weir_tests::wait::until;
use weir_tests::worker::{Worker, World};

/// How long anything may take to come, a minute's boundary included.
const PATIENCE: Duration = Duration::from_mins(1);
const MINUTE_MS: i64 = 60_000;
/// How long after the start of a worker the boundary comes, and how long after that its power is cut, in milliseconds.
const AHEAD_MS: u64 = 1_000;
const CUTS_MS: [u64; 7] = [0, 2, 4, 7, 12, 20, 60];

fn worker_at(moment: &str) -> Result<Worker> {
    let mut world = World::new()?;
    world.set_clock(moment);
    Worker::start_in(world)
}

fn start_at(worker: &mut Worker, moment: &str) -> Result<Client> {
    worker.set_clock(moment);
    worker.start_again()?;
    worker.client()
}

fn schedules(client: &Client) -> Result<Vec<ScheduleRow>> {
    let list: ScheduleList = client.get("/api/agent/schedules")?.having(200)?;
    Ok(list.schedules)
}

/// The one schedule, once it is so.
fn when(client: &Client, what: &str, is_so: impl Fn(&ScheduleRow) -> bool) -> Result<ScheduleRow> {
    until(what, PATIENCE, || schedules(client).ok()?.into_iter().next().filter(&is_so))
        .with_context(|| format!("{:?}", schedules(client)))
}

fn fires(client: &Client, row: &ScheduleRow) -> Result<FireList> {
    client.get(&format!("/api/agent/schedules/{}/fires?limit=1000", row.schedule_id))?.having(200)
}

fn with_schedules(mut flow: Value, schedules: &Value) -> Value {
    flow["schedules"] = schedules.clone();
    flow
}

fn moment(text: &str) -> Timestamp {
    serde_json::from_value(json!(text)).unwrap()
}

/// A flow whose command says in a file that it ran.
fn marking(worker: &Worker, schedules: &Value) -> Value {
    let marks = worker.world().path("marks");
    with_schedules(one_command_flow("Nightly", &format!("echo ran >> {}", marks.display())), schedules)
}

fn marks(worker: &Worker) -> usize {
    std::fs::read_to_string(worker.world().path("marks")).map_or(0, |marks| marks.lines().count())
}

/// A time of day that the day does not have: not nothing, and not at another day's time afterwards.
#[test]
fn a_daily_schedule_fires_on_the_day_that_skips_its_time() -> Result<()> {
    let mut worker = worker_at("2026-03-08 06:55:00")?;
    let daily = json!([{ "name": "nightly", "calendar": { "time": "02:30" }, "timeZone": "America/New_York",
        "permissionMode": "full-access" }]);
    worker.client()?.publish_flow("nightly", &marking(&worker, &daily))?;
    let row = when(&worker.client()?, "the schedule of the file", |_| true)?;
    assert_eq!(row.next_fire_at, Some(moment("2026-03-08T07:30:00.000Z")), "02:30 moves by the hour that is skipped");
    worker.kill()?;

    let client = start_at(&mut worker, "2026-03-08 07:29:58")?;
    let row = when(&client, "the fire", |row| row.fires == 1)?;
    assert_eq!((row.missed_fires, row.next_fire_at), (0, Some(moment("2026-03-09T06:30:00.000Z"))));
    assert_eq!(client.flows()?[0].next_fire_at, row.next_fire_at);
    let run = row.last_run_id.as_ref().context("a run")?;
    let detail = client.finish(run)?;
    ensure!(detail.row.status == RunStatus::Completed && detail.row.cause == Cause::Schedule, "{detail:?}");
    assert_eq!(marks(&worker), 1);
    let listed = command_line::run(&mut worker.world().weir(&["schedule", "list"]))?;
    ensure!(listed.stdout.contains("nightly") && listed.stdout.contains("2026-03-09T06:30:00.000Z"), "{listed:?}");

    // Deleting the flow takes its schedule along, also for the next worker.
    let revision = client.flow("nightly")?.revision;
    let gone: Value = client.delete(&format!("/api/workflows/nightly?expectedRevision={revision}"))?.having(200)?;
    assert_eq!(gone["cancelledSchedules"], 1, "{gone}");
    worker.kill()?;
    let client = start_at(&mut worker, "2026-03-09 06:31:00")?;
    ensure!(schedules(&client)?.is_empty() && marks(&worker) == 1);
    Ok(())
}

/// A night without power: one late fire and the rest counted; and not again after the next start.
#[test]
fn a_night_without_power_is_made_up_for_once() -> Result<()> {
    let mut worker = worker_at("2027-01-01 00:00:30")?;
    let client = worker.client()?;
    client.publish_flow("nightly", &marking(&worker, &json!([])))?;
    let asked = json!({ "workflowId": "nightly", "cron": "*/5 * * * *", "timeZone": "UTC",
        "permissionMode": "full-access" });
    let made: ScheduleRow = client.post("/api/agent/schedules", &asked)?.having(201)?;
    assert_eq!(made.next_fire_at, Some(moment("2027-01-01T00:05:00.000Z")));
    worker.kill()?;
    let client = start_at(&mut worker, "2027-01-01 10:01:00")?;
    let row = when(&client, "the late fire", |row| row.fires == 1)?;
    assert_eq!((row.missed_fires, row.next_fire_at), (119, Some(moment("2027-01-01T10:05:00.000Z"))));
    client.finish(row.last_run_id.as_ref().context("a run")?)?;
    worker.kill()?;
    let client = start_at(&mut worker, "2027-01-01 10:02:00")?;
    let row = when(&client, "the schedule", |_| true)?;
    assert_eq!((row.fires, row.missed_fires, row.state), (1, 119, ScheduleState::Active));
    assert_eq!(marks(&worker), 1);
    Ok(())
}

/// The power is cut around the fire itself, at another moment each time.
#[test]
fn a_power_cut_around_a_fire_starts_it_once_at_most_and_loses_none_unseen() -> Result<()> {
    let mut worker = worker_at("2027-01-01 00:00:30")?;
    let client = worker.client()?;
    client.publish_flow("nightly", &marking(&worker, &json!([])))?;
    let asked = json!({ "workflowId": "nightly", "cron": "* * * * *", "timeZone": "UTC",
        "permissionMode": "full-access", "overlap": "allow" });
    client.post("/api/agent/schedules", &asked)?.having::<Value>(201)?;
    worker.kill()?;
    for (minute, cut) in (1..).zip(CUTS_MS) {
        let begun = Instant::now();
        start_at(&mut worker, &format!("2027-01-01 00:{:02}:59", minute - 1))?;
        let moment = begun + Duration::from_millis(AHEAD_MS + cut);
        until("the moment", PATIENCE, || (Instant::now() >= moment).then_some(()))?;
        worker.kill()?;
    }
    let client = start_at(&mut worker, "2027-01-01 00:08:05")?;
    let is_settled = |row: &ScheduleRow| row.next_fire_at > Some(moment("2027-01-01T00:08:00.000Z"));
    let row = when(&client, "what is left to be made up for", is_settled)?;
    let next = row.next_fire_at.context("a next fire")?;
    let boundaries = (next.0 - moment("2027-01-01T00:01:00.000Z").0) / MINUTE_MS;
    let accounted = row.fires + row.missed_fires + row.skipped_fires;
    assert_eq!(i64::try_from(accounted)?, boundaries, "none is lost unseen: {row:?}");

    let started: Vec<_> =
        fires(&client, &row)?.fires.into_iter().filter(|fire| fire.outcome == FireOutcome::Started).collect();
    let dues: BTreeSet<Timestamp> = started.iter().map(|fire| fire.due_at).collect();
    assert_eq!(dues.len(), started.len(), "none is started twice: {started:?}");
    let runs: BTreeSet<String> = client.runs("limit=100")?.runs.into_iter().map(|run| run.run_id.to_string()).collect();
    let claimed: BTreeSet<String> = started.iter().filter_map(|fire| Some(fire.run_id.as_ref()?.to_string())).collect();
    assert_eq!(runs, claimed, "a run for each fire, and no other");
    for run in started.iter().filter_map(|fire| fire.run_id.as_ref()) {
        let status = client.finish(run)?.row.status;
        ensure!(matches!(status, RunStatus::Completed | RunStatus::Interrupted), "{status:?}");
    }
    ensure!(marks(&worker) <= started.len(), "{} marks of {} fires", marks(&worker), started.len());
    Ok(())
}
