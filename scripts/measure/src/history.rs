//! A hundred thousand runs: how long a page of them and a search through all of them take, and what they cost on disk.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_tests::client::Client;
use weir_tests::processes;
use weir_tests::worker::{Worker, World};

use crate::median::{self, timed};
use crate::table::Figure;

const RUNS: usize = 100_000;
/// Runs that one request starts.
const BATCH: usize = 8;
const ROUNDS: usize = 15;

pub(crate) fn measure() -> Result<Vec<Figure>> {
    let world = World::new()?;
    world.configure("[retention]\nruns = 1000000\n")?;
    let worker = Worker::start_in(world)?;
    let client = worker.client()?;
    fill(&client)?;
    let page = measured(&client, "limit=50")?;
    let none = measured(&client, "q=nobody-wrote-this&limit=50")?;
    let few = measured(&client, "q=number-77777&limit=50")?;
    let failed = measured(&client, "status=failed&limit=50")?;
    let (kib, _) = processes::memory_and_ticks(worker.pid()).context("the worker is gone")?;
    let bytes = std::fs::metadata(worker.world().state().join("weir.redb"))?.len();
    Ok(vec![
        Figure::bounded("a page of 100,000 runs", page, "ms", 100.0),
        Figure::bounded("a search of 100,000 runs that finds nothing", none, "ms", 150.0),
        Figure::bounded("a search of 100,000 runs that finds one", few, "ms", 150.0),
        Figure::bounded("a search of 100,000 runs by a status that none has", failed, "ms", 150.0),
        Figure::plain("resident with 100,000 runs", f64::from(u32::try_from(kib)?) / 1024.0, "MiB"),
        Figure::plain("the store of 100,000 runs", f64::from(u32::try_from(bytes / 1024)?) / 1024.0, "MiB"),
    ])
}

/// Runs of one quick step each, with a goal of their own. As many at once as the queue takes.
fn fill(client: &Client) -> Result<()> {
    let mut started = 0;
    while started < RUNS {
        let workflows: Vec<Value> = (started..started + BATCH).map(one_step).collect();
        let body = json!({ "workflows": workflows, "config": { "permissionMode": "full-access" } });
        let answer = client.post("/api/agent/batch", &body)?;
        match answer.status {
            202 => started += BATCH,
            // The queue is full: those before have to end first.
            429 => std::thread::sleep(Duration::from_millis(2)),
            _ => anyhow::bail!("{answer:?}"),
        }
    }
    loop {
        let page = client.runs("status=executing&limit=1")?;
        let queued = client.runs("status=queued&limit=1")?;
        if page.runs.is_empty() && queued.runs.is_empty() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn one_step(number: usize) -> Value {
    let step = json!({ "index": 0, "toolName": "json_format", "args": { "json": number, "indent": 0 } });
    json!({ "goal": format!("Report number-{number} of the day"), "steps": [step] })
}

fn measured(client: &Client, query: &str) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        times.push(timed(|| {
            let page = client.runs(query)?;
            ensure!(page.runs.len() <= 50);
            Ok(())
        })?);
    }
    Ok(median::of(times))
}
