//! Whether an edge may be drawn, and if not, the reason a person reads while still holding it.

use std::collections::BTreeSet;
use std::fmt;

use weir_shared::flow::Flow;

use super::item::EdgeKey;

/// Why an edge is not drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Both ends are one node.
    Itself,
    /// The same edge, or one that says the same with or without a port.
    Duplicate,
    /// The target already leads to the source.
    Cycle,
    /// An end is no node of the flow.
    NoNode,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Itself => "A node cannot wait for itself",
            Refusal::Duplicate => "These two are already connected",
            Refusal::Cycle => "This would close a circle",
            Refusal::NoNode => "Nothing to connect to here",
        })
    }
}

/// Why this edge may not be added to the flow; `None` when it may.
///
/// A second port of the same pair is fine (the target follows either branch); a portless edge beside a port edge of
/// the same pair is a duplicate, since it already follows every branch.
pub fn refusal(flow: &Flow, key: &EdgeKey) -> Option<Refusal> {
    if key.source == key.target {
        return Some(Refusal::Itself);
    }
    if flow.node(&key.source).is_none() || flow.node(&key.target).is_none() {
        return Some(Refusal::NoNode);
    }
    let says_the_same = |port: &Option<String>| *port == key.port || port.is_none() || key.port.is_none();
    if flow.edges.iter().any(|edge| edge.source == key.source && edge.target == key.target && says_the_same(&edge.port))
    {
        return Some(Refusal::Duplicate);
    }
    leads_to(flow, &key.target, &key.source).then_some(Refusal::Cycle)
}

/// Whether edges lead from one node to another. Cycles in the flow do no harm.
pub fn leads_to(flow: &Flow, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        for edge in flow.edges.iter().filter(|edge| edge.source == at) {
            if seen.insert(&edge.target) {
                open.push(&edge.target);
            }
        }
    }
    false
}

/// Every node from which edges lead to this one, without itself.
pub fn upstream<'a>(flow: &'a Flow, node: &'a str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![node];
    while let Some(at) = open.pop() {
        for edge in flow.edges.iter().filter(|edge| edge.target == at) {
            if edge.source != node && seen.insert(edge.source.as_str()) {
                open.push(&edge.source);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use weir_shared::flow::{Flow, Node};

    use super::*;

    fn key(source: &str, port: Option<&str>, target: &str) -> EdgeKey {
        EdgeKey { source: source.to_owned(), port: port.map(str::to_owned), target: target.to_owned() }
    }

    fn flow(edges: &[EdgeKey]) -> Flow {
        let mut flow = Flow::new("test");
        for id in ["a", "b", "c"] {
            flow.nodes.push(Node { id: id.to_owned(), tool: "delay".to_owned(), ..Node::default() });
        }
        flow.edges = edges.iter().map(EdgeKey::to_edge).collect();
        flow
    }

    #[test]
    fn each_refusal_has_its_reason() {
        let chain = flow(&[key("a", None, "b"), key("b", Some("true"), "c")]);
        assert_eq!(refusal(&chain, &key("a", None, "a")), Some(Refusal::Itself));
        assert_eq!(refusal(&chain, &key("a", None, "b")), Some(Refusal::Duplicate));
        assert_eq!(refusal(&chain, &key("b", None, "c")), Some(Refusal::Duplicate));
        assert_eq!(refusal(&chain, &key("c", None, "a")), Some(Refusal::Cycle));
        assert_eq!(refusal(&chain, &key("a", None, "ghost")), Some(Refusal::NoNode));
        assert_eq!(refusal(&chain, &key("b", Some("false"), "c")), None);
        assert_eq!(refusal(&chain, &key("a", None, "c")), None);
    }

    #[test]
    fn a_circle_in_the_file_does_not_hang_the_walk() {
        let circle = flow(&[key("a", None, "b"), key("b", None, "a")]);
        assert!(!leads_to(&circle, "a", "c"));
        assert_eq!(upstream(&circle, "a"), BTreeSet::from(["b"]));
    }
}
