//! Names, sizes, and the numbers that nodes and the flow itself carry.

use serde_json::{Value, json};

use super::ground::Ground;
use crate::finding::Code;
use crate::flow::Node;
use crate::found::Found;
use crate::ids::NodeId;
use crate::limits::{
    EDGES, JSON_DEPTH, MAX_ATTEMPTS, MAX_BACKOFF_MS, MAX_GRACE_SECONDS, MAX_TIMEOUT_SECONDS, NAME_CHARS,
    NODES_AND_NOTES,
};
use crate::pointer::Pointer;

/// Levels of nesting in one argument, pin or input schema. A plan wraps them in further levels on its way through the
/// journal and the API, and all of it has to stay within what a JSON reader accepts.
const VALUE_DEPTH: usize = JSON_DEPTH - 32;

pub(super) fn names(ground: &Ground<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    let characters = ground.flow.name.trim().chars().count();
    if !(1..=NAME_CHARS).contains(&characters) {
        let params = json!({ "characters": characters, "most": NAME_CHARS });
        found.push(Found::new(Code::BadName, Pointer::root().key("name"), params));
    }
    for (at, (node, pointer)) in ground.nodes().enumerate() {
        let pointer = pointer.key("id");
        if node.id.parse::<NodeId>().is_err() {
            found.push(Found::new(Code::BadNodeId, &pointer, json!({ "id": node.id })));
        }
        if ground.positions.get(node.id.as_str()) != Some(&at) {
            found.push(Found::new(Code::DuplicateNode, &pointer, json!({ "id": node.id })));
        }
    }
    found
}

pub(super) fn sizes(ground: &Ground<'_>) -> Vec<Found> {
    let flow = ground.flow;
    let nodes = Pointer::root().key("nodes");
    let mut found = Vec::new();
    if flow.nodes.is_empty() {
        found.push(Found::new(Code::EmptyFlow, &nodes, json!({})));
    }
    let most = ground.around.limits.flow_steps;
    if flow.nodes.len() > most {
        let params = json!({ "given": flow.nodes.len(), "most": most });
        found.push(Found::new(Code::TooManySteps, &nodes, params));
    }
    let mut too_large = |pointer: &Pointer, what: &str, given: usize, most: usize| {
        if given > most {
            let params = json!({ "what": what, "given": given, "most": most });
            found.push(Found::new(Code::TooLarge, pointer, params));
        }
    };
    // A setting that allows more steps than there may be nodes raises this bound with it.
    too_large(&nodes, "nodes and notes", flow.nodes.len() + flow.notes.len(), NODES_AND_NOTES.max(most));
    too_large(&Pointer::root().key("edges"), "edges", flow.edges.len(), EDGES.max(2 * most));
    let levels = "levels of nesting";
    if let Some(inputs) = &flow.inputs {
        too_large(&Pointer::root().key("inputs"), levels, depth(inputs), VALUE_DEPTH);
    }
    for (id, pin) in &flow.pins {
        too_large(&Pointer::root().key("pins").key(id), levels, depth(pin), VALUE_DEPTH);
    }
    for (node, pointer) in ground.nodes() {
        for (name, value) in node.args.iter().flatten() {
            let given = depth(value);
            if given > VALUE_DEPTH {
                too_large(&pointer.key("args").key(name), levels, given, VALUE_DEPTH);
            }
        }
    }
    found
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

pub(super) fn numbers(ground: &Ground<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = ground.nodes().flat_map(|(node, pointer)| node_numbers(node, &pointer)).collect();
    if let Some(concurrency) = &ground.flow.concurrency {
        let pointer = Pointer::root().key("concurrency");
        if concurrency.limit < 1 {
            let params = json!({ "given": concurrency.limit });
            found.push(Found::new(Code::BadConcurrency, pointer.key("limit"), params));
        }
    }
    found
}

fn node_numbers(node: &Node, pointer: &Pointer) -> Vec<Found> {
    let mut found = Vec::new();
    if let Some(retry) = &node.retry {
        let at = pointer.key("retry");
        let bounds = [
            ("maxAttempts", retry.max_attempts, 1, u64::from(MAX_ATTEMPTS)),
            ("backoffMs", retry.backoff_ms, 0, MAX_BACKOFF_MS),
        ];
        for (key, given, least, most) in bounds {
            if let Some(given) = given.filter(|given| !(least..=most).contains(given)) {
                let params = json!({ "key": format!("retry.{key}"), "given": given, "least": least, "most": most });
                found.push(Found::new(Code::BadRetry, at.key(key), params));
            }
        }
    }
    if let Some(given) = node.stop.as_ref().and_then(|stop| stop.grace_seconds).filter(|it| *it > MAX_GRACE_SECONDS) {
        let params = json!({ "given": given, "most": MAX_GRACE_SECONDS });
        found.push(Found::new(Code::BadStop, pointer.key("stop").key("graceSeconds"), params));
    }
    if let Some(given) = node.timeout_seconds.filter(|given| !(1..=MAX_TIMEOUT_SECONDS).contains(given)) {
        let params = json!({ "given": given, "most": MAX_TIMEOUT_SECONDS });
        found.push(Found::new(Code::BadTimeout, pointer.key("timeoutSeconds"), params));
    }
    found
}
