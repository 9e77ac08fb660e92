//! Time limits, and results that come when nobody waits for them any more.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::sys::signal::Signal;
use serde_json::json;
use weir_shared::run::state::{RunStatus, StepStatus};
use weir_tests::command_line::code_of;
use weir_tests::flows::{command_step, one_command, plan};
use weir_tests::processes;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::{Worker, World};

/// What a busy machine may add to a limit.
const ROOM: Duration = Duration::from_secs(8);

#[test]
fn a_step_that_ignores_the_signal_is_gone_at_its_limit_and_its_run_goes_by_its_rule() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let mut stuck = command_step(0, "trap '' TERM; while :; do sleep 0.1; done", &[]);
    stuck["timeoutMs"] = json!(500);
    stuck["stop"] = json!({ "graceSeconds": 1 });
    let beside = command_step(1, "sleep 0.2; echo beside", &[]);
    let after = command_step(2, "echo after", &[0]);
    let begun = Instant::now();
    let run = client.run_plan(&plan(&[stuck, beside, after]))?;
    let detail = client.finish(&run)?;
    let took = begun.elapsed();
    ensure!(took >= Duration::from_millis(1_500), "{took:?} is before limit and grace were over");
    ensure!(took < Duration::from_millis(1_500) + ROOM, "{took:?}");
    ensure!(detail.row.status == RunStatus::Failed, "{:?}", detail.row);
    let statuses: Vec<StepStatus> = detail.executions.iter().map(|step| step.status).collect();
    assert_eq!(statuses[..2], [StepStatus::Failed, StepStatus::Completed]);
    ensure!(!matches!(statuses[2], StepStatus::Completed | StepStatus::Running), "{statuses:?}");
    let error = detail.executions[0].error.as_deref().context("an error")?;
    ensure!(error.contains("timed out after 0.5 s"), "{error}");
    ensure!(processes::of_run(&run).is_empty());
    Ok(())
}

#[test]
fn asked_to_end_the_worker_lets_what_runs_finish_within_its_grace_and_takes_nothing_new() -> Result<()> {
    let world = World::new()?;
    world.configure("[shutdown]\ngraceSeconds = 30\n")?;
    let mut worker = Worker::start_in(world)?;
    let client = worker.client()?;
    let go = worker.world().path("go");
    let line = format!("until [ -e {} ]; do sleep 0.01; done; echo finished", go.display());
    let run = client.run_plan(&one_command(&line))?;
    let mut stream = client.follow(&run)?;
    stream.until("step_start", |_| true)?;
    worker.signal(Signal::SIGTERM);
    until("it to take nothing new", PATIENCE, || {
        let answer = client.post("/api/agent/run", &json!({ "workflow": one_command("true") })).ok()?;
        (answer.status == 503).then_some(())
    })?;
    std::fs::write(&go, "")?;
    assert_eq!(code_of(worker.wait_for_end(PATIENCE)?), 0);
    worker.start_again()?;
    let detail = client.run(&run)?;
    ensure!(detail.row.status == RunStatus::Completed, "{:?}", detail.row);
    ensure!(detail.executions[0].result.as_ref().context("a result")?["stdout"] == "finished\n");
    Ok(())
}

#[test]
fn a_result_that_comes_after_the_cancel_changes_nothing() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    // Asked to stop, it succeeds: its result is there, and its run was cancelled.
    let line = "trap 'echo late; exit 0' TERM; echo up; while :; do sleep 0.05; done";
    let run = client.run_plan(&plan(&[command_step(0, line, &[]), command_step(1, "echo next", &[0])]))?;
    let mut stream = client.follow(&run)?;
    stream.until("step_output", |data| data["text"].as_str().is_some_and(|text| text.contains("up")))?;
    ensure!(client.cancel(&run)?.status == 202);
    let end = stream.until("error", |_| true)?;
    ensure!(end.data["code"] == json!("cancelled"), "{end:?}");
    let detail = client.run(&run)?;
    ensure!(detail.row.status == RunStatus::Cancelled, "{:?}", detail.row);
    ensure!(detail.executions[0].status == StepStatus::Cancelled, "{:?}", detail.executions[0]);
    ensure!(detail.executions[1].status == StepStatus::Waiting || detail.executions[1].status == StepStatus::Skipped);
    // A second cancel, when all is over, is neither an error nor an event.
    ensure!(client.cancel(&run)?.status == 202);
    let frames = client.follow(&run)?.to_end()?;
    let ends = frames.iter().filter(|frame| frame.event == "error" || frame.event == "complete").count();
    ensure!(ends == 1 && frames.last().is_some_and(|frame| frame.event == "error"), "one end, and nothing after it");
    Ok(())
}
