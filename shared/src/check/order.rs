//! The order of a flow: nodes that wait for one another, and places where it begins.

use serde_json::json;

use super::ground::{Ground, node_pointer};
use crate::finding::Code;
use crate::found::Found;
use crate::graph::Graph;
use crate::pointer::Pointer;

pub(super) fn order(ground: &Ground<'_>) -> Vec<Found> {
    let texts = ground.texts.iter().map(|text| (text.node, &text.template));
    let graph = Graph::with(ground.flow, texts);
    let id = |at: usize| ground.flow.nodes[at].id.as_str();
    let mut found: Vec<Found> = graph
        .cycles()
        .into_iter()
        .map(|cycle| {
            let nodes: Vec<&str> = cycle.iter().map(|at| id(*at)).collect();
            Found::new(Code::Cycle, node_pointer(cycle[0]), json!({ "nodes": nodes }))
        })
        .collect();
    let is_doubled = |at: usize| ground.positions.get(id(at)) != Some(&at);
    let roots: Vec<&str> =
        (0..graph.before.len()).filter(|at| graph.before[*at].is_empty() && !is_doubled(*at)).map(id).collect();
    if roots.len() > 1 {
        found.push(Found::new(Code::Disconnected, Pointer::root().key("nodes"), json!({ "roots": roots })));
    }
    found
}
