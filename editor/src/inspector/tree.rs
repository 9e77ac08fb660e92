//! The values a field of a node may refer to: the flow's inputs, and what other nodes give and were given.
//!
//! A node that waits for this one can give it nothing, so it and all after it are left out; any other node can, and
//! choosing it draws the edge. A row whose type cannot fit stays visible, with the reason.

use std::collections::BTreeSet;

use serde_json::Value;
use weir_shared::flow::{Flow, Node};
use weir_shared::tool::{Catalog, OutputField, ToolDeclaration};

use crate::form::schema::{data_type, plain};
use crate::model::connect::{leads_to, upstream};

/// Values of one origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    pub title: String,
    /// The node they come from; absent for the flow's inputs and the run's facts.
    pub node: Option<String>,
    /// Whether the node already comes before this one.
    pub connected: bool,
    pub leaves: Vec<Leaf>,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Levels within its branch, from 0.
    pub depth: usize,
    pub label: String,
    pub data_type: String,
    /// What stands between the braces.
    pub path: String,
    /// A declared example, on one line.
    pub sample: String,
    /// Why it cannot stand in this field.
    pub refusal: Option<String>,
}

/// Levels of objects that are opened; deeper values are still reached by typing.
const DEEPEST: usize = 4;

/// Everything the node `id` may refer to, for a value of type `wanted` (`any` takes all).
pub fn branches(flow: &Flow, catalog: &Catalog, id: &str, wanted: &str) -> Vec<Branch> {
    let mut out = Vec::new();
    let inputs = flow.inputs.as_ref().map(|schema| properties(schema, "inputs", 0, wanted)).unwrap_or_default();
    if !inputs.is_empty() {
        out.push(Branch { title: "Inputs".to_owned(), node: None, connected: true, leaves: inputs });
    }
    let before: BTreeSet<&str> = upstream(flow, id);
    let (connected, others): (Vec<&Node>, Vec<&Node>) = flow
        .nodes
        .iter()
        .filter(|node| node.id != id && !leads_to(flow, id, &node.id))
        .partition(|node| before.contains(node.id.as_str()));
    for (nodes, connected) in [(connected, true), (others, false)] {
        for node in nodes {
            let leaves = of_node(node, catalog.get(&node.tool), wanted);
            out.push(Branch { title: node.label().to_owned(), node: Some(node.id.clone()), connected, leaves });
        }
    }
    let facts = ["run.id", "run.startedAt", "flow.id", "flow.revision"];
    let leaves = facts.map(|path| leaf(0, path, "string", path.to_owned(), None, wanted)).to_vec();
    out.push(Branch { title: "This run".to_owned(), node: None, connected: true, leaves });
    out
}

/// The rows that match a search, with the branches they stand in.
pub fn matching(branches: &[Branch], search: &str) -> Vec<Branch> {
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    let mut out = Vec::new();
    for branch in branches {
        let of_branch = branch.title.to_lowercase();
        let leaves: Vec<Leaf> = branch
            .leaves
            .iter()
            .filter(|leaf| {
                let text = format!("{of_branch} {} {}", leaf.path.to_lowercase(), leaf.label.to_lowercase());
                words.iter().all(|word| text.contains(word))
            })
            .cloned()
            .collect();
        if !leaves.is_empty() {
            out.push(Branch { leaves, ..branch.clone() });
        }
    }
    out
}

/// What a declared value looks like, and where in the result it stands.
pub fn outputs(tool: &ToolDeclaration, root: &str) -> Vec<Leaf> {
    let declared = tool.node.as_ref().map(|display| display.outputs.as_slice()).unwrap_or_default();
    if declared.is_empty() {
        return tool.output_schema.as_ref().map(|schema| properties(schema, root, 0, "any")).unwrap_or_default();
    }
    let mut leaves = Vec::new();
    for field in declared {
        field_leaves(field, root, 0, "any", &mut leaves);
    }
    leaves
}

fn of_node(node: &Node, tool: Option<&ToolDeclaration>, wanted: &str) -> Vec<Leaf> {
    let root = format!("node.{}.result", node.id);
    let mut leaves: Vec<Leaf> = tool.map(|tool| outputs(tool, &root)).unwrap_or_default();
    for leaf in &mut leaves {
        leaf.refusal = refusal(wanted, &leaf.data_type);
    }
    leaves.push(leaf(0, "whole result", if leaves.is_empty() { "any" } else { "object" }, root, None, wanted));
    for (name, value) in node.args.iter().flatten() {
        let declared = tool.and_then(|tool| tool.argument_schema(name)).map_or_else(|| "any".to_owned(), data_type);
        if let Some(path) = step(&format!("node.{}.input", node.id), name) {
            leaves.push(leaf(0, &format!("input {name}"), &declared, path, Some(value), wanted));
        }
    }
    leaves
}

fn field_leaves(field: &OutputField, root: &str, depth: usize, wanted: &str, out: &mut Vec<Leaf>) {
    let Some(path) = step(root, &field.name) else { return };
    let data_type = if field.data_type.is_empty() { "any" } else { &field.data_type };
    let label = field.title.as_deref().filter(|title| !title.eq_ignore_ascii_case(&field.name));
    let label = label.map_or_else(|| field.name.clone(), |title| format!("{} ({title})", field.name));
    out.push(leaf(depth, &label, data_type, path.clone(), field.examples.first(), wanted));
    if depth + 1 >= DEEPEST {
        return;
    }
    for inner in &field.properties {
        field_leaves(inner, &path, depth + 1, wanted, out);
    }
    if let Some(items) = &field.items {
        let first = OutputField { name: String::new(), ..(**items).clone() };
        let path = format!("{path}[0]");
        out.push(leaf(depth + 1, "[0]", &first.data_type, path.clone(), first.examples.first(), wanted));
        for inner in &first.properties {
            field_leaves(inner, &path, depth + 2, wanted, out);
        }
    }
}

fn properties(schema: &Value, root: &str, depth: usize, wanted: &str) -> Vec<Leaf> {
    let mut out = Vec::new();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let Some(path) = step(root, name) else { continue };
        let sample = property.get("examples").and_then(|examples| examples.get(0)).or_else(|| property.get("default"));
        out.push(leaf(depth, name, &data_type(property), path.clone(), sample, wanted));
        if depth + 1 < DEEPEST {
            out.extend(properties(property, &path, depth + 1, wanted));
        }
    }
    out
}

fn leaf(depth: usize, label: &str, data_type: &str, path: String, sample: Option<&Value>, wanted: &str) -> Leaf {
    Leaf {
        depth,
        label: label.to_owned(),
        data_type: data_type.to_owned(),
        path,
        sample: sample.map(plain).unwrap_or_default().lines().next().unwrap_or_default().chars().take(60).collect(),
        refusal: refusal(wanted, data_type),
    }
}

/// One step into an object; `None` for a key that no reference can name.
fn step(root: &str, key: &str) -> Option<String> {
    let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    match (plain, key.contains('\'')) {
        (true, _) => Some(format!("{root}.{key}")),
        (false, false) => Some(format!("{root}['{key}']")),
        (false, true) => None,
    }
}

/// Why a value of one declared type cannot stand where another is wanted.
fn refusal(wanted: &str, given: &str) -> Option<String> {
    let same = |a: &str| match a {
        "integer" => "number".to_owned(),
        "file" => "string".to_owned(),
        other => other.to_owned(),
    };
    if wanted == "any" || given == "any" || same(wanted) == same(given) {
        return None;
    }
    let article = if matches!(wanted, "object" | "array" | "integer") { "an" } else { "a" };
    Some(format!("needs {article} {wanted}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use weir_shared::flow::Edge;

    use super::*;

    fn scene() -> (Flow, Catalog) {
        let mut flow = Flow::new("test");
        flow.inputs = Some(json!({"type": "object", "properties": {"day": {"type": "string", "default": "today"}}}));
        for id in ["fetch", "me", "after", "aside"] {
            flow.nodes.push(Node { id: id.to_owned(), tool: "get".to_owned(), ..Node::default() });
        }
        for (source, target) in [("fetch", "me"), ("me", "after")] {
            flow.edges.push(Edge { source: source.to_owned(), target: target.to_owned(), ..Edge::default() });
        }
        let tool =
            serde_json::from_value(json!({"name": "get", "title": "Get", "inputSchema": {}, "node": {"label": "Get",
            "outputs": [{"name": "status", "type": "number", "examples": [200]},
                {"name": "items", "type": "array", "items": {"name": "", "type": "object", "properties": [
                    {"name": "full name", "type": "string"}]}}]}}))
            .expect("a tool");
        (flow, Catalog::new([tool]))
    }

    #[test]
    fn what_waits_for_a_node_can_give_it_nothing() {
        let (flow, catalog) = scene();
        let titles: Vec<(String, bool)> =
            branches(&flow, &catalog, "me", "any").into_iter().map(|branch| (branch.title, branch.connected)).collect();
        let expected = [("Inputs", true), ("fetch", true), ("aside", false), ("This run", true)];
        assert_eq!(titles, expected.map(|(title, connected)| (title.to_owned(), connected)));
    }

    #[test]
    fn paths_go_into_objects_and_lists_and_quote_odd_keys() {
        let (flow, catalog) = scene();
        let all = branches(&flow, &catalog, "me", "any");
        let paths: Vec<&str> = all[1].leaves.iter().map(|leaf| leaf.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "node.fetch.result.status",
                "node.fetch.result.items",
                "node.fetch.result.items[0]",
                "node.fetch.result.items[0]['full name']",
                "node.fetch.result",
            ]
        );
    }

    #[test]
    fn a_row_that_does_not_fit_says_what_is_needed() {
        let (flow, catalog) = scene();
        let all = branches(&flow, &catalog, "me", "object");
        let said: Vec<Option<&str>> = all[1].leaves.iter().map(|leaf| leaf.refusal.as_deref()).collect();
        let needs = Some("needs an object");
        assert_eq!(said, [needs, needs, None, needs, None]);
        assert_eq!(refusal("integer", "number"), None);
        assert_eq!(refusal("string", "file"), None);
    }

    #[test]
    fn a_search_keeps_the_branch_of_what_it_finds() {
        let (flow, catalog) = scene();
        let found = matching(&branches(&flow, &catalog, "me", "any"), "fetch STATUS");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].title.as_str(), found[0].leaves.len()), ("fetch", 1));
    }
}
