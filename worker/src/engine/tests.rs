//! Whole runs through the engine's door, on a real store with real processes.

mod storage;

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Map, Value, json};
use weir_shared::flow::PermissionMode;
use weir_shared::ids::{Owner, RunId, Seq};
use weir_shared::plan::Plan;
use weir_shared::run::event::{CapabilityMode, Cause, RunConfig};
use weir_shared::run::state::RunStatus;
use weir_shared::wire::RunDetail;

use super::runs::FollowError;
use super::{Answer, ApproveError, Runs, Settings};
use crate::clock::Clock;
use crate::feed::wire::Frame;
use crate::process::{CgroupSettings, Supervisor};
use crate::queue::admission::Bounds;
use crate::run_request::{RunRequest, Source, StartError};
use crate::shutdown::{Shutdown, Stage};
use crate::store::Store;
use crate::tool::{ToolSettings, Toolbox};

/// A worker's engine in a directory of its own.
struct Engine {
    runs: Runs,
    shutdown: Shutdown,
    store: Store,
    directory: tempfile::TempDir,
}

impl Engine {
    fn new(settings: Settings) -> Self {
        Self::open(tempfile::tempdir().unwrap(), settings)
    }

    fn open(directory: tempfile::TempDir, settings: Settings) -> Self {
        let store = Store::open(&directory.path().join("weir.redb")).unwrap();
        Self::on(store, directory, settings)
    }

    fn on(store: Store, directory: tempfile::TempDir, settings: Settings) -> Self {
        let supervisor = Supervisor::start(store.worker_id().as_str(), &CgroupSettings::none()).unwrap();
        let toolbox = Toolbox::new(supervisor, Clock::system(), ToolSettings::default()).unwrap();
        let (shutdown, watch) = Shutdown::new();
        let state = directory.path().to_owned();
        let runs = Runs::new(store.clone(), toolbox, (Clock::system(), watch), state, settings);
        Self { runs, shutdown, store, directory }
    }

    /// Ends this engine as a crash would leave it, as far as the store can tell, and opens the next on its directory.
    async fn reopen(self) -> Self {
        self.shutdown.advance(Stage::Draining);
        self.runs.drained().await;
        self.store.close().await;
        let Self { directory, runs, store, shutdown } = self;
        drop((runs, store, shutdown));
        Self::open(directory, Settings::default())
    }

    async fn start(&self, plan: Value, config: RunConfig) -> RunId {
        self.try_start(plan, config).await.unwrap()
    }

    async fn try_start(&self, plan: Value, config: RunConfig) -> Result<RunId, StartError> {
        let plan: Plan = serde_json::from_value(plan).unwrap();
        let source = Source::Plan { goal: "a test".to_owned(), plan };
        let request =
            RunRequest { cause: Cause::Api, owner: Owner::local(), source, inputs: Map::new(), config, priority: None };
        self.runs.start(request).await.map(|accepted| accepted.run_id)
    }

    /// Follows to the end; gives all frames with an id.
    async fn end(&self, run: &RunId) -> Vec<Frame> {
        let frames = self.runs.follow(run, Seq(0)).unwrap().filter(|frame| std::future::ready(frame.id.is_some()));
        tokio::time::timeout(Duration::from_secs(20), frames.collect()).await.expect("the run ends")
    }

    async fn until(&self, run: &RunId, event: &str) {
        let frames = self.runs.follow(run, Seq(0)).unwrap();
        let found = frames.filter(|frame| std::future::ready(frame.event == event));
        tokio::pin!(found);
        let frame = tokio::time::timeout(Duration::from_secs(20), found.next()).await.expect("the event comes");
        assert!(frame.is_some(), "the stream ended before {event}");
    }

    fn detail(&self, run: &RunId) -> RunDetail {
        self.runs.detail(run, Seq(0), 10_000).unwrap()
    }
}

fn full_access() -> RunConfig {
    RunConfig { permission_mode: PermissionMode::FullAccess, ..RunConfig::default() }
}

fn yes() -> Answer {
    Answer { approved: true, ..Answer::default() }
}

fn command(index: u32, command: &str, depends_on: &[u32]) -> Value {
    json!({"index": index, "toolName": "execute_command", "args": {"command": command}, "dependsOn": depends_on})
}

fn names(frames: &[Frame]) -> Vec<&'static str> {
    frames.iter().map(|frame| frame.event).collect()
}

#[tokio::test]
async fn a_plan_runs_and_its_stream_is_its_journal() {
    let engine = Engine::new(Settings::default());
    let plan =
        json!({"steps": [command(0, "printf one", &[]), command(1, "printf '%s two' {{steps.0.result.stdout}}", &[])]});
    let run = engine.start(plan, full_access()).await;
    let frames = engine.end(&run).await;
    let ids: Vec<u64> = frames.iter().map(|frame| frame.id.unwrap().0).collect();
    assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>());
    assert_eq!(
        names(&frames),
        [
            "run_created",
            "plan_ready",
            "run_started",
            "step_decided",
            "step_start",
            "step_complete",
            "step_decided",
            "step_start",
            "step_complete",
            "complete",
        ]
    );
    let detail = engine.detail(&run);
    assert_eq!(detail.row.status, RunStatus::Completed);
    assert_eq!(detail.executions[1].result.as_ref().unwrap()["stdout"], "one two");
    assert_eq!(detail.executions[1].args.as_ref().unwrap()["command"], "printf '%s two' one");
    assert!(matches!(engine.runs.follow(&run, Seq(10)), Err(FollowError::Ended)));
}

#[tokio::test]
async fn an_empty_plan_completes_at_once() {
    let engine = Engine::new(Settings::default());
    let run = engine.start(json!({"steps": []}), RunConfig::default()).await;
    assert_eq!(names(&engine.end(&run).await).last(), Some(&"complete"));
}

#[tokio::test]
async fn the_lowest_failed_step_names_the_failure_and_nothing_new_starts() {
    let engine = Engine::new(Settings::default());
    let plan = json!({"steps": [
        command(0, "echo gone >&2; exit 3", &[]), command(1, "true", &[0]), command(2, "true", &[]),
    ]});
    let run = engine.start(plan, full_access()).await;
    engine.end(&run).await;
    let detail = engine.detail(&run);
    assert_eq!(detail.row.status, RunStatus::Failed);
    let error = detail.row.error.unwrap();
    assert!(error.contains("step 0") && error.contains("exit code 3: gone"), "{error}");
    assert_eq!(detail.executions[1].status.as_str(), "waiting");
}

#[tokio::test]
async fn on_failure_cancel_stops_what_runs() {
    let engine = Engine::new(Settings::default());
    let plan = json!({"onFailure": "cancel", "steps": [command(0, "sleep 600", &[]), command(1, "exit 1", &[])]});
    let run = engine.start(plan, full_access()).await;
    engine.end(&run).await;
    let detail = engine.detail(&run);
    assert_eq!((detail.row.status, detail.executions[0].status.as_str()), (RunStatus::Failed, "cancelled"));
}

#[tokio::test]
async fn a_gate_shows_what_will_run_and_is_answered_once() {
    let engine = Engine::new(Settings::default());
    let plan = json!({"steps": [command(0, "echo done", &[])]});
    let run = engine.start(plan, RunConfig::default()).await;
    engine.until(&run, "step_approval_requested").await;
    let detail = engine.detail(&run);
    assert_eq!(detail.row.status, RunStatus::AwaitingStepApproval);
    assert_eq!(detail.gates[0].args.as_ref().unwrap()["command"], "echo done");
    let owner = Owner::local();
    engine.runs.approve(&run, yes(), &owner).await.unwrap();
    engine.end(&run).await;
    assert_eq!(engine.detail(&run).row.status, RunStatus::Completed);
    let late = engine.runs.approve(&run, yes(), &owner).await;
    assert!(matches!(late, Err(ApproveError::NoOpenGate)));
}

#[tokio::test]
async fn a_rejected_step_fails_its_run_with_the_reason() {
    let engine = Engine::new(Settings::default());
    let run = engine.start(json!({"steps": [command(0, "echo done", &[])]}), RunConfig::default()).await;
    engine.until(&run, "step_approval_requested").await;
    let answer = Answer { reason: Some("not today".to_owned()), ..Answer::default() };
    engine.runs.approve(&run, answer, &Owner::local()).await.unwrap();
    engine.end(&run).await;
    let detail = engine.detail(&run);
    assert_eq!(detail.row.status, RunStatus::Failed);
    assert!(detail.row.error.unwrap().contains("rejected: not today"));
}

#[tokio::test]
async fn several_open_gates_want_a_name() {
    let engine = Engine::new(Settings::default());
    let plan = json!({"steps": [command(0, "true", &[]), command(1, "true", &[])]});
    let run = engine.start(plan, RunConfig::default()).await;
    engine.until(&run, "step_approval_requested").await;
    let refused = engine.runs.approve(&run, yes(), &Owner::local()).await;
    let Err(ApproveError::SeveralGates(gates)) = refused else { panic!("{refused:?}") };
    for gate in gates {
        let answer = Answer { gate: Some(gate.gate_id), ..yes() };
        engine.runs.approve(&run, answer, &Owner::local()).await.unwrap();
    }
    engine.end(&run).await;
    assert_eq!(engine.detail(&run).row.status, RunStatus::Completed);
}

#[tokio::test]
async fn a_cancel_ends_the_tree_and_is_idempotent() {
    let engine = Engine::new(Settings::default());
    let run = engine.start(json!({"steps": [command(0, "sleep 600 & wait", &[])]}), full_access()).await;
    engine.until(&run, "step_start").await;
    engine.runs.cancel(&run, &Owner::local()).await.unwrap();
    engine.runs.cancel(&run, &Owner::local()).await.unwrap();
    let frames = engine.end(&run).await;
    assert_eq!(names(&frames)[frames.len() - 2..], ["step_cancelled", "error"]);
    assert_eq!(engine.detail(&run).row.status, RunStatus::Cancelled);
    engine.runs.cancel(&run, &Owner::local()).await.unwrap();
}

#[tokio::test]
async fn a_parked_run_lets_others_in_and_outlives_the_worker() {
    let one = Settings { bounds: Bounds { running: 1, ..Bounds::default() }, ..Settings::default() };
    let engine = Engine::new(one);
    let plan = json!({"steps": [command(0, "echo late", &[])]});
    let parked = engine.start(plan, RunConfig::default()).await;
    engine.until(&parked, "step_approval_requested").await;
    let other = engine.start(json!({"steps": [command(0, "true", &[])]}), full_access()).await;
    engine.end(&other).await;

    let engine = engine.reopen().await;
    let recovered = engine.runs.recover().await.unwrap();
    assert_eq!((recovered.parked, recovered.interrupted), (1, 0));
    engine.runs.approve(&parked, yes(), &Owner::local()).await.unwrap();
    engine.end(&parked).await;
    let detail = engine.detail(&parked);
    assert_eq!(detail.executions[0].result.as_ref().unwrap()["stdout"], "late\n");
}

#[tokio::test]
async fn the_workers_end_interrupts_what_does_not_finish() {
    let engine = Engine::new(Settings::default());
    let run = engine.start(json!({"steps": [command(0, "sleep 600", &[])]}), full_access()).await;
    engine.until(&run, "step_start").await;
    engine.shutdown.advance(Stage::Draining);
    assert!(matches!(engine.try_start(json!({"steps": []}), full_access()).await, Err(StartError::Stopping)));
    engine.shutdown.advance(Stage::Stopping);
    engine.runs.drained().await;
    let detail = engine.detail(&run);
    assert_eq!((detail.row.status, detail.executions[0].status.as_str()), (RunStatus::Interrupted, "interrupted"));
}

#[tokio::test]
async fn a_queued_run_that_is_cancelled_never_starts() {
    let one = Settings { bounds: Bounds { running: 1, ..Bounds::default() }, ..Settings::default() };
    let engine = Engine::new(one);
    let first = engine.start(json!({"steps": [command(0, "sleep 600", &[])]}), full_access()).await;
    let second = engine.start(json!({"steps": [command(0, "true", &[])]}), full_access()).await;
    assert_eq!(engine.detail(&second).row.status, RunStatus::Queued);
    engine.runs.cancel(&second, &Owner::local()).await.unwrap();
    engine.end(&second).await;
    let detail = engine.detail(&second);
    assert_eq!((detail.row.status, detail.row.started_at), (RunStatus::Cancelled, None));
    engine.runs.cancel(&first, &Owner::local()).await.unwrap();
    engine.end(&first).await;
}

#[tokio::test]
async fn a_full_queue_refuses_and_says_which_bound() {
    let bounds = Bounds { running: 0, ..Bounds::default() };
    let engine = Engine::new(Settings { bounds, ..Settings::default() });
    for _ in 0..32 {
        engine.start(json!({"steps": []}), full_access()).await;
    }
    let refused = engine.try_start(json!({"steps": []}), full_access()).await;
    assert!(matches!(refused, Err(StartError::Capacity { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_result_too_large_for_an_event_is_whole_for_the_steps_after_it() {
    let engine = Engine::new(Settings::default());
    let big = "x".repeat(1_500_000);
    let plan = json!({"steps": [
        {"index": 0, "toolName": "json_format", "args": {"json": format!("\"{big}\"")}},
        {"index": 1, "toolName": "flow_if",
         "args": {"left": "{{steps.0.result.value}}", "operator": "eq", "right": big}},
    ]});
    let run = engine.start(plan, full_access()).await;
    engine.end(&run).await;
    let detail = engine.detail(&run);
    assert!(detail.executions[0].result_truncated);
    assert_eq!(detail.executions[1].result.as_ref().map(|result| result["branch"].clone()), Some(json!("true")));
}

#[tokio::test]
async fn a_plan_gate_takes_the_plan_a_person_edited() {
    let engine = Engine::new(Settings::default());
    let config = RunConfig { require_plan_approval: true, ..full_access() };
    let run = engine.start(json!({"steps": [command(0, "echo first", &[])]}), config).await;
    engine.until(&run, "plan_approval_requested").await;
    assert_eq!(engine.detail(&run).row.status, RunStatus::AwaitingPlanApproval);
    let edited: Plan =
        serde_json::from_value(json!({"steps": [command(0, "echo edited", &[]), command(1, "true", &[0])]})).unwrap();
    let answer = Answer { plan: Some(std::sync::Arc::new(edited)), ..yes() };
    engine.runs.approve(&run, answer, &Owner::local()).await.unwrap();
    engine.end(&run).await;
    let detail = engine.detail(&run);
    assert_eq!(detail.executions[0].result.as_ref().unwrap()["stdout"], "edited\n");
    assert_eq!(detail.executions.len(), 2);
}

#[tokio::test]
async fn a_rejected_plan_runs_nothing() {
    let engine = Engine::new(Settings::default());
    let config = RunConfig { require_plan_approval: true, ..full_access() };
    let run = engine.start(json!({"steps": [command(0, "echo first", &[])]}), config).await;
    engine.until(&run, "plan_approval_requested").await;
    engine.runs.approve(&run, Answer::default(), &Owner::local()).await.unwrap();
    engine.end(&run).await;
    let detail = engine.detail(&run);
    assert_eq!((detail.row.status, detail.executions[0].status.as_str()), (RunStatus::Failed, "waiting"));
}

#[tokio::test]
async fn a_gate_nobody_answers_counts_as_rejected() {
    let engine = Engine::new(Settings { gate_expiry: Duration::from_millis(50), ..Settings::default() });
    let run = engine.start(json!({"steps": [command(0, "echo done", &[])]}), RunConfig::default()).await;
    engine.end(&run).await;
    assert!(engine.detail(&run).row.error.unwrap().contains("nobody answered"));
}

#[tokio::test]
async fn a_failed_attempt_is_followed_by_the_next() {
    let engine = Engine::new(Settings::default());
    let mut step = command(0, "test -e again || { touch again; exit 1; }; echo second", &[]);
    step["idempotent"] = json!(true);
    step["retryPolicy"] = json!({"maxAttempts": 2, "backoffMs": 10});
    let run = engine.start(json!({"steps": [step]}), full_access()).await;
    let frames = engine.end(&run).await;
    assert_eq!(frames.iter().filter(|frame| frame.event == "step_start").count(), 2);
    let detail = engine.detail(&run);
    assert_eq!((detail.row.status, detail.executions[0].attempts), (RunStatus::Completed, 2));
}

#[tokio::test]
async fn a_pinned_step_serves_its_value_and_calls_nothing() {
    let engine = Engine::new(Settings::default());
    let mut step = command(0, "exit 1", &[]);
    step["pinnedResult"] = json!({"stdout": "pinned"});
    let run = engine.start(json!({"steps": [step]}), RunConfig::default()).await;
    engine.end(&run).await;
    assert_eq!(engine.detail(&run).executions[0].result.as_ref().unwrap()["stdout"], "pinned");
}

#[tokio::test]
async fn several_runs_start_together_or_not_at_all() {
    let engine = Engine::new(Settings::default());
    let request = |plan: Value| {
        let plan: Plan = serde_json::from_value(plan).unwrap();
        let source = Source::Plan { goal: String::new(), plan };
        let config = RunConfig { capability_mode: Some(CapabilityMode::ReadOnly), ..full_access() };
        RunRequest { cause: Cause::Api, owner: Owner::local(), source, inputs: Map::new(), config, priority: None }
    };
    let reads = json!({"steps": [{"index": 0, "toolName": "delay", "args": {"seconds": 0}}]});
    let writes = json!({"steps": [command(0, "touch x", &[])]});
    let refused = engine.runs.start_all(vec![request(reads.clone()), request(writes)]).await;
    assert!(matches!(refused, Err(StartError::Plan(_))), "{refused:?}");
    assert_eq!(engine.runs.driven(), 0);
    let accepted = engine.runs.start_all(vec![request(reads.clone()), request(reads)]).await.unwrap();
    for one in accepted {
        engine.end(&one.run_id).await;
        assert_eq!(engine.detail(&one.run_id).row.status, RunStatus::Completed);
    }
}

#[tokio::test]
async fn an_approval_of_a_command_covers_the_files_it_names() {
    let engine = Engine::new(Settings::default());
    let script = engine.directory.path().join("job.sh");
    std::fs::write(&script, "echo first").unwrap();
    let line = format!("sh {}", script.display());
    let run = engine.start(json!({"steps": [command(0, &line, &[])]}), RunConfig::default()).await;
    engine.until(&run, "step_approval_requested").await;
    let shown = &engine.detail(&run).gates[0];
    let path = script.display().to_string();
    assert!(shown.files.iter().any(|file| file.path == path), "{:?}", shown.files);

    std::fs::write(&script, "echo other").unwrap();
    engine.runs.approve(&run, yes(), &Owner::local()).await.unwrap();
    let asked_again = engine.runs.follow(&run, Seq(0)).unwrap();
    let asked_again = asked_again.filter(|frame| std::future::ready(frame.event == "step_approval_requested")).skip(1);
    tokio::pin!(asked_again);
    tokio::time::timeout(Duration::from_secs(20), asked_again.next()).await.expect("it asks again");
    let gate = engine.detail(&run).gates.pop().unwrap();
    assert_eq!(gate.reason, format!("it was approved, and has changed since: {path} has other content"));
    assert_ne!(gate.gate_id, shown.gate_id, "an answer that comes late is for the gate before");

    // What was shown the second time is what runs, also after the worker was away.
    let engine = engine.reopen().await;
    engine.runs.recover().await.unwrap();
    engine.runs.approve(&run, yes(), &Owner::local()).await.unwrap();
    let frames = engine.end(&run).await;
    assert_eq!(names(&frames).iter().filter(|name| **name == "step_start").count(), 1);
    assert_eq!(engine.detail(&run).executions[0].result.as_ref().unwrap()["stdout"], "other\n");
}

#[tokio::test]
async fn an_attempt_after_an_approved_one_runs_what_was_approved_or_nothing() {
    let engine = Engine::new(Settings::default());
    let script = engine.directory.path().join("job.sh");
    std::fs::write(&script, "echo 'echo other' > \"$0\"; exit 1").unwrap();
    let mut step = command(0, &format!("sh {}", script.display()), &[]);
    step["idempotent"] = json!(true);
    step["retryPolicy"] = json!({"maxAttempts": 2, "backoffMs": 10});
    let run = engine.start(json!({"steps": [step]}), RunConfig::default()).await;
    engine.until(&run, "step_approval_requested").await;
    engine.runs.approve(&run, yes(), &Owner::local()).await.unwrap();
    let frames = engine.end(&run).await;
    assert_eq!(names(&frames).iter().filter(|name| **name == "step_start").count(), 1);
    let error = engine.detail(&run).executions[0].error.clone().unwrap();
    assert!(error.starts_with("exit code 1; not tried again") && error.contains("other content"), "{error}");
}
