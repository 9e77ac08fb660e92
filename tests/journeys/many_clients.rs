//! A thousand clients follow one run over lines that are cut again and again: each sees every event once and in order,
//! and the worker gives back what they cost.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_tests::crowd::{Crowd, Lines, Seen, afterwards};
use weir_tests::flows::{command_step, plan};
use weir_tests::processes;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::Worker;

const CLIENTS: usize = 1_000;
const STEPS: usize = 40;
/// What a thousand clients may cost in KiB, at most: their connections' buffers, each of which may hold a request's
/// head, and a backlog of frames that they share.
const MEMORY_KIB: u64 = 128 * 1024;
/// Descriptors of the worker that may come and go by themselves.
const DESCRIPTORS: usize = 8;

/// A gate, so that everybody can come before anything happens; then a chain of quick steps.
fn waiting_plan() -> Value {
    let quick = |index: usize| {
        let args = json!({ "json": { "step": index }, "indent": 0 });
        json!({ "index": index, "toolName": "json_format", "args": args, "dependsOn": [index - 1] })
    };
    let mut first = command_step(0, "echo first", &[]);
    first["requiresApproval"] = json!(true);
    plan(&std::iter::once(first).chain((1..STEPS).map(quick)).collect::<Vec<_>>())
}

#[test]
fn a_thousand_clients_with_cut_lines_see_every_event_once() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let run = client.run_plan_as(&waiting_plan(), &json!({}))?;
    client.follow(&run)?.until("step_approval_requested", |_| true)?;
    let (kib, _) = processes::memory_and_ticks(worker.pid()).context("the worker is gone")?;
    let descriptors = processes::descriptors(worker.pid());

    let crowd = Crowd::gather(&client, &run, CLIENTS, Lines::Cut)?;
    let approved = client.approve(&run, &json!({}))?;
    ensure!(approved.status == 202, "{approved:?}");
    let seen = crowd.seen()?;

    let journal = afterwards(&client, &run)?;
    ensure!(journal.ids.len() > 2 * STEPS, "{} events are few for {STEPS} steps", journal.ids.len());
    ensure!(journal.ids == (1..=journal.ids.len() as u64).collect::<Vec<_>>(), "{:?}", journal.ids);
    for (number, Seen { ids, digest, connections }) in seen.iter().enumerate() {
        ensure!(*ids == journal.ids, "client {number} saw {ids:?}, over {connections} connections");
        ensure!(*digest == journal.digest, "client {number} saw other events than the journal holds");
    }
    let connections: usize = seen.iter().map(|seen| seen.connections).sum();
    ensure!(connections > 2 * CLIENTS, "{connections} connections are few for lines that were cut");

    let most = processes::most_memory(worker.pid()).context("the worker is gone")?;
    ensure!(most < kib + MEMORY_KIB, "{CLIENTS} clients took the worker from {kib} to {most} KiB");
    until("the worker to give the connections back", PATIENCE, || {
        (processes::descriptors(worker.pid()) <= descriptors + DESCRIPTORS).then_some(())
    })?;
    Ok(())
}
