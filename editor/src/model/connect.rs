//! Whether an edge may be drawn, and if not, the reason a person reads while still holding it.

use std::collections::BTreeSet;
use std::fmt;

use weir_shared::flow::{Edge, Flow, Node};

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
    refusal_instead(flow, key, None)
}

/// The same for an edge that takes the place of another one.
pub fn refusal_instead(flow: &Flow, key: &EdgeKey, instead: Option<&EdgeKey>) -> Option<Refusal> {
    let edges = || flow.edges.iter().filter(|edge| instead.is_none_or(|gone| !gone.names(edge)));
    if key.source == key.target {
        return Some(Refusal::Itself);
    }
    if flow.node(&key.source).is_none() || flow.node(&key.target).is_none() {
        return Some(Refusal::NoNode);
    }
    let says_the_same = |port: &Option<String>| *port == key.port || port.is_none() || key.port.is_none();
    if edges().any(|edge| edge.source == key.source && edge.target == key.target && says_the_same(&edge.port)) {
        return Some(Refusal::Duplicate);
    }
    leads_along(edges, &key.target, &key.source).then_some(Refusal::Cycle)
}

/// The nodes to which an edge may be drawn from here, in the order of the file.
pub fn targets<'a>(flow: &'a Flow, source: &str, port: Option<&str>) -> Vec<&'a Node> {
    let key =
        |target: &str| EdgeKey { source: source.to_owned(), port: port.map(str::to_owned), target: target.to_owned() };
    flow.nodes.iter().filter(|node| refusal(flow, &key(&node.id)).is_none()).collect()
}

/// Whether edges lead from one node to another. Cycles in the flow do no harm.
pub fn leads_to(flow: &Flow, from: &str, to: &str) -> bool {
    leads_along(|| flow.edges.iter(), from, to)
}

fn leads_along<'a, I: Iterator<Item = &'a Edge>>(edges: impl Fn() -> I, from: &'a str, to: &str) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        for edge in edges().filter(|edge| edge.source == at) {
            if seen.insert(edge.target.as_str()) {
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
    fn an_edge_that_moves_does_not_stand_in_its_own_way() {
        let chain = flow(&[key("a", None, "b"), key("b", None, "c")]);
        let moved = key("b", None, "c");
        assert_eq!(refusal_instead(&chain, &key("a", None, "c"), Some(&moved)), None);
        assert_eq!(refusal_instead(&chain, &key("c", None, "b"), Some(&moved)), None, "turned round");
        assert_eq!(refusal_instead(&chain, &key("a", None, "b"), Some(&moved)), Some(Refusal::Duplicate));
    }

    #[test]
    fn targets_are_those_an_edge_may_lead_to() {
        let chain = flow(&[key("a", None, "b")]);
        let ids = |source| targets(&chain, source, None).iter().map(|node| node.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids("a"), ["c"]);
        assert_eq!(ids("b"), ["c"]);
        assert_eq!(ids("c"), ["a", "b"]);
    }

    #[test]
    fn a_circle_in_the_file_does_not_hang_the_walk() {
        let circle = flow(&[key("a", None, "b"), key("b", None, "a")]);
        assert!(!leads_to(&circle, "a", "c"));
        assert_eq!(upstream(&circle, "a"), BTreeSet::from(["b"]));
    }
}
