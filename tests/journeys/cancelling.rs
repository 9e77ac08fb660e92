//! Nothing outlives its step: not what it started, not what left its group, not what holds its pipe.
//!
//! The kinds of C028 (a cancel that stopped only the script) and C030 (a leftover that held the pipe, and the run).

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use weir_shared::run::state::{RunStatus, StepStatus};
use weir_tests::flows::{command_step, one_command, plan};
use weir_tests::processes;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::Worker;

/// Seconds between the stop signal and SIGKILL in these tests.
const GRACE: u64 = 1;

/// What the contract gives the sweep after the ladder.
const SWEEP: Duration = Duration::from_secs(1);

fn with_short_grace(command: &str) -> Value {
    let mut step = command_step(0, command, &[]);
    step["stop"] = json!({ "signal": "TERM", "graceSeconds": GRACE });
    plan(&[step])
}

/// Starts the command, waits for `count` of its processes whose words are these, cancels, and sees all of them go.
fn cancelled_without_a_trace(worker: &Worker, command: &str, words: &str, count: usize) -> Result<()> {
    let client = worker.client()?;
    let run = client.run_plan(&with_short_grace(command))?;
    let stream = client.follow(&run)?;
    until("the whole tree", PATIENCE, || (processes::running(words).len() >= count).then_some(()))
        .with_context(|| command.to_owned())?;

    client.cancel(&run)?.having::<Value>(202)?;
    until("the end of the tree", Duration::from_secs(GRACE) + SWEEP, || {
        (processes::of_run(&run).is_empty() && processes::running(words).is_empty()).then_some(())
    })
    .with_context(|| command.to_owned())?;

    let last = stream.to_end()?.pop().context("the stream was empty")?;
    assert_eq!((last.event.as_str(), &last.data["code"]), ("error", &json!("cancelled")));
    let detail = client.run(&run)?;
    assert_eq!(detail.row.status, RunStatus::Cancelled);
    assert_eq!(detail.executions[0].status, StepStatus::Cancelled);
    assert_eq!(client.cancel(&run)?.status, 202, "a second cancel changes nothing");
    Ok(())
}

#[test]
fn a_cancel_ends_the_whole_tree() -> Result<()> {
    let worker = Worker::start()?;
    cancelled_without_a_trace(&worker, "bash -c 'sleep 911.1 & sleep 911.2 & wait'", "sleep 911.", 2)?;
    cancelled_without_a_trace(&worker, "bash -c 'bash -c \"sleep 912.1\" & wait'", "sleep 912.1", 1)?;
    assert_eq!(worker.client()?.get("/api/health")?.status, 200, "the worker's own group is left alone");
    Ok(())
}

#[test]
fn a_cancel_ends_what_left_the_group_and_what_ignores_the_signal() -> Result<()> {
    let worker = Worker::start()?;
    cancelled_without_a_trace(&worker, "setsid sleep 913.1 & sleep 913.2", "sleep 913.", 2)?;
    let stubborn = "trap '' TERM; sleep 914.1; sleep 914.2";
    cancelled_without_a_trace(&worker, stubborn, "sleep 914.", 1)?;
    // Away from the group, twice forked, and deaf.
    let hidden = "(setsid sh -c 'trap \"\" TERM; sleep 915.1; sleep 915.2' &) ; sleep 915.3";
    cancelled_without_a_trace(&worker, hidden, "sleep 915.", 2)
}

#[test]
fn a_leftover_on_the_pipe_neither_holds_nor_fails_the_step() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let cases = [
        ("bash -c 'sleep 921.1 & echo done'", Some(5)),
        ("bash -c 'sleep 921.2 & echo done'", None),
        ("setsid sleep 921.3 & echo done", None),
        ("setsid sleep 921.4 & echo done", Some(5)),
    ];
    for (command, limit) in cases {
        let mut step = command_step(0, command, &[]);
        if let Some(seconds) = limit {
            step["args"]["timeoutSeconds"] = json!(seconds);
        }
        let run = client.run_plan(&plan(&[step]))?;
        let detail = client.finish(&run)?;
        assert_eq!(detail.row.status, RunStatus::Completed, "{command}: {:?}", detail.row.error);
        let execution = &detail.executions[0];
        let result = execution.result.as_ref().context("no result")?;
        assert_eq!((&result["stdout"], &result["exitCode"]), (&json!("done\n"), &json!(0)), "{command}");
        assert!(execution.duration_ms.unwrap() < 3000, "{command}: {:?} ms", execution.duration_ms);
        let report = execution.report.as_ref().context("no report")?;
        assert!(report.leaked || report.swept > 0, "{command}: the leftover is reported: {report:?}");
        until("the leftover to go", SWEEP, || processes::of_run(&run).is_empty().then_some(()))
            .with_context(|| command.to_owned())?;
    }
    Ok(())
}

#[test]
fn a_time_limit_holds_for_all_that_a_step_started() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let mut step = command_step(0, "setsid sleep 931.1 & sleep 931.2 & wait", &[]);
    step["args"]["timeoutSeconds"] = json!(1);
    step["stop"] = json!({ "graceSeconds": GRACE });
    let run = client.run_plan(&plan(&[step]))?;
    let detail = client.finish(&run)?;
    assert_eq!(detail.row.status, RunStatus::Failed);
    let failed = client.follow(&run)?.until("step_failed", |_| true)?;
    assert_eq!(failed.data["timedOut"], json!(true));
    until("the leftover to go", SWEEP, || processes::of_run(&run).is_empty().then_some(()))
}

#[test]
fn a_cancel_before_anything_runs_and_after_everything_ran_is_harmless() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let run = client.run_plan(&one_command("echo x"))?;
    let done = client.finish(&run)?;
    assert_eq!(done.row.status, RunStatus::Completed);
    assert_eq!(client.cancel(&run)?.status, 202);
    assert_eq!(client.run(&run)?.row.status, RunStatus::Completed);
    Ok(())
}
