//! Every rule about flows and plans: what a flow must be to run, and what its author should know.
//!
//! One function for page, worker and command line, so all of them say the same. All findings, never just the first.
//! Nothing here changes the flow.
//!
//! - `ground`: what rules look at: the flow, its texts taken apart, and the surroundings
//! - `settings`: names, sizes, and the numbers of nodes and of the flow
//! - `schedule`: schedules as far as they can be judged without a clock
//! - `tools`: is the tool there, trusted, and safe to repeat
//! - `arguments`: arguments against the tool's schema · `languages`: those that are expressions or templates as a whole
//! - `references`: what references name and yield
//! - `commands`: references in shell commands
//! - `edges`: edges one by one · `order`: cycles and roots
//! - `inputs`: the input schema · `pins`: pinned values
//! - `plan`: plans from anywhere

mod arguments;
mod commands;
mod edges;
mod ground;
mod inputs;
mod languages;
mod order;
mod pins;
mod plan;
mod references;
mod schedule;
mod settings;
mod tools;
mod yields;

pub use plan::{PlanRules, check_plan, read_plan};

use std::collections::BTreeSet;

use serde_json::json;

use crate::canonical;
use crate::compile::compile;
use crate::finding::{Code, Finding};
use crate::flow::Flow;
use crate::found::locate;
use crate::limits::Limits;
use crate::plan::Plan;
use crate::read::read;
use crate::tool::Catalog;
use ground::Ground;

/// What a flow is checked against.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    pub catalog: &'a Catalog,
    pub limits: &'a Limits,
    /// Names of this machine's secrets. `None`: unknown, so an unknown one is not reported.
    pub secrets: Option<&'a BTreeSet<String>>,
}

/// What is known about a text or flow after the check.
#[derive(Debug, Clone)]
pub struct CheckedText {
    /// Present when the text is readable.
    pub flow: Option<Flow>,
    /// In the order of the text.
    pub findings: Vec<Finding>,
    /// Present when no finding is an error.
    pub plan: Option<Plan>,
    /// Present when the flow may be saved.
    pub canonical: Option<String>,
}

/// Checks the text of a flow file. Positions are in this text.
pub fn check_text(bytes: &[u8], around: &Surroundings<'_>) -> CheckedText {
    let reading = read(bytes);
    let is_writable = reading.is_writable();
    let Some(flow) = reading.flow.as_ref().filter(|_| is_writable) else {
        return CheckedText { flow: reading.flow, findings: reading.findings, plan: None, canonical: None };
    };
    let ids: Vec<String> = flow.nodes.iter().map(|node| node.id.clone()).collect();
    let findings = locate(find(flow, around), &reading.spans, &ids);
    let plan = if findings.iter().any(Finding::is_error) { None } else { compile(flow, around.catalog).ok() };
    let canonical = canonical::print(flow);
    CheckedText { flow: reading.flow, findings, plan, canonical: Some(canonical) }
}

/// Checks a flow that has no text yet. Positions are in its canonical text.
pub fn check_flow(flow: &Flow, around: &Surroundings<'_>) -> CheckedText {
    check_text(canonical::print(flow).as_bytes(), around)
}

/// The finding of a file whose stem is no flow id.
pub fn bad_flow_id(stem: &str) -> Finding {
    Finding::new(Code::BadFlowId, json!({ "id": stem }))
}

fn find(flow: &Flow, around: &Surroundings<'_>) -> Vec<crate::found::Found> {
    let ground = Ground::new(flow, around);
    let rules: [fn(&Ground<'_>) -> Vec<crate::found::Found>; 13] = [
        settings::names,
        settings::sizes,
        settings::numbers,
        schedule::schedules,
        tools::tools,
        arguments::arguments,
        languages::languages,
        references::references,
        commands::commands,
        edges::edges,
        order::order,
        inputs::inputs,
        pins::pins,
    ];
    rules.into_iter().flat_map(|rule| rule(&ground)).collect()
}
