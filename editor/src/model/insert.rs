//! A new node that comes wired: after an output, or into an edge.

use std::collections::{BTreeMap, BTreeSet};

use weir_shared::flow::{Flow, Node, Place};

use super::edit::{Edit, Piece};
use super::item::{EdgeKey, Item};

/// Adds a node that waits for an output.
pub fn after_output(flow: &Flow, node: Node, place: Place, source: &str, port: Option<&str>) -> Edit {
    let key = EdgeKey { source: source.to_owned(), port: port.map(str::to_owned), target: node.id.clone() };
    let layout = BTreeMap::from([(node.id.clone(), place)]);
    Edit::Insert(Box::new(Piece {
        nodes: vec![(flow.nodes.len(), node)],
        edges: vec![(flow.edges.len(), key.to_edge())],
        layout,
        ..Piece::default()
    }))
}

/// Puts a node into an edge: what waited for the source now waits for the node. `port` is the node's output that
/// leads on; `moved` are places of what makes room.
pub fn into_edge(
    flow: &Flow,
    edge: &EdgeKey,
    node: Node,
    place: Place,
    port: Option<&str>,
    moved: BTreeMap<Item, Option<Place>>,
) -> Edit {
    let into = EdgeKey { target: node.id.clone(), ..edge.clone() };
    let on = EdgeKey { source: node.id.clone(), port: port.map(str::to_owned), target: edge.target.clone() };
    let at = flow.edges.iter().position(|other| edge.names(other)).unwrap_or(flow.edges.len());
    let layout = BTreeMap::from([(node.id.clone(), place)]);
    Edit::Group(vec![
        Edit::disconnect(edge.clone()),
        Edit::Move(moved),
        Edit::Insert(Box::new(Piece {
            nodes: vec![(flow.nodes.len(), node)],
            edges: vec![(at, into.to_edge()), (at + 1, on.to_edge())],
            layout,
            ..Piece::default()
        })),
    ])
}

/// Leads an edge elsewhere, in its old position among the others.
pub fn reconnect(flow: &Flow, old: &EdgeKey, new: &EdgeKey) -> Edit {
    let at = flow.edges.iter().position(|other| old.names(other)).unwrap_or(flow.edges.len());
    let piece = Piece { edges: vec![(at, new.to_edge())], ..Piece::default() };
    Edit::Group(vec![Edit::disconnect(old.clone()), Edit::Insert(Box::new(piece))])
}

/// A node and everything that waits for it.
pub fn downstream<'a>(flow: &'a Flow, node: &'a str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::from([node]);
    let mut open = vec![node];
    while let Some(at) = open.pop() {
        for edge in flow.edges.iter().filter(|edge| edge.source == at) {
            if seen.insert(edge.target.as_str()) {
                open.push(&edge.target);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow() -> Flow {
        let mut flow = Flow::new("Test");
        for id in ["a", "b", "c"] {
            flow.nodes.push(node(id));
            flow.layout.insert(id.to_owned(), Place { x: 0, y: 0 });
        }
        flow.edges = vec![key("a", Some("true"), "b").to_edge(), key("b", None, "c").to_edge()];
        flow
    }

    fn node(id: &str) -> Node {
        Node { id: id.to_owned(), tool: "delay".to_owned(), ..Node::default() }
    }

    fn key(source: &str, port: Option<&str>, target: &str) -> EdgeKey {
        EdgeKey { source: source.to_owned(), port: port.map(str::to_owned), target: target.to_owned() }
    }

    fn edges(flow: &Flow) -> Vec<EdgeKey> {
        flow.edges.iter().map(EdgeKey::of).collect()
    }

    #[test]
    fn a_node_goes_into_an_edge_and_comes_out_again() {
        let mut flow = flow();
        let before = flow.clone();
        let moved = BTreeMap::from([(Item::Node("b".to_owned()), Some(Place { x: 320, y: 0 }))]);
        let edge = key("a", Some("true"), "b");
        let back = into_edge(&flow, &edge, node("n"), Place { x: 5, y: 5 }, Some("false"), moved).apply(&mut flow);
        assert_eq!(
            edges(&flow),
            [key("a", Some("true"), "n"), key("n", Some("false"), "b"), key("b", None, "c")],
            "the branch leads to the new node"
        );
        assert_eq!((flow.layout["n"].x, flow.layout["b"].x), (5, 320));
        let _ = back.apply(&mut flow);
        assert_eq!(flow, before);
    }

    #[test]
    fn a_node_comes_wired() {
        let mut flow = flow();
        let before = flow.clone();
        let back = after_output(&flow, node("n"), Place { x: 1, y: 1 }, "b", None).apply(&mut flow);
        assert_eq!(edges(&flow).last(), Some(&key("b", None, "n")));
        let _ = back.apply(&mut flow);
        assert_eq!(flow, before);
    }

    #[test]
    fn an_edge_leads_elsewhere_and_back() {
        let mut flow = flow();
        let before = flow.clone();
        let back = reconnect(&flow, &key("a", Some("true"), "b"), &key("a", Some("true"), "c")).apply(&mut flow);
        assert_eq!(edges(&flow), [key("a", Some("true"), "c"), key("b", None, "c")]);
        let _ = back.apply(&mut flow);
        assert_eq!(flow, before);
    }

    #[test]
    fn downstream_is_the_node_and_all_behind_it() {
        assert_eq!(downstream(&flow(), "b"), BTreeSet::from(["b", "c"]));
    }
}
