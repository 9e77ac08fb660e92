//! A part of a flow, to run by itself: one node, or a node and all that leads to it.
//!
//! The part is a flow like any other, so it is compiled and run like any other. Nothing here reads results: whoever
//! runs one node alone brings the results of what leads to it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::flow::Flow;
use crate::graph::Graph;
use crate::tool::Catalog;

/// Why a part cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSelection {
    #[error("the flow has no node `{id}`")]
    UnknownNode { id: String },
    #[error("these nodes have no result yet: {}; pin one, or run the flow first", missing.join(", "))]
    Missing {
        /// In the order of the file.
        missing: Vec<String>,
    },
}

/// The node and everything it waits for, by edge or by reference.
pub fn up_to(flow: &Flow, node: &str, catalog: &Catalog) -> Result<Flow, BadSelection> {
    let graph = Graph::of(flow, catalog);
    let mut kept = BTreeSet::new();
    let mut next = vec![position(flow, node)?];
    while let Some(at) = next.pop() {
        if kept.insert(at) {
            next.extend(graph.before[at].iter().copied());
        }
    }
    Ok(keep(flow, &kept))
}

/// The node alone: what it waits for directly serves its pin, else the result of that name in `results`. The node's
/// own pin is left out, so that its tool is called.
pub fn only(flow: &Flow, node: &str, results: &Map<String, Value>, catalog: &Catalog) -> Result<Flow, BadSelection> {
    let graph = Graph::of(flow, catalog);
    let own = position(flow, node)?;
    let mut kept = graph.before[own].clone();
    let served = |at: &usize| {
        let id = &flow.nodes[*at].id;
        (id.clone(), flow.pins.get(id).or_else(|| results.get(id)).cloned())
    };
    let served: Vec<(String, Option<Value>)> = kept.iter().map(served).collect();
    let missing: Vec<String> = served.iter().filter(|(_, value)| value.is_none()).map(|(id, _)| id.clone()).collect();
    if !missing.is_empty() {
        return Err(BadSelection::Missing { missing });
    }
    kept.insert(own);
    let mut part = keep(flow, &kept);
    part.pins = served.into_iter().filter_map(|(id, value)| value.map(|value| (id, value))).collect();
    // What leads to the node serves values and does nothing, so only edges into the node matter.
    part.edges.retain(|edge| edge.target == node);
    for other in part.nodes.iter_mut().filter(|other| other.id != node) {
        other.disabled = None;
        other.args = None;
    }
    Ok(part)
}

fn position(flow: &Flow, node: &str) -> Result<usize, BadSelection> {
    let found = flow.nodes.iter().position(|candidate| candidate.id == node);
    found.ok_or_else(|| BadSelection::UnknownNode { id: node.to_owned() })
}

fn keep(flow: &Flow, kept: &BTreeSet<usize>) -> Flow {
    let ids: BTreeSet<&str> = kept.iter().map(|at| flow.nodes[*at].id.as_str()).collect();
    let is_kept = |id: &str| ids.contains(id);
    let mut part = flow.clone();
    part.nodes.retain(|node| is_kept(&node.id));
    part.edges.retain(|edge| is_kept(&edge.source) && is_kept(&edge.target));
    part.pins.retain(|id, _| is_kept(id));
    part
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::flow::{Edge, Node};

    fn flow() -> Flow {
        let node = |id: &str, text: &str| Node {
            id: id.to_owned(),
            tool: "probe".to_owned(),
            args: Some(Map::from_iter([("text".to_owned(), json!(text))])),
            ..Node::default()
        };
        let edge = |source: &str, port: Option<&str>, target: &str| Edge {
            source: source.to_owned(),
            port: port.map(str::to_owned),
            target: target.to_owned(),
            ..Edge::default()
        };
        let mut flow = Flow::new("A flow");
        flow.nodes = vec![node("a", ""), node("b", ""), node("c", "{{node.a.result.x}}"), node("d", "")];
        flow.edges = vec![edge("a", None, "b"), edge("b", Some("true"), "c"), edge("c", None, "d")];
        flow.pins.insert("c".to_owned(), json!(1));
        flow
    }

    fn ids(flow: &Flow) -> Vec<&str> {
        flow.nodes.iter().map(|node| node.id.as_str()).collect()
    }

    #[test]
    fn up_to_a_node_keeps_what_leads_to_it() {
        let part = up_to(&flow(), "c", &Catalog::default()).unwrap();
        assert_eq!((ids(&part), part.edges.len()), (vec!["a", "b", "c"], 2));
        assert_eq!(up_to(&flow(), "z", &Catalog::default()), Err(BadSelection::UnknownNode { id: "z".to_owned() }));
    }

    #[test]
    fn a_node_alone_is_served_by_results_and_is_not_pinned_itself() {
        let results = Map::from_iter([("a".to_owned(), json!({"x": 1})), ("b".to_owned(), json!({"branch": "true"}))]);
        let part = only(&flow(), "c", &results, &Catalog::default()).unwrap();
        assert_eq!((ids(&part), part.edges.len()), (vec!["a", "b", "c"], 1));
        assert_eq!(part.pins.keys().collect::<Vec<_>>(), ["a", "b"]);
        let missing = only(&flow(), "c", &Map::new(), &Catalog::default()).unwrap_err();
        assert_eq!(missing, BadSelection::Missing { missing: vec!["a".to_owned(), "b".to_owned()] });
    }
}
