//! Edges one by one: both ends there, no loop of one, no pair joined twice, a branch its source has.

use std::collections::HashMap;

use serde_json::json;

use super::ground::Ground;
use crate::finding::Code;
use crate::flow::Edge;
use crate::found::Found;
use crate::nearest::nearest;
use crate::pointer::Pointer;

pub(super) fn edges(ground: &Ground<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut seen: HashMap<(&str, &str), Vec<Option<&str>>> = HashMap::new();
    for (at, edge) in ground.flow.edges.iter().enumerate() {
        let pointer = Pointer::root().key("edges").index(at);
        found.extend(ends(ground, edge, &pointer));
        if edge.source == edge.target {
            found.push(Found::new(Code::SelfEdge, &pointer, json!({ "node": edge.source })));
        }
        let ports = seen.entry((&edge.source, &edge.target)).or_default();
        let port = edge.port.as_deref();
        // An edge without a port follows every branch, so beside it one with a port says nothing.
        if ports.iter().any(|other| *other == port || other.is_none() || port.is_none()) {
            let params = json!({ "source": edge.source, "target": edge.target, "port": port });
            found.push(Found::new(Code::DuplicateEdge, &pointer, params));
        }
        ports.push(port);
        found.extend(unknown_port(ground, edge, &pointer));
    }
    found
}

fn ends(ground: &Ground<'_>, edge: &Edge, pointer: &Pointer) -> Vec<Found> {
    [("source", &edge.source), ("target", &edge.target)]
        .into_iter()
        .filter(|(_, id)| !ground.positions.contains_key(id.as_str()))
        .map(|(end, id)| {
            let near = nearest(id, ground.flow.nodes.iter().map(|node| node.id.as_str()));
            let params = json!({ "source": edge.source, "target": edge.target, "missing": [id], "nearest": near });
            Found::new(Code::DanglingEdge, pointer.key(end), params)
        })
        .collect()
}

fn unknown_port(ground: &Ground<'_>, edge: &Edge, pointer: &Pointer) -> Option<Found> {
    let port = edge.port.as_deref()?;
    let tool = ground.tool(ground.flow.node(&edge.source)?)?;
    if tool.ports.iter().any(|known| known == port) {
        return None;
    }
    let near = nearest(port, tool.ports.iter().map(String::as_str));
    let params =
        json!({ "source": edge.source, "port": port, "tool": tool.name, "ports": tool.ports, "nearest": near });
    Some(Found::new(Code::UnknownPort, pointer.key("port"), params))
}
