//! A thousand clients that follow one run: how long its events take to reach all of them, and what they cost.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_tests::client::full_access;
use weir_tests::crowd::{Crowd, Lines};
use weir_tests::flows::{command_step, plan};
use weir_tests::processes;
use weir_tests::worker::Worker;

use crate::median;
use crate::table::Figure;

const CLIENTS: usize = 1_000;
const STEPS: usize = 40;
const ROUNDS: usize = 3;

pub(crate) fn measure() -> Result<Vec<Figure>> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let (mut alone, mut crowded, mut cut) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(followed(&worker, 1, Lines::Whole)?.0);
        crowded.push(followed(&worker, CLIENTS, Lines::Whole)?);
        cut.push(followed(&worker, CLIENTS, Lines::Cut)?.0);
    }
    let events = crowded.iter().map(|(_, events)| *events).max().unwrap_or_default();
    let alone = median::of(alone);
    let all = median::of(crowded.into_iter().map(|(took, _)| took).collect());
    let delivered = f64::from(u32::try_from(events * CLIENTS)?) / (all / 1000.0);
    let most = processes::most_memory(worker.pid()).context("the worker is gone")?;
    client.runs("limit=1")?;
    Ok(vec![
        Figure::plain("a run of 40 quick steps with one client", alone, "ms"),
        Figure::plain("the same until 1,000 clients have seen its end", all, "ms"),
        Figure::plain("events brought to clients", delivered, "1/s"),
        Figure::plain("the same with lines that are cut", median::of(cut), "ms"),
        Figure::plain("most memory with 1,000 clients", f64::from(u32::try_from(most)?) / 1024.0, "MiB"),
    ])
}

/// From the approval that lets the run go on until every client has its last event; and how many events there were.
fn followed(worker: &Worker, clients: usize, lines: Lines) -> Result<(Duration, usize)> {
    let client = worker.client()?;
    let mut config = full_access();
    config["permissionMode"] = json!("ask-for-approval");
    let run = client.run_plan_as(&waiting_plan(), &config)?;
    client.follow(&run)?.until("step_approval_requested", |_| true)?;
    let crowd = Crowd::gather(&client, &run, clients, lines)?;
    let begun = Instant::now();
    let approved = client.approve(&run, &json!({}))?;
    ensure!(approved.status == 202, "{approved:?}");
    let seen = crowd.seen()?;
    let took = begun.elapsed();
    let events = seen.first().map(|seen| seen.ids.len()).unwrap_or_default();
    ensure!(seen.iter().all(|one| one.ids.len() == events), "somebody missed an event");
    Ok((took, events))
}

/// A gate, so that everybody can come before anything happens; then a chain of quick steps.
fn waiting_plan() -> Value {
    let quick = |index: usize| {
        let args = json!({ "json": { "step": index }, "indent": 0 });
        json!({ "index": index, "toolName": "json_format", "args": args, "dependsOn": [index - 1] })
    };
    let mut first = command_step(0, "true", &[]);
    first["requiresApproval"] = json!(true);
    plan(&std::iter::once(first).chain((1..STEPS).map(quick)).collect::<Vec<_>>())
}
