//! A worker that has run much is as large as before, and has nothing left of it: no process, no descriptor, no
//! thread, no memory.
//!
//! Small amounts always run; the large ones by `cargo test --test journeys -- --ignored soak`.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_shared::ids::RunId;
use weir_shared::run::state::RunStatus;
use weir_tests::client::Client;
use weir_tests::flows::{command_step, one_command, plan};
use weir_tests::processes;
use weir_tests::program;
use weir_tests::stream::Frame;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::{Worker, World};

/// Steps of one run here. A run holds its plan and results as long as it goes on.
const STEPS: usize = 100;
/// KiB that a worker may grow by, beside what the allocator holds back.
const GROWTH_KIB: u64 = 24 * 1024;
/// KiB that a worker may take while a step prints without end.
const PRINTING_KIB: u64 = 32 * 1024;
/// Descriptors of connections that the door has not closed yet.
const DESCRIPTORS: usize = 8;

#[test]
fn a_worker_is_left_as_it_was() -> Result<()> {
    soak(&Amount { short: 300, stubborn: 8 })
}

#[test]
#[ignore = "takes minutes: 10,000 short processes and 200 stubborn ones"]
fn a_worker_is_left_as_it_was_after_ten_thousand_processes() -> Result<()> {
    soak(&Amount { short: 10_000, stubborn: 200 })
}

#[test]
fn a_step_that_prints_a_gibibyte_takes_no_memory() -> Result<()> {
    printing(1 << 30)
}

#[test]
#[ignore = "takes minutes: 10 GiB through a pipe"]
fn a_step_that_prints_ten_gibibytes_takes_no_memory() -> Result<()> {
    printing(10 << 30)
}

struct Amount {
    short: usize,
    stubborn: usize,
}

/// What a worker holds.
#[derive(Debug)]
struct Held {
    resident_kib: u64,
    descriptors: usize,
    threads: usize,
}

fn held(worker: &Worker) -> Result<Held> {
    let pid = worker.pid();
    let (resident_kib, _) = processes::memory_and_ticks(pid).context("the worker is gone")?;
    Ok(Held { resident_kib, descriptors: processes::descriptors(pid), threads: processes::threads(pid) })
}

fn soak(amount: &Amount) -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    // What is made once, and kept, is there after this.
    short(&client, STEPS)?;
    stubborn(&client, 2)?;
    let before = held(&worker)?;

    let mut left = amount.short;
    while left > 0 {
        let steps = left.min(STEPS);
        short(&client, steps)?;
        left -= steps;
    }
    let mut left = amount.stubborn;
    while left > 0 {
        let steps = left.min(16);
        stubborn(&client, steps)?;
        left -= steps;
    }

    until("the worker to have no child", PATIENCE, || processes::children(worker.pid()).is_empty().then_some(()))
        .with_context(|| processes::described(&processes::children(worker.pid())))?;
    let mark = format!("HOME={}", worker.world().path("home").display());
    assert_eq!(processes::marked(&mark), [worker.pid()], "processes are left");
    let after = until("descriptors and threads to be given back", PATIENCE, || {
        let held = held(&worker).ok()?;
        let is_quiet = held.descriptors <= before.descriptors + DESCRIPTORS && held.threads <= before.threads;
        is_quiet.then_some(held)
    })
    .with_context(|| format!("{before:?} became {:?}", held(&worker)))?;
    ensure!(after.resident_kib <= before.resident_kib + GROWTH_KIB, "memory grew: {before:?} became {after:?}");
    Ok(())
}

/// Runs this many commands side by side. Every tenth leaves something behind, in one of three ways.
fn short(client: &Client, steps: usize) -> Result<()> {
    let command = |index: usize| match index % 30 {
        9 => "sleep 951.1 & echo done",
        19 => "setsid sleep 951.2 & echo done",
        29 => "(setsid sh -c 'trap \"\" TERM; sleep 951.3' &); echo done",
        _ => "echo done",
    };
    let steps: Vec<Value> = (0..steps).map(|index| command_step(index, command(index), &[])).collect();
    let run = client.run_plan(&plan(&steps))?;
    let detail = client.finish(&run)?;
    assert_eq!(detail.row.status, RunStatus::Completed, "{:?}", detail.row.error);
    Ok(())
}

/// Runs this many programs that no signal but SIGKILL ends, and cancels the run once all of them are there.
fn stubborn(client: &Client, steps: usize) -> Result<()> {
    let program = test_program("stubborn")?;
    let step = |index| {
        let mut step = command_step(index, &program, &[]);
        step["stop"] = json!({ "signal": "TERM", "graceSeconds": 1 });
        step
    };
    let run = client.run_plan(&plan(&(0..steps).map(step).collect::<Vec<_>>()))?;
    let stream = client.follow(&run)?;
    until("all of them to run", PATIENCE, || (processes::of_run(&run).len() >= steps).then_some(()))?;
    client.cancel(&run)?.having::<Value>(202)?;
    until("all of them to go", PATIENCE, || processes::of_run(&run).is_empty().then_some(()))?;
    stream.to_end()?;
    assert_eq!(client.run(&run)?.row.status, RunStatus::Cancelled);
    Ok(())
}

/// The events of a run that takes longer than one stream is waited for.
fn to_end(client: &Client, run: &RunId) -> Result<Vec<Frame>> {
    let deadline = Instant::now() + Duration::from_mins(30);
    loop {
        match client.follow(run)?.to_end() {
            Err(_) if Instant::now() < deadline => {}
            ended => return ended,
        }
    }
}

/// One of the small programs of these tests.
fn test_program(name: &str) -> Result<String> {
    let here = std::env::current_exe()?;
    let folder = here.ancestors().nth(2).context("a test program is two folders below the target directory")?;
    let program = folder.join(name);
    if !program.exists() {
        let built = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--quiet", "--package", "weir-tests", "--bins"])
            .current_dir(program::repository())
            .status()?;
        ensure!(built.success(), "the programs of the tests do not build");
    }
    Ok(program.display().to_string())
}

fn printing(bytes: u64) -> Result<()> {
    let world = World::new()?;
    let kept = 1 << 20;
    world.configure(&format!("[output]\nmaxBytes = {kept}\n"))?;
    let worker = Worker::start_in(world)?;
    let client = worker.client()?;
    client.finish(&client.run_plan(&one_command("head -c 8388608 /dev/zero"))?)?;
    let before = processes::most_memory(worker.pid()).context("the worker is gone")?;
    let mut step = command_step(0, &format!("head -c {bytes} /dev/zero"), &[]);
    step["args"]["timeoutSeconds"] = json!(3_600);
    let run = client.run_plan(&plan(&[step]))?;
    let events = to_end(&client, &run)?;
    let detail = client.run(&run)?;
    assert_eq!(detail.row.status, RunStatus::Completed, "{:?}", detail.row.error);
    let report = detail.executions[0].report.clone().context("no report")?;
    assert_eq!((report.stdout_bytes, report.dropped_bytes), (bytes, bytes - kept), "every byte is counted");
    assert_eq!(detail.executions[0].result.as_ref().unwrap()["stdoutTruncated"], json!(true));
    let spilled = worker.world().state().join(format!("runs/{run}/output/0.1.stdout"));
    assert_eq!(spilled.metadata()?.len(), kept);
    ensure!(events.last().is_some_and(|event| event.event == "complete"), "the stream has no end");
    let after = processes::most_memory(worker.pid()).context("the worker is gone")?;
    ensure!(after <= before + PRINTING_KIB, "memory grew from {before} to {after} KiB while it printed");
    ensure!(client.get("/api/health")?.status == 200, "the worker answers no more");
    until("nothing to be left", Duration::from_secs(5), || processes::of_run(&run).is_empty().then_some(()))
}
