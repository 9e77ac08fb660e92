//! Stories through the store's own door: what is acknowledged stays, what is refused changes nothing.

mod care;
mod claims;
mod faults;
pub(crate) mod faulty_disk;
mod history;
mod journal;
mod opening;
mod plugins;
mod sessions;

use std::sync::Arc;

use serde_json::json;
use weir_shared::ids::{FlowId, Owner, RunId, Seq, TaskId, Timestamp};
use weir_shared::run::event::{Cause, Event, Recorded, RunConfig, RunCreated, SandboxPosture};
use weir_shared::run::state::RunStatus;
use weir_shared::wire::RunRow;

use super::Store;

/// A store in a directory that goes with the test.
struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("weir.redb")
    }

    fn open(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }
}

/// The `n`th run: ids sort by `n`.
pub(crate) fn run(n: u32) -> RunId {
    format!("01890a5d-ac96-774b-bcce-0000{n:08x}").parse().unwrap()
}

pub(crate) fn row(n: u32) -> RunRow {
    let id = run(n);
    RunRow {
        task_id: id.as_str().parse::<TaskId>().unwrap(),
        run_id: id,
        flow_id: None,
        goal: format!("Goal {n}"),
        status: RunStatus::Queued,
        priority: None,
        cause: Cause::Manual,
        owner: "local".to_owned(),
        summary: None,
        error: None,
        resumed_from: None,
        created_at: Timestamp(1_000 * i64::from(n)),
        started_at: None,
        completed_at: None,
        duration_ms: None,
        cancel_requested: false,
    }
}

pub(crate) fn created(n: u32) -> Recorded {
    let row = row(n);
    let event = Event::RunCreated(Box::new(RunCreated {
        run_id: row.run_id.clone(),
        root_run_id: row.run_id,
        task_id: row.task_id,
        flow_id: None,
        flow_revision: None,
        priority: None,
        cause: row.cause,
        owner: Owner::local(),
        goal: row.goal,
        inputs: serde_json::Map::new(),
        input_marks: std::collections::BTreeMap::new(),
        config: RunConfig::default(),
        sandbox: SandboxPosture::Off,
        resumed_from: None,
    }));
    Recorded { seq: Seq(1), ts: row.created_at, event }
}

/// Some event at this place.
fn event(seq: u64) -> Recorded {
    let event = Event::Complete { summary: format!("event {seq}"), result: Arc::new(json!({ "n": seq })) };
    Recorded { seq: Seq(seq), ts: Timestamp(i64::try_from(seq).unwrap()), event }
}

fn flow(id: &str) -> FlowId {
    id.parse().unwrap()
}
