//! What a step prints is seen while it runs, its last line too, and much of it neither hangs nor vanishes.

use anyhow::{Context, Result, ensure};
use serde_json::json;
use weir_shared::run::state::{RunStatus, StepStatus};
use weir_tests::flows::{command_step, one_command, plan};
use weir_tests::worker::Worker;

#[test]
fn a_line_is_seen_while_its_step_still_runs() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    // It ends only once someone has read its first line.
    let seen = worker.world().path("seen");
    let line = format!("echo first; until [ -e {} ]; do sleep 0.01; done; echo last", seen.display());
    let run = client.run_plan(&one_command(&line))?;
    let mut stream = client.follow(&run)?;
    let first = stream.until("step_output", |data| data["text"].as_str().is_some_and(|text| text.contains("first")))?;
    ensure!(first.id.is_none(), "output is not resumed from");
    ensure!(client.run(&run)?.executions[0].status == StepStatus::Running, "it had ended before it was read");
    std::fs::write(&seen, "")?;
    stream.until("complete", |_| true)?;
    Ok(())
}

#[test]
fn the_last_line_of_a_failing_step_is_kept_and_quoted() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    // Without an end of line, and right before the end.
    let run = client.run_plan(&one_command("echo working; printf 'disk is on fire' >&2; exit 7"))?;
    let frames = client.follow(&run)?.to_end()?;
    let told: String = frames
        .iter()
        .filter(|frame| frame.event == "step_output" && frame.data["stream"] == json!("stderr"))
        .filter_map(|frame| frame.data["text"].as_str())
        .collect();
    ensure!(told == "disk is on fire", "{told:?}");
    let detail = client.run(&run)?;
    let error = detail.executions[0].error.as_deref().context("a failed step has an error")?;
    ensure!(error.contains("exit code 7") && error.contains("disk is on fire"), "{error}");
    Ok(())
}

#[test]
fn much_output_keeps_its_beginning_and_its_end_and_says_what_is_missing() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let steps = [command_step(0, "echo begin; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end", &[])];
    let run = client.run_plan(&plan(&steps))?;
    let detail = client.finish(&run)?;
    ensure!(detail.row.status == RunStatus::Completed, "{:?}", detail.row.error);
    let result = detail.executions[0].result.as_ref().context("a result")?;
    let stdout = result["stdout"].as_str().context("text")?;
    ensure!(stdout.starts_with("begin\n") && stdout.ends_with("end\n"), "head and tail are there");
    ensure!(result["stdoutTruncated"] == json!(true) && stdout.len() < 100_000, "{} bytes are a cut", stdout.len());
    let whole = client.get(&format!("/api/agent/runs/{run}/steps/0/output?stream=stdout"))?;
    ensure!(whole.status == 200 && whole.body.len() == 6 + 3_000_000 + 1 + 4, "the whole of it is with the run");
    Ok(())
}
