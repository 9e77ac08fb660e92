//! What differs between two flows, in the terms of someone who reads a flow: nodes, edges, notes, and the flow's own
//! settings. Places on the canvas count too, apart from the rest.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::flow::{Edge, Flow, Node};

/// What became of something on the way from one flow to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Change {
    Added,
    Removed,
    Changed,
}

/// A node that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NodeDiff {
    pub id: String,
    pub change: Change,
    /// Of a changed one: the keys that differ, an argument as `args.<name>`.
    pub fields: Vec<String>,
}

/// An edge that is in one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EdgeDiff {
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    pub target: String,
    pub change: Change,
}

/// What differs between two flows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FlowDiff {
    /// In the order of the later flow, removed ones last.
    pub nodes: Vec<NodeDiff>,
    pub edges: Vec<EdgeDiff>,
    /// The flow's own keys that differ, such as `inputs`, `notes` or `schedules`.
    pub settings: Vec<String>,
    /// Whether only places on the canvas differ beside these.
    pub layout: bool,
}

/// The difference from one flow to another.
pub fn diff(from: &Flow, to: &Flow) -> FlowDiff {
    let (before, after) = (keys(from), keys(to));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let apart = ["nodes", "edges", "layout"];
    let settings = names
        .into_iter()
        .filter(|name| !apart.contains(&name.as_str()) && before.get(*name) != after.get(*name))
        .cloned()
        .collect();
    FlowDiff {
        nodes: nodes(from, to),
        edges: edges(from, to),
        settings,
        layout: before.get("layout") != after.get("layout"),
    }
}

fn nodes(from: &Flow, to: &Flow) -> Vec<NodeDiff> {
    let before: BTreeMap<&str, &Node> = from.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let after: BTreeSet<&str> = to.nodes.iter().map(|node| node.id.as_str()).collect();
    let mut found = Vec::new();
    for node in &to.nodes {
        match before.get(node.id.as_str()) {
            None => found.push(NodeDiff { id: node.id.clone(), change: Change::Added, fields: Vec::new() }),
            Some(same) if *same == node => {}
            Some(other) => {
                found.push(NodeDiff { id: node.id.clone(), change: Change::Changed, fields: fields(other, node) });
            }
        }
    }
    let removed = from.nodes.iter().filter(|node| !after.contains(node.id.as_str()));
    found.extend(removed.map(|node| NodeDiff { id: node.id.clone(), change: Change::Removed, fields: Vec::new() }));
    found
}

/// The keys of a node that differ.
fn fields(before: &Node, after: &Node) -> Vec<String> {
    let (before, after) = (keys(before), keys(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut fields = Vec::new();
    for name in names.into_iter().filter(|name| before.get(*name) != after.get(*name)) {
        let object = |keys: &Map<String, Value>| keys.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        if name == "args" {
            let (before, after) = (object(&before), object(&after));
            let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            let differing = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
            fields.extend(differing.map(|name| format!("args.{name}")));
        } else {
            fields.push(name.clone());
        }
    }
    fields
}

fn edges(from: &Flow, to: &Flow) -> Vec<EdgeDiff> {
    let only_in = |here: &Flow, there: &Flow, change: Change| -> Vec<EdgeDiff> {
        let is_there = |edge: &Edge| {
            there
                .edges
                .iter()
                .any(|other| (&other.source, &other.port, &other.target) == (&edge.source, &edge.port, &edge.target))
        };
        let only = here.edges.iter().filter(|edge| !is_there(edge));
        only.map(|edge| EdgeDiff {
            source: edge.source.clone(),
            port: edge.port.clone(),
            target: edge.target.clone(),
            change,
        })
        .collect()
    };
    let mut found = only_in(to, from, Change::Added);
    found.extend(only_in(from, to, Change::Removed));
    found
}

/// A value's members; none of a value that is no object.
fn keys(of: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(members)) => members,
        Ok(_) | Err(_) => Map::new(),
    }
}
