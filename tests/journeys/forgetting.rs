//! Runs that go, one by one or past what is kept, and the store looked after while nobody uses it.

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use weir_shared::ids::RunId;
use weir_shared::run::state::RunStatus;
use weir_tests::command_line::{code_of, run};
use weir_tests::flows::one_command;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::{Worker, World};

#[test]
fn an_ended_run_is_deleted_with_its_output_and_a_live_one_is_not() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let directory = |run: &RunId| worker.world().state().join("runs").join(run.as_str());
    let done = client.run_plan(&one_command("echo done"))?;
    assert_eq!(client.finish(&done)?.row.status, RunStatus::Completed);
    assert!(directory(&done).exists());
    assert_eq!(client.delete(&format!("/api/agent/runs/{done}"))?.status, 204);
    assert_eq!(client.get(&format!("/api/agent/runs/{done}"))?.status, 404);
    assert!(!directory(&done).exists());
    assert_eq!(client.delete(&format!("/api/agent/runs/{done}"))?.status, 404);

    let waiting = client.run_plan_as(&one_command("true"), &json!({}))?;
    client.follow(&waiting)?.until("step_approval_requested", |_| true)?;
    let refused = client.delete(&format!("/api/agent/runs/{waiting}"))?;
    assert_eq!(refused.problem(409)?.code, "not_ended");
    client.approve(&waiting, &json!({}))?.having::<Value>(202)?;
    assert_eq!(client.finish(&waiting)?.row.status, RunStatus::Completed);
    Ok(())
}

#[test]
fn runs_past_what_is_kept_go_without_a_new_one_and_one_at_its_gate_stays() -> Result<()> {
    let world = World::new()?;
    world.configure("[retention]\nruns = 2\n")?;
    let mut worker = Worker::start_in(world)?;
    let client = worker.client()?;
    let parked = client.run_plan_as(&one_command("true"), &json!({}))?;
    client.follow(&parked)?.until("step_approval_requested", |_| true)?;
    let ended: Vec<RunId> = (0..4)
        .map(|n| {
            let run = client.run_plan(&one_command(&format!("echo {n}")))?;
            client.finish(&run).map(|_| run)
        })
        .collect::<Result<_>>()?;
    worker.signal(Signal::SIGTERM);
    assert_eq!(code_of(worker.wait_for_end(PATIENCE)?), 0);
    worker.start_again()?;

    let kept = [&ended[3], &ended[2], &parked];
    until("old runs to go", PATIENCE, || {
        let page = client.runs("limit=10").ok()?;
        (page.runs.iter().map(|row| &row.run_id).eq(kept)).then_some(())
    })?;
    let directories = worker.world().state().join("runs");
    until("their directories to go", PATIENCE, || {
        let left = std::fs::read_dir(&directories).ok()?.flatten().filter(|entry| {
            let name = entry.file_name();
            !kept.iter().any(|run| name == run.as_str())
        });
        (left.count() == 0).then_some(())
    })?;
    assert_eq!(client.run(&parked)?.row.status, RunStatus::AwaitingStepApproval);
    Ok(())
}

#[test]
fn the_store_of_a_stopped_worker_is_checked_exported_and_compacted() -> Result<()> {
    let mut worker = Worker::start()?;
    let client = worker.client()?;
    let done = client.run_plan(&one_command("echo done"))?;
    client.finish(&done)?;
    let busy = run(&mut worker.world().weir(&["store", "check"]))?;
    assert_eq!(busy.code, 2, "a worker has it: {busy:?}");
    assert!(busy.stderr.contains(&worker.pid().to_string()), "{busy:?}");
    worker.kill()?;

    let checked = run(&mut worker.world().weir(&["store", "check"]))?;
    assert_eq!(checked.code, 0, "a power cut damages nothing: {checked:?}");
    assert!(checked.stdout.starts_with("1 runs, "), "{checked:?}");
    let exported = run(&mut worker.world().weir(&["store", "export"]))?;
    let lines: Vec<Value> = exported.stdout.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    assert_eq!(lines[1]["row"]["runId"], done.as_str());
    assert_eq!(lines.last().context("no line")?["event"]["event"], "complete");
    assert_eq!(run(&mut worker.world().weir(&["store", "compact"]))?.code, 0);

    worker.start_again()?;
    assert_eq!(client.run(&done)?.row.status, RunStatus::Completed);
    Ok(())
}

#[test]
fn a_damaged_store_is_reported_and_set_aside_only_when_that_is_asked_for() -> Result<()> {
    let mut worker = Worker::start()?;
    let client = worker.client()?;
    client.finish(&client.run_plan(&one_command("echo done"))?)?;
    worker.kill()?;
    let store = worker.world().state().join("weir.redb");
    let mut bytes = std::fs::read(&store)?;
    bytes.truncate(100);
    std::fs::write(&store, &bytes)?;

    let refused = run(&mut worker.world().weir(&["serve", "--listen", "127.0.0.1:0"]))?;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("damaged"), "{refused:?}");
    let checked = run(&mut worker.world().weir(&["store", "check"]))?;
    assert_eq!(checked.code, 1, "{checked:?}");
    assert!(checked.stderr.contains("--repair"), "{checked:?}");
    assert_eq!(std::fs::read(&store)?, bytes, "nothing has changed it");

    let repaired = run(&mut worker.world().weir(&["store", "check", "--repair"]))?;
    assert_eq!(repaired.code, 0, "{repaired:?}");
    let aside = repaired.stderr.lines().filter_map(|line| line.split_once("set aside as ")).next_back();
    let (_, aside) = aside.context("it says where the store is")?;
    assert_eq!(std::fs::read(aside)?, bytes);
    worker.start_again()?;
    assert_eq!(client.runs("limit=10")?.runs, []);
    Ok(())
}
