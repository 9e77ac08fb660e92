//! A plan of 64 steps one after another, beside what a step cannot do without: one spawn-and-wait of the same command,
//! and one durable commit on the same file system.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use redb::{Database, Durability, TableDefinition};
use serde_json::Value;
use weir_tests::flows::{command_step, plan};
use weir_tests::worker::Worker;

use crate::median::{self, timed};
use crate::table::Figure;

const STEPS: usize = 64;
const ROUNDS: usize = 9;
/// About what a step adds to the journal.
pub(crate) const EVENT_BYTES: usize = 600;
pub(crate) const JOURNAL: TableDefinition<u64, &[u8]> = TableDefinition::new("journal");

pub(crate) fn measure() -> Result<Vec<Figure>> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let steps: Vec<Value> = (0..STEPS)
        .map(|index| {
            let after: Vec<usize> = index.checked_sub(1).into_iter().collect();
            command_step(index, "/bin/true", &after)
        })
        .collect();
    let plan = plan(&steps);
    let store = open(&worker.world().path("beside.redb"))?;

    let (mut chains, mut spawns, mut commits) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        for step in 0..STEPS {
            spawns.push(timed(spawn_and_wait)?);
            commits.push(timed(|| commit(&store, (round * STEPS + step) as u64))?);
        }
        chains.push(timed(|| {
            let run = client.run_plan(&plan)?;
            let frames = client.follow(&run)?.to_end()?;
            ensure!(frames.last().context("no event came")?.event == "complete");
            Ok(())
        })?);
    }
    let steps = 64.0;
    let (step, spawn, commit) = (median::of(chains) / steps, median::of(spawns), median::of(commits));
    Ok(vec![
        Figure::plain("a step of a chain of 64, Weir", step, "ms"),
        Figure::plain("a bare spawn-and-wait of the same command", spawn, "ms"),
        Figure::plain("a bare durable commit", commit, "ms"),
        Figure::bounded("a step beyond one spawn and one commit", step - spawn - commit, "ms", 0.5),
    ])
}

pub(crate) fn spawn_and_wait() -> Result<()> {
    let status = Command::new("/bin/sh")
        .args(["-c", "/bin/true"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?
        .wait()?;
    ensure!(status.success());
    Ok(())
}

/// A database with the settings of the worker's store.
pub(crate) fn open(path: &Path) -> Result<Database> {
    const CACHE_BYTES: usize = 8 * 1024 * 1024;
    Ok(Database::builder().set_cache_size(CACHE_BYTES).create(path)?)
}

pub(crate) fn commit(store: &Database, key: u64) -> Result<()> {
    let mut write = store.begin_write()?;
    write.set_durability(Durability::Immediate)?;
    write.open_table(JOURNAL)?.insert(key, [7; EVENT_BYTES].as_slice())?;
    write.commit()?;
    Ok(())
}
