//! The journal: events that a second holds when sixteen runs write at once, beside a database of the same make that is
//! given events of the same size in groups; and one run of ten thousand events, run and read.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use redb::Durability;
use serde_json::{Value, json};
use weir_shared::ids::RunId;
use weir_tests::client::Client;
use weir_tests::flows::plan;
use weir_tests::worker::Worker;

use crate::chain::{EVENT_BYTES, JOURNAL, open};
use crate::median::{self, timed};
use crate::table::Figure;

/// Runs at once.
const RUNS: usize = 16;
/// Steps of each.
const STEPS: usize = 100;
const ROUNDS: usize = 5;
/// Events of one commit of the database beside.
const GROUP: usize = 100;
/// Events that it is given.
const BESIDE: usize = 50_000;
/// Steps of the long run: a little over ten thousand events.
const LONG: usize = 3_400;
const LONG_EVENTS: u64 = 10_000;

pub(crate) fn measure() -> Result<Vec<Figure>> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        theirs.push(beside(&worker.world().path(&format!("beside-{round}.redb")))?);
        ours.push(sixteen_runs(&client)?);
    }
    let (ours, theirs) = (median::number(ours), median::number(theirs));
    let (run, took) = long_run(&client)?;
    let read = timed(|| read(&client, &run))?;
    Ok(vec![
        Figure::plain("journal events a second, 16 runs of 100 quick steps", ours, "1/s"),
        Figure::plain("the same of a bare database, groups of 100", theirs, "1/s"),
        Figure::plain("journal, ratio to the bare database", theirs / ours, "times"),
        Figure::plain("a run of 10,000 events, run", median::of(vec![took]), "ms"),
        Figure::plain("a run of 10,000 events, read from its beginning", median::of(vec![read]), "ms"),
    ])
}

/// Steps without a process, each after the one before or all at once.
fn quick_steps(steps: usize, after: impl Fn(usize) -> Vec<usize>) -> Value {
    let step = |index: usize| {
        let args = json!({ "json": { "step": index, "padding": "x".repeat(200) }, "indent": 0 });
        json!({ "index": index, "toolName": "json_format", "args": args, "dependsOn": after(index) })
    };
    plan(&(0..steps).map(step).collect::<Vec<_>>())
}

/// Events a second, from the first request to the last terminal event.
fn sixteen_runs(client: &Client) -> Result<f64> {
    let plan = quick_steps(STEPS, |index| index.checked_sub(1).into_iter().collect());
    let begun = Instant::now();
    let runs: Vec<RunId> = (0..RUNS).map(|_| client.run_plan(&plan)).collect::<Result<_>>()?;
    let mut events = 0;
    for run in &runs {
        events += events_of(client, run)?;
    }
    Ok(per_second(events, begun))
}

fn events_of(client: &Client, run: &RunId) -> Result<u64> {
    let frames = client.follow(run)?.to_end()?;
    let last = frames.last().context("no event came")?;
    ensure!(last.event == "complete", "{last:?}");
    last.id.context("a terminal event without an id")
}

/// Events a second of a bare database that is given them in groups, each durable before the next.
fn beside(path: &Path) -> Result<f64> {
    let store = open(path)?;
    let begun = Instant::now();
    for group in 0..BESIDE / GROUP {
        let mut write = store.begin_write()?;
        write.set_durability(Durability::Immediate)?;
        {
            let mut table = write.open_table(JOURNAL)?;
            for event in 0..GROUP {
                table.insert((group * GROUP + event) as u64, [7; EVENT_BYTES].as_slice())?;
            }
        }
        write.commit()?;
    }
    Ok(per_second(BESIDE as u64, begun))
}

fn per_second(events: u64, begun: Instant) -> f64 {
    f64::from(u32::try_from(events).unwrap_or(u32::MAX)) / begun.elapsed().as_secs_f64()
}

fn long_run(client: &Client) -> Result<(RunId, std::time::Duration)> {
    let plan = quick_steps(LONG, |_| Vec::new());
    let begun = Instant::now();
    let run = client.run_plan(&plan)?;
    let events = events_of(client, &run)?;
    ensure!(events >= LONG_EVENTS, "{events} events are few");
    Ok((run, begun.elapsed()))
}

fn read(client: &Client, run: &RunId) -> Result<()> {
    ensure!(events_of(client, run)? >= LONG_EVENTS);
    Ok(())
}
