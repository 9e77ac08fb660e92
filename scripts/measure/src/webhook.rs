//! A call of a webhook whose flow has one process step, to the answer that holds its result; beside what it cannot do
//! without: one spawn-and-wait of the same command and three durable commits. And how many such calls sixteen senders
//! get answered in a second, beside bare spawns from sixteen threads.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_shared::webhook::{SECRET_HEADER, TriggerSecret};
use weir_tests::client::{Client, Request};
use weir_tests::flows::one_command_flow;
use weir_tests::worker::Worker;

use crate::chain::{commit, open, spawn_and_wait};
use crate::median::{self, timed};
use crate::table::Figure;

/// Calls one after another.
const CALLS: usize = 1_000;
/// Calls, and bare spawns, of each of those at once.
const EACH: usize = 100;
const SENDERS: usize = 16;
const ROUNDS: usize = 5;
/// Commits that an answer waits for: the run, its start, its end.
const COMMITS: f64 = 3.0;

pub(crate) fn measure() -> Result<Vec<Figure>> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    client.publish_flow("hooked", &one_command_flow("Hooked", "/bin/true"))?;
    let body = json!({ "workflowId": "hooked", "permissionMode": "full-access", "rateLimit": null });
    let hook: TriggerSecret = client.post("/api/agent/webhook-triggers", &body)?.having(201)?;
    let store = open(&worker.world().path("beside.redb"))?;

    let sender = Client::anonymous(worker.address());
    let (mut calls, mut spawns, mut commits) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..CALLS {
        calls.push(timed(|| call(&sender, &hook))?);
        spawns.push(timed(spawn_and_wait)?);
        commits.push(timed(|| commit(&store, turn as u64))?);
    }
    let (mut answered, mut spawned) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        answered.push(at_once(|| {
            let sender = Client::anonymous(worker.address());
            (0..EACH).try_for_each(|_| call(&sender, &hook))
        })?);
        spawned.push(at_once(|| (0..EACH).try_for_each(|_| spawn_and_wait()))?);
    }
    let slowest = percentile(&calls, 99);
    let (call, spawn, commit) = (median::of(calls), median::of(spawns), median::of(commits));
    let (answered, spawned) = (median::number(answered), median::number(spawned));
    Ok(vec![
        Figure::plain("a webhook's call to the result of one process step, p50", call, "ms"),
        Figure::plain("the same, p99", slowest, "ms"),
        Figure::bounded("p50 beyond one spawn and three commits", call - spawn - COMMITS * commit, "ms", 1.0),
        Figure::plain("calls answered a second, 16 senders", answered, "1/s"),
        Figure::plain("bare spawns a second, 16 threads", spawned, "1/s"),
        Figure::bounded("bare spawns for each call answered", spawned / answered, "times", 2.0),
    ])
}

fn call(sender: &Client, hook: &TriggerSecret) -> Result<()> {
    let path = format!("{}?wait=60", hook.trigger.path);
    let secret = hook.secret.as_deref().context("a webhook without a secret")?;
    let headers = [(SECRET_HEADER, secret), ("content-type", "application/json")];
    let answer = sender.send(&Request { method: "POST", path: &path, headers: &headers, body: Some(b"{}") })?;
    let told: Value = answer.having(200)?;
    ensure!(told["status"] == "completed", "{told}");
    Ok(())
}

/// How many a second, when so many do this at once.
fn at_once(work: impl Fn() -> Result<()> + Sync) -> Result<f64> {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..SENDERS).map(|_| scope.spawn(&work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?)
    })?;
    let done = f64::from(u32::try_from(SENDERS * EACH)?);
    Ok(done / begun.elapsed().as_secs_f64())
}

/// In milliseconds.
fn percentile(times: &[Duration], percent: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() * percent / 100).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}
