//! What a worker leaves behind when it ends, asked or not, and what the next one makes of it.
//!
//! Among them the kind of C132: a stop that waited for open streams, which never end.

use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use serde_json::json;
use weir_shared::run::state::{RunStatus, StepStatus};
use weir_tests::command_line::code_of;
use weir_tests::flows::{command_step, one_command, plan};
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::{Worker, World};

#[test]
fn after_a_power_cut_a_run_is_interrupted_and_what_was_shown_is_still_there() -> Result<()> {
    let mut worker = Worker::start()?;
    let client = worker.client()?;
    let done = client.run_plan(&one_command("echo before"))?;
    client.finish(&done)?;
    let steps =
        [command_step(0, "echo first", &[]), command_step(1, "sleep 951.1", &[0]), command_step(2, "true", &[1])];
    let run = client.run_plan(&plan(&steps))?;
    let mut stream = client.follow(&run)?;
    let mut shown = Vec::new();
    while !shown
        .last()
        .is_some_and(|frame: &weir_tests::stream::Frame| frame.event == "step_start" && frame.data["index"] == json!(1))
    {
        shown.push(stream.frame()?.context("the run ended")?);
    }
    shown.retain(|frame| frame.id.is_some());

    worker.kill()?;
    worker.start_again()?;

    let detail = client.run(&run)?;
    assert_eq!(detail.row.status, RunStatus::Interrupted);
    let statuses: Vec<StepStatus> = detail.executions.iter().map(|step| step.status).collect();
    assert_eq!(statuses, [StepStatus::Completed, StepStatus::Interrupted, StepStatus::Waiting]);
    assert_eq!(detail.executions[0].result.as_ref().unwrap()["stdout"], "first\n");
    let frames = client.follow(&run)?.to_end()?;
    assert_eq!(frames[..shown.len()], shown[..], "nothing that was shown is lost or changed");
    let last = frames.last().unwrap();
    assert_eq!((last.event.as_str(), &last.data["code"]), ("error", &json!("interrupted")));

    assert_eq!(client.run(&done)?.row.status, RunStatus::Completed);
    let next = client.run_plan(&one_command("echo after"))?;
    assert_eq!(client.finish(&next)?.row.status, RunStatus::Completed);
    Ok(())
}

#[test]
fn a_run_at_its_gate_survives_both_kinds_of_end() -> Result<()> {
    let mut worker = Worker::start()?;
    let client = worker.client()?;
    let run = client.run_plan_as(&one_command("echo approved"), &json!({}))?;
    client.follow(&run)?.until("step_approval_requested", |_| true)?;

    worker.kill()?;
    worker.start_again()?;
    assert_eq!(client.run(&run)?.row.status, RunStatus::AwaitingStepApproval);

    worker.signal(Signal::SIGTERM);
    assert_eq!(code_of(worker.wait_for_end(PATIENCE)?), 0);
    worker.start_again()?;
    assert_eq!(client.run(&run)?.row.status, RunStatus::AwaitingStepApproval);

    client.approve(&run, &json!({}))?.having::<serde_json::Value>(202)?;
    let detail = client.finish(&run)?;
    assert_eq!(detail.row.status, RunStatus::Completed);
    assert_eq!(detail.executions[0].result.as_ref().unwrap()["stdout"], "approved\n");
    Ok(())
}

#[test]
fn a_stop_waits_neither_for_streams_nor_past_its_grace() -> Result<()> {
    let world = World::new()?;
    world.configure("[shutdown]\ngraceSeconds = 1\n")?;
    let mut worker = Worker::start_in(world)?;
    let client = worker.client()?;
    let mut step = command_step(0, "sleep 961.1", &[]);
    step["stop"] = json!({ "graceSeconds": 1 });
    let run = client.run_plan(&plan(&[step]))?;
    client.follow(&run)?.until("step_start", |_| true)?;
    let streams =
        [client.follow(&run)?, client.follow(&run)?, client.follow(&run)?].map(|s| std::thread::spawn(|| s.to_end()));

    worker.signal(Signal::SIGTERM);
    // The grace of the worker, the ladder of the step and its sweep, with room for a busy machine.
    let status = worker.wait_for_end(Duration::from_secs(10))?;
    assert_eq!(code_of(status), 0, "{}", worker.log());
    for stream in streams {
        let frames = stream.join().map_err(|_| anyhow::anyhow!("a reader panicked"))?;
        assert!(!frames?.is_empty(), "a stream ends as a stream ends");
    }
    assert!(weir_tests::processes::running("sleep 961.1").is_empty());

    // The port is free, and the state is whole.
    worker.start_again()?;
    assert_eq!(client.run(&run)?.row.status, RunStatus::Interrupted);
    Ok(())
}

#[test]
fn a_second_signal_ends_it_at_once() -> Result<()> {
    let mut worker = Worker::start()?;
    let client = worker.client()?;
    let run = client.run_plan(&one_command("trap '' TERM INT; sleep 962.1; sleep 962.2"))?;
    client.follow(&run)?.until("step_start", |_| true)?;
    until("the step", PATIENCE, || (!weir_tests::processes::running("sleep 962.").is_empty()).then_some(()))?;
    worker.signal(Signal::SIGINT);
    // Once it stops admitting, the first signal has arrived.
    until("the first signal to show", PATIENCE, || {
        client
            .post("/api/agent/run", &json!({ "workflow": one_command("true") }))
            .map_or(Some(()), |answer| (answer.status != 202).then_some(()))
    })?;
    worker.signal(Signal::SIGTERM);
    worker.wait_for_end(Duration::from_secs(5))?;
    until("the step to go", Duration::from_secs(2), || {
        weir_tests::processes::running("sleep 962.").is_empty().then_some(())
    })
}

#[test]
fn a_second_worker_on_the_same_state_says_who_holds_it() -> Result<()> {
    let worker = Worker::start()?;
    let said = weir_tests::command_line::run(
        worker.world().weir(&["serve", "--listen", "127.0.0.1:0"]).arg("--flows").arg(worker.world().flows()),
    )?;
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stderr.contains(&worker.pid().to_string()), "it names the process: {}", said.stderr);
    assert_eq!(worker.client()?.get("/api/health")?.status, 200);
    Ok(())
}
