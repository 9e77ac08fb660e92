//! Schedules on a real store, library and engine, with a clock that is set by hand.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use weir_shared::ids::{FlowId, Owner, Timestamp};
use weir_shared::limits::Limits;
use weir_shared::run::event::Cause;
use weir_shared::schedule::{ChangeSchedule, CreateSchedule, FireOutcome, PauseReason, ScheduleRow, ScheduleState};

use super::{ScheduleError, Schedules, SchedulesOf};
use crate::clock::Clock;
use crate::engine::{Runs, Settings};
use crate::library::Library;
use crate::process::{CgroupSettings, Supervisor};
use crate::published::Published;
use crate::shutdown::{Shutdown, Stage};
use crate::store::Store;
use crate::store::tests::faulty_disk::{Fault, FaultyDisk, Lasting};
use crate::tool::{ToolSettings, Toolbox};

/// Whatever is waited for comes within this, or the test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// A worker's schedules in a directory of their own.
struct Worker {
    home: tempfile::TempDir,
    disk: FaultyDisk,
    hand: Arc<AtomicI64>,
    store: Store,
    library: Library,
    published: Published,
    runs: Runs,
    shutdown: Shutdown,
    schedules: Schedules,
}

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

fn report() -> FlowId {
    "report".parse().unwrap()
}

/// A flow of one step that waits for so long.
fn flow(seconds: u32, schedules: &Value) -> Value {
    json!({
        "format": 1, "name": "Report", "schedules": schedules,
        "nodes": [{ "id": "wait", "tool": "delay", "args": { "seconds": seconds } }], "edges": []
    })
}

fn asked(more: &Value) -> CreateSchedule {
    let mut body = json!({ "workflowId": "report" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(body).unwrap()
}

fn changed(body: Value) -> ChangeSchedule {
    serde_json::from_value(body).unwrap()
}

impl Worker {
    async fn new(now: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("flows")).unwrap();
        Self::on(home, FaultyDisk::with_a_store(), Arc::new(AtomicI64::new(at(now).0))).await
    }

    async fn on(home: tempfile::TempDir, disk: FaultyDisk, hand: Arc<AtomicI64>) -> Self {
        let store = disk.open();
        let clock = Clock::set_by(Arc::clone(&hand));
        let supervisor = Supervisor::start(store.worker_id().as_str(), &CgroupSettings::none()).unwrap();
        let toolbox = Toolbox::new(supervisor, Clock::system(), ToolSettings::default()).unwrap();
        let library = Library::open(home.path().join("flows"), toolbox.catalog(), Limits::default(), None);
        let published = Published::open(library.clone(), store.clone(), clock.clone()).await.unwrap();
        let (shutdown, watch) = Shutdown::new();
        let times = (clock.clone(), watch.clone());
        let runs = Runs::new(store.clone(), toolbox.clone(), times, home.path().to_owned(), Settings::default());
        runs.recover().await.unwrap();
        let (schedules, keeping) = Schedules::open(SchedulesOf {
            store: store.clone(),
            library: library.clone(),
            published: published.clone(),
            runs: runs.clone(),
            toolbox,
            clock,
            shutdown: watch,
        })
        .unwrap();
        tokio::spawn(keeping);
        Self { home, disk, hand, store, library, published, runs, shutdown, schedules }
    }

    /// The same directory with a worker that starts at this moment.
    async fn again(self, now: &str) -> Self {
        self.shutdown.advance(Stage::Stopping);
        tokio::time::timeout(PATIENCE, self.runs.drained()).await.expect("runs end");
        self.store.close().await;
        let Self { home, disk, hand, .. } = self;
        hand.store(at(now).0, Ordering::SeqCst);
        Self::on(home, disk, hand).await
    }

    async fn publish(&self, flow: &Value) {
        let text = flow.to_string();
        let entry = match self.library.get(&report()) {
            Some(entry) => self.library.save(&report(), text.as_bytes(), &entry.revision).unwrap(),
            None => self.library.create(Some(report()), text.as_bytes()).unwrap(),
        };
        self.published.publish(&report(), &entry.revision).await.unwrap();
    }

    /// Sets the clock and has everything settled.
    async fn goes_to(&self, now: &str) {
        self.hand.store(at(now).0, Ordering::SeqCst);
        tokio::time::timeout(PATIENCE, self.schedules.look()).await.expect("the schedules settle");
    }

    async fn create(&self, more: Value) -> Result<ScheduleRow, ScheduleError> {
        self.schedules.create(asked(&more), Owner::local()).await
    }

    async fn runs_end(&self) {
        tokio::time::timeout(PATIENCE, self.runs.drained()).await.expect("runs end");
    }

    fn list(&self) -> Vec<ScheduleRow> {
        self.schedules.list(None).unwrap()
    }

    /// Waits until the schedules are as they should be; the library tells of changes in its own time.
    async fn until(&self, what: &str, is_so: impl Fn(&[ScheduleRow]) -> bool) -> Vec<ScheduleRow> {
        let began = tokio::time::Instant::now();
        loop {
            let list = self.list();
            if is_so(&list) {
                return list;
            }
            assert!(began.elapsed() < PATIENCE, "never {what}: {list:?}");
            self.schedules.look().await;
            tokio::task::yield_now().await;
        }
    }

    fn file(&self) -> std::path::PathBuf {
        self.home.path().join("flows").join("report.flow.json")
    }
}

fn move_away(file: &Path) {
    std::fs::rename(file, file.with_extension("away")).unwrap();
}

#[tokio::test]
async fn a_fire_and_its_run_are_recorded_together_and_come_once() {
    let worker = Worker::new("2027-03-13T12:00:00Z").await;
    worker.publish(&flow(0, &json!([]))).await;
    let made = worker.create(json!({"calendar": {"time": "02:30"}, "timeZone": "America/New_York"})).await.unwrap();
    assert_eq!(made.next_fire_at, Some(at("2027-03-14T07:30:00Z")), "C040: the skipped time moves forward");
    worker.goes_to("2027-03-14T07:29:59Z").await;
    assert_eq!(worker.list()[0].fires, 0);
    worker.goes_to("2027-03-14T07:30:00Z").await;
    worker.goes_to("2027-03-14T07:30:01Z").await;
    let row = &worker.list()[0];
    assert_eq!((row.fires, row.missed_fires, row.next_fire_at), (1, 0, Some(at("2027-03-15T06:30:00Z"))));
    let run = worker.store.run(row.last_run_id.as_ref().unwrap()).unwrap().unwrap();
    assert_eq!((run.cause, &run.task_id), (Cause::Schedule, row.last_task_id.as_ref().unwrap()));
    let fires = worker.schedules.fires(row.schedule_id.as_str(), (None, 10)).unwrap();
    assert_eq!(fires.len(), 1);
    assert_eq!((fires[0].outcome, fires[0].run_id.as_ref()), (FireOutcome::Started, row.last_run_id.as_ref()));
    assert_eq!(fires[0].due_at, at("2027-03-14T07:30:00Z"));
}

/// Wishes 1 and 2, across restarts of the worker.
#[tokio::test]
async fn downtime_is_made_up_for_once_and_accounted_for() {
    let worker = Worker::new("2027-01-01T00:00:30Z").await;
    worker.publish(&flow(0, &json!([]))).await;
    worker.create(json!({"cron": "*/5 * * * *", "timeZone": "UTC"})).await.unwrap();
    worker.create(json!({"cron": "*/5 * * * *", "timeZone": "UTC", "catchUp": "none"})).await.unwrap();
    let worker = worker.again("2027-01-01T10:02:00Z").await;
    let list = worker.until("made up for", |list| list[0].fires == 1).await;
    assert_eq!((list[0].missed_fires, list[1].fires, list[1].missed_fires), (119, 0, 120));
    worker.runs_end().await;
    let worker = worker.again("2027-01-01T10:03:00Z").await;
    worker.goes_to("2027-01-01T10:03:30Z").await;
    let list = worker.list();
    assert_eq!((list[0].fires, list[0].missed_fires, list[1].missed_fires), (1, 119, 120), "not again");
}

#[tokio::test]
async fn schedules_of_a_file_are_in_force_while_it_is_published() {
    let worker = Worker::new("2027-01-01T00:10:00Z").await;
    let hourly = json!([{"name": "hourly", "cron": "0 * * * *", "timeZone": "UTC"}]);
    worker.publish(&flow(0, &hourly)).await;
    let list = worker.until("registered", |list| list.len() == 1).await;
    let id = list[0].schedule_id.clone();
    assert_eq!(list[0].next_fire_at, Some(at("2027-01-01T01:00:00Z")));
    let refused = worker.schedules.change(id.as_str(), changed(json!({"paused": true})), None).await;
    assert!(matches!(refused, Err(ScheduleError::InFile(_))), "{refused:?}");

    // Wish 7: the next version's rule holds from its own next time on, and it is the same schedule.
    let rarely = json!([{"name": "hourly", "cron": "0 */3 * * *", "timeZone": "UTC"}, {"intervalSeconds": 600}]);
    worker.publish(&flow(0, &rarely)).await;
    let list = worker.until("edited", |list| list.len() == 2).await;
    assert_eq!((&list[0].schedule_id, list[0].next_fire_at), (&id, Some(at("2027-01-01T03:00:00Z"))));
    worker.publish(&flow(0, &json!([{"name": "hourly", "cron": "0 */3 * * *", "timeZone": "UTC"}]))).await;
    worker.until("removed", |list| list.len() == 1).await;

    let revision = worker.library.get(&report()).unwrap().revision.clone();
    worker.published.unpublish(&report(), &revision).await.unwrap();
    let paused = |reason| move |list: &[ScheduleRow]| list[0].paused_reason == Some(reason);
    let list = worker.until("paused", paused(PauseReason::Unpublished)).await;
    assert_eq!((list[0].state, list[0].next_fire_at), (ScheduleState::Paused, None));
    worker.goes_to("2027-01-01T09:10:00Z").await;
    worker.published.publish(&report(), &revision).await.unwrap();
    let list = worker.until("resumed", |list| list[0].state == ScheduleState::Active).await;
    assert_eq!((list[0].fires, list[0].missed_fires), (0, 0), "a pause is no downtime");
    assert_eq!(list[0].next_fire_at, Some(at("2027-01-01T12:00:00Z")));

    move_away(&worker.file());
    worker.until("missing", paused(PauseReason::FlowMissing)).await;
    std::fs::rename(worker.file().with_extension("away"), worker.file()).unwrap();
    worker.until("back", |list| list[0].state == ScheduleState::Active && list[0].schedule_id == id).await;

    let deleted = worker.published.delete(&report(), None).await.unwrap();
    assert_eq!(deleted.cancelled_schedules, 1);
    assert!(worker.list().is_empty());
    worker.goes_to("2027-01-02T00:00:00Z").await;
    assert!(worker.store.last_runs().unwrap().is_empty(), "nothing fires any more");
}

/// Its schedules go along, and are neither paused on the way nor taken for new under the new name.
#[tokio::test]
async fn a_renamed_flow_takes_its_schedules_along() {
    let worker = Worker::new("2027-01-01T00:10:00Z").await;
    worker.publish(&flow(0, &json!([{"name": "hourly", "cron": "0 * * * *", "timeZone": "UTC"}]))).await;
    worker.until("registered", |list| list.len() == 1).await;
    worker.create(json!({"cron": "30 * * * *", "timeZone": "UTC", "overlap": "allow"})).await.unwrap();
    let before = worker.list();
    let revision = worker.library.get(&report()).unwrap().revision.clone();
    let other: FlowId = "summary".parse().unwrap();
    worker.published.rename(&report(), &other, &revision).await.unwrap();
    worker.until("followed", |list| list.iter().all(|row| row.workflow_id == other)).await;
    worker.goes_to("2027-01-01T00:30:00Z").await;
    worker.goes_to("2027-01-01T01:00:00Z").await;
    let list = worker.list();
    assert_eq!(list.len(), 2, "{list:?}");
    for (row, before) in list.iter().zip(&before) {
        assert_eq!((&row.schedule_id, row.created_at), (&before.schedule_id, before.created_at));
        assert_eq!((row.fires, row.missed_fires, row.state), (1, 0, ScheduleState::Active));
        let outcomes: Vec<_> = worker.schedules.fires(row.schedule_id.as_str(), (None, 10)).unwrap();
        assert_eq!(outcomes.iter().map(|fire| fire.outcome).collect::<Vec<_>>(), [FireOutcome::Started]);
    }
}

/// What a crash between a fire and the end of its run leaves: said, and not done again.
#[tokio::test]
async fn a_fire_whose_run_ended_with_the_worker_is_reported() {
    let worker = Worker::new("2027-01-01T00:10:00Z").await;
    worker.publish(&flow(3_600, &json!([]))).await;
    worker.create(json!({"cron": "0 * * * *", "timeZone": "UTC"})).await.unwrap();
    worker.goes_to("2027-01-01T01:00:00Z").await;
    let worker = worker.again("2027-01-01T01:01:00Z").await;
    let row = &worker.until("reported", |list| list[0].last_error.is_some()).await[0];
    assert!(row.last_error.as_ref().unwrap().contains("not started again"), "{row:?}");
    assert_eq!((row.fires, row.missed_fires, row.next_fire_at), (1, 0, Some(at("2027-01-01T02:00:00Z"))));
}

/// A queue with no room loses the occurrence, and says so.
#[tokio::test]
async fn a_full_queue_is_recorded() {
    let worker = Worker::new("2027-01-01T00:00:10Z").await;
    worker.publish(&flow(3_600, &json!([]))).await;
    worker.create(json!({"cron": "* * * * *", "timeZone": "UTC", "overlap": "allow"})).await.unwrap();
    for minute in 1..40 {
        worker.goes_to(&format!("2027-01-01T00:{minute:02}:00Z")).await;
    }
    let row = &worker.list()[0];
    assert_eq!(row.last_error.as_deref(), Some("the queue is full"));
    assert_eq!(row.fires, 32, "16 that run and 16 of one owner's batch that wait");
    let fires = worker.schedules.fires(row.schedule_id.as_str(), (None, 1)).unwrap();
    assert_eq!((fires[0].outcome, fires[0].reason.as_deref()), (FireOutcome::Failed, Some("the queue is full")));
    assert_eq!(row.next_fire_at, Some(at("2027-01-01T00:40:00Z")), "it goes on");
    worker.shutdown.advance(Stage::Stopping);
    worker.runs_end().await;
}

/// The limit of a flow counts what a schedule starts too.
#[tokio::test]
async fn a_busy_flow_skips_the_fire_of_another_schedule() {
    let worker = Worker::new("2027-01-01T00:00:10Z").await;
    let mut one_at_a_time = flow(3_600, &json!([]));
    one_at_a_time["concurrency"] = json!({"limit": 1, "onLimit": "skip"});
    worker.publish(&one_at_a_time).await;
    worker.create(json!({"cron": "* * * * *", "timeZone": "UTC"})).await.unwrap();
    worker.create(json!({"cron": "* * * * *", "timeZone": "UTC"})).await.unwrap();
    worker.goes_to("2027-01-01T00:01:00Z").await;
    let counts: Vec<_> = worker.list().iter().map(|row| (row.fires, row.skipped_fires)).collect();
    assert_eq!(counts, [(1, 0), (0, 1)]);
    worker.shutdown.advance(Stage::Stopping);
    worker.runs_end().await;
}

#[tokio::test]
async fn a_person_pauses_and_resumes_and_removes() {
    let worker = Worker::new("2027-01-01T00:10:00Z").await;
    worker.publish(&flow(0, &json!([]))).await;
    let id = worker.create(json!({"cron": "0 * * * *", "timeZone": "UTC"})).await.unwrap().schedule_id;
    let change = async |body: Value| worker.schedules.change(id.as_str(), changed(body), None).await.unwrap();
    let row = change(json!({"paused": true})).await;
    assert_eq!((row.state, row.paused_reason), (ScheduleState::Paused, Some(PauseReason::Person)));
    worker.goes_to("2027-01-01T05:10:00Z").await;
    let row = change(json!({"name": "Report"})).await;
    assert_eq!(row.state, ScheduleState::Paused, "naming it does not resume it");
    let row = change(json!({"paused": false})).await;
    assert_eq!((row.state, row.fires, row.missed_fires), (ScheduleState::Active, 0, 0));
    assert_eq!(row.next_fire_at, Some(at("2027-01-01T06:00:00Z")));
    let row = change(json!({"intervalSeconds": 120})).await;
    assert_eq!((row.next_fire_at, row.cron), (Some(at("2027-01-01T05:12:00Z")), None), "at once");
    let row = change(json!({"fireImmediately": true})).await;
    assert_eq!((row.fires, row.next_fire_at), (1, Some(at("2027-01-01T05:12:00Z"))), "one more, now");
    worker.schedules.remove(id.as_str(), None).await.unwrap();
    assert!(matches!(worker.schedules.get(id.as_str(), None), Err(ScheduleError::Unknown(_))));
    worker.runs_end().await;
    let last = worker.store.last_runs().unwrap();
    worker.goes_to("2027-01-01T08:10:00Z").await;
    assert_eq!(worker.store.last_runs().unwrap(), last, "nothing fires any more");
}

/// Wish 8: a store that fails at one fire does not end the schedule.
#[tokio::test]
async fn an_error_of_the_store_is_shown_and_later_fires_come() {
    let worker = Worker::new("2027-01-01T00:00:10Z").await;
    worker.publish(&flow(0, &json!([]))).await;
    worker.create(json!({"cron": "* * * * *", "timeZone": "UTC"})).await.unwrap();
    worker.disk.fail_at(0, Fault::Broken, Lasting::UntilMended);
    worker.goes_to("2027-01-01T00:01:00Z").await;
    let row = &worker.list()[0];
    assert!(row.last_error.is_some() && row.fires == 0, "{row:?}");
    assert!(worker.disk.has_failed());
    worker.disk.mend();
    worker.goes_to("2027-01-01T00:03:00Z").await;
    let row = &worker.list()[0];
    assert_eq!((row.fires, row.missed_fires, row.last_error.as_deref()), (1, 2, None));
    assert_eq!(row.next_fire_at, Some(at("2027-01-01T00:04:00Z")));
}

#[tokio::test]
async fn a_fire_during_the_run_before_it_is_skipped() {
    let worker = Worker::new("2027-01-01T00:00:10Z").await;
    worker.publish(&flow(3_600, &json!([]))).await;
    worker.create(json!({"cron": "* * * * *", "timeZone": "UTC"})).await.unwrap();
    worker.create(json!({"cron": "* * * * *", "timeZone": "UTC", "overlap": "queue"})).await.unwrap();
    worker.goes_to("2027-01-01T00:01:00Z").await;
    worker.goes_to("2027-01-01T00:02:00Z").await;
    let list = worker.list();
    assert_eq!((list[0].fires, list[0].skipped_fires), (1, 1));
    assert_eq!((list[1].fires, list[1].skipped_fires, list[1].waiting_fires), (1, 0, 1));
    worker.runs.cancel(list[1].last_run_id.as_ref().unwrap(), &Owner::local()).await.unwrap();
    worker.until("the next one's turn", |list| list[1].fires == 2 && list[1].waiting_fires == 0).await;
    worker.shutdown.advance(Stage::Stopping);
    worker.runs_end().await;
}

#[tokio::test]
async fn what_cannot_be_in_force_is_refused_and_says_why() {
    let worker = Worker::new("2027-01-01T00:00:00Z").await;
    let refused = worker.create(json!({"cron": "@daily"})).await;
    assert!(matches!(refused, Err(ScheduleError::Flow(_))), "no such flow: {refused:?}");
    let mut gated = flow(0, &json!([]));
    gated["nodes"] = json!([{ "id": "go", "tool": "execute_command", "args": { "command": "true" } }]);
    gated["inputs"] = json!({"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]});
    worker.publish(&gated).await;
    match worker.create(json!({"cron": "@daily", "inputs": {"day": "x"}})).await {
        Err(ScheduleError::CouldOpenGates { steps, .. }) => assert_eq!(steps, ["go"]),
        other => panic!("{other:?}"),
    }
    let full = json!({"cron": "@daily", "permissionMode": "full-access"});
    assert!(matches!(worker.create(full).await, Err(ScheduleError::Inputs(_))));
    // C042: a date that never comes.
    for never in ["0 0 30 2 *", "0 0 31 4 *", "0 0 31 2,11 *"] {
        match worker.create(json!({"cron": never})).await {
            Err(ScheduleError::Faults(faults)) => assert!(faults[0].message.contains("never"), "{faults:?}"),
            other => panic!("{other:?}"),
        }
    }
    let leap = worker
        .create(
            json!({"cron": "0 0 29 2 *", "timeZone": "UTC", "permissionMode": "full-access", "inputs": {"day": "x"}}),
        )
        .await
        .unwrap();
    assert_eq!(leap.next_fire_at, Some(at("2028-02-29T00:00:00Z")));

    let interval = json!({"intervalSeconds": 60, "permissionMode": "full-access", "inputs": {"day": "x"}});
    for _ in 1..50 {
        let row = worker.create(interval.clone()).await.unwrap();
        assert_eq!(row.expires_at, Some(at("2027-01-08T00:00:00Z")), "an interval lasts a week");
    }
    assert!(matches!(worker.create(interval).await, Err(ScheduleError::TooMany)));
}

#[tokio::test]
async fn a_file_whose_step_could_open_a_gate_is_paused_and_says_so() {
    let worker = Worker::new("2027-01-01T00:00:00Z").await;
    let mut gated = flow(
        0,
        &json!([{"cron": "@daily"}, {"cron": "@daily", "permissionMode": "full-access"},
        {"cron": "@daily", "timeZone": "Europe/Atlantis"}, {"cron": "@daily", "enabled": false}]),
    );
    gated["nodes"] = json!([{ "id": "go", "tool": "execute_command", "args": { "command": "true" } }]);
    worker.publish(&gated).await;
    let list = worker.until("registered", |list| list.len() == 4).await;
    let mut reasons: Vec<String> = list.iter().map(|row| format!("{:?}", row.paused_reason)).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["None", "Some(CouldOpenGates)", "Some(Disabled)", "Some(UnknownTimeZone)"]);
}
