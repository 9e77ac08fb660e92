//! Ten thousand processes through one worker: how many a second, beside bare starts by sixteen threads, and what of them
//! the worker keeps.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use weir_tests::client::Client;
use weir_tests::flows::{command_step, plan};
use weir_tests::processes;
use weir_tests::worker::Worker;

use crate::chain::spawn_and_wait;
use crate::table::Figure;

const PROCESSES: u32 = 10_000;
/// Steps of one run.
const STEPS: u32 = 500;
/// Threads of the bare starts: as many as a run has steps at once.
const THREADS: u32 = 16;

pub(crate) fn measure() -> Result<Vec<Figure>> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let plan = side_by_side();
    // What is made once, and kept, is there after this.
    run(&client, &plan)?;
    let before = resident(&worker)?;
    let begun = Instant::now();
    for _ in 0..PROCESSES / STEPS {
        run(&client, &plan)?;
    }
    let ours = f64::from(PROCESSES) / begun.elapsed().as_secs_f64();
    let grown = resident(&worker)? - before;
    let theirs = f64::from(PROCESSES) / bare()?.as_secs_f64();
    Ok(vec![
        Figure::plain("processes a second over 10,000, Weir", ours, "1/s"),
        Figure::plain("the same by 16 threads that start and wait", theirs, "1/s"),
        Figure::plain("memory gained over 10,000 processes", grown, "MiB"),
    ])
}

fn side_by_side() -> Value {
    plan(&(0..STEPS as usize).map(|index| command_step(index, "/bin/true", &[])).collect::<Vec<_>>())
}

fn run(client: &Client, plan: &Value) -> Result<()> {
    let run = client.run_plan(plan)?;
    let frames = client.follow(&run)?.to_end()?;
    ensure!(frames.last().context("no event came")?.event == "complete");
    Ok(())
}

fn resident(worker: &Worker) -> Result<f64> {
    let (kib, _) = processes::memory_and_ticks(worker.pid()).context("the worker is gone")?;
    Ok(f64::from(u32::try_from(kib)?) / 1024.0)
}

fn bare() -> Result<Duration> {
    let begun = Instant::now();
    let threads: Vec<_> = (0..THREADS)
        .map(|_| std::thread::spawn(|| (0..PROCESSES / THREADS).try_for_each(|_| spawn_and_wait())))
        .collect();
    for thread in threads {
        thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??;
    }
    Ok(begun.elapsed())
}
