//! What a worker costs that has nothing to do: how soon it is ready with 500 flows, what it holds, what it burns.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use weir_tests::flows::{command_node, flow};
use weir_tests::processes;
use weir_tests::worker::{Worker, World};

use crate::median;
use crate::table::Figure;

const FLOWS: usize = 500;
const ROUNDS: usize = 7;
/// How long an idle worker is watched.
const WATCHED: Duration = Duration::from_secs(10);

pub(crate) fn measure() -> Result<Vec<Figure>> {
    let mut ready = Vec::new();
    for _ in 0..ROUNDS {
        let world = world_with_flows()?;
        let started = Instant::now();
        let worker = Worker::start_in(world)?;
        ready.push(started.elapsed());
        drop(worker);
    }
    let worker = Worker::start_in(world_with_flows()?)?;
    std::thread::sleep(Duration::from_secs(1));
    let (_, before) = looked_at(&worker)?;
    std::thread::sleep(WATCHED);
    let (kib, after) = looked_at(&worker)?;
    // A tick is 10 ms on every Linux that Debian builds.
    let burnt = Duration::from_millis(10 * (after - before));
    Ok(vec![
        Figure::bounded("ready after a clean start with 500 flows", median::of(ready), "ms", 150.0),
        Figure::bounded("resident when idle with 500 flows", kib / 1024.0, "MiB", 25.0),
        Figure::bounded("processor time in 10 idle seconds", median::of(vec![burnt]), "ms", 10.0),
    ])
}

fn looked_at(worker: &Worker) -> Result<(f64, u64)> {
    let (kib, ticks) = processes::memory_and_ticks(worker.pid()).context("the worker is gone")?;
    Ok((f64::from(u32::try_from(kib)?), ticks))
}

/// Flows as people write them: a few steps, an input, a reference.
fn world_with_flows() -> Result<World> {
    let world = World::new()?;
    for number in 0..FLOWS {
        let nodes: Vec<Value> =
            (0..8).map(|step| command_node(&format!("step_{step}"), "echo {{inputs.day}}")).collect();
        let ids: Vec<String> = (0..8).map(|step| format!("step_{step}")).collect();
        let edges: Vec<(&str, &str)> = ids.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
        let mut flow = flow(&format!("Flow number {number}"), &nodes, &edges);
        flow["inputs"] =
            json!({ "type": "object", "properties": { "day": { "type": "string", "default": "Monday" } } });
        world.write_flow(&format!("flow-{number}"), &flow)?;
    }
    Ok(world)
}
