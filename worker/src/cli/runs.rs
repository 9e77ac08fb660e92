//! `weir runs`: the newest runs of the running worker.

use clap::Args;
use weir_shared::ids::FlowId;
use weir_shared::wire::{RunPage, RunRow};

use super::connect::Worker;
use super::exit::Exit;
use super::{Done, Place, output};

/// List the newest runs
#[derive(Debug, Args)]
pub(super) struct Runs {
    /// Only runs of this flow
    #[arg(long)]
    flow: Option<FlowId>,
    /// Only runs with this status: queued, executing, completed, failed, cancelled, …
    #[arg(long, value_parser = status)]
    status: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
    /// Print what the API answers, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

fn status(text: &str) -> Result<String, String> {
    use weir_shared::run::state::RunStatus;
    let known = RunStatus::ALL.map(RunStatus::as_str);
    if known.contains(&text) { Ok(text.to_owned()) } else { Err(format!("known are: {}", known.join(", "))) }
}

impl Runs {
    pub(super) fn execute(self) -> Done {
        let mut path = format!("/api/agent/runs?limit={}", self.limit);
        if let Some(flow) = &self.flow {
            path = format!("{path}&flow={flow}");
        }
        if let Some(status) = &self.status {
            path = format!("{path}&status={status}");
        }
        let page: RunPage = Worker::find(&self.place.config()?)?.get(&path)?;
        if self.json {
            output::data(&output::json_line(&page)?)?;
            return Ok(Exit::Done);
        }
        let rows: Vec<[String; 6]> = page.runs.into_iter().map(row).collect();
        output::data(&output::table(["RUN", "FLOW", "STATUS", "CAUSE", "CREATED", "TOOK"], &rows))?;
        Ok(Exit::Done)
    }
}

fn row(run: RunRow) -> [String; 6] {
    let cause = serde_json::to_value(run.cause).ok().and_then(|cause| cause.as_str().map(str::to_owned));
    [
        run.run_id.to_string(),
        run.flow_id.map_or_else(|| "-".to_owned(), |flow| flow.to_string()),
        run.status.as_str().to_owned(),
        cause.unwrap_or_default(),
        run.created_at.to_string(),
        run.duration_ms.map_or_else(|| "-".to_owned(), output::took),
    ]
}
