//! `weir list`: the flows of the running worker.

use clap::Args;
use weir_shared::wire::FlowSummary;

use super::connect::Worker;
use super::exit::Exit;
use super::{Done, Place, output};

/// List the flows of the running worker
#[derive(Debug, Args)]
pub(super) struct List {
    /// Print what the API answers, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl List {
    pub(super) fn execute(self) -> Done {
        let flows: Vec<FlowSummary> = Worker::find(&self.place.config()?)?.get("/api/workflows")?;
        if self.json {
            output::data(&output::json_line(&flows)?)?;
            return Ok(Exit::Done);
        }
        let rows: Vec<[String; 6]> = flows.into_iter().map(row).collect();
        output::data(&output::table(["FLOW", "NAME", "STEPS", "FINDINGS", "PUBLISHED", "LAST RUN"], &rows))?;
        Ok(Exit::Done)
    }
}

fn row(flow: FlowSummary) -> [String; 6] {
    let findings = match (flow.findings.errors, flow.findings.warnings) {
        (0, 0) => "-".to_owned(),
        (0, warnings) => format!("{warnings} warnings"),
        (errors, 0) => format!("{errors} errors"),
        (errors, warnings) => format!("{errors} errors, {warnings} warnings"),
    };
    let last =
        flow.last_run.map_or_else(|| "-".to_owned(), |run| format!("{} {}", run.status.as_str(), run.created_at));
    let published = match (flow.published_version, flow.has_unpublished_changes) {
        (Some(number), false) => number.to_string(),
        (Some(number), true) => format!("{number}, changed since"),
        (None, _) => "-".to_owned(),
    };
    [flow.id.to_string(), flow.name, flow.step_count.to_string(), findings, published, last]
}
