//! Names of what stands on the canvas.

use std::collections::BTreeSet;

use weir_shared::flow::{Edge, Flow, START};

/// An edge by what it joins. A file may hold the same edge twice (a finding); both have one key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeKey {
    pub source: String,
    pub port: Option<String>,
    pub target: String,
}

impl EdgeKey {
    /// The key of an edge of a flow.
    pub fn of(edge: &Edge) -> Self {
        Self { source: edge.source.clone(), port: edge.port.clone(), target: edge.target.clone() }
    }

    /// Whether `edge` has this key.
    pub fn names(&self, edge: &Edge) -> bool {
        self.source == edge.source && self.port == edge.port && self.target == edge.target
    }

    /// An edge with this key and nothing else.
    pub fn to_edge(&self) -> Edge {
        Edge { source: self.source.clone(), port: self.port.clone(), target: self.target.clone(), ..Edge::default() }
    }
}

/// Something that can be selected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// The flow's inputs. Always there, never removed.
    Start,
    Node(String),
    Note(String),
    Edge(EdgeKey),
}

/// What is selected.
pub type Selection = BTreeSet<Item>;

impl Item {
    /// The key of this item's place in a flow's layout; notes keep theirs, edges have none.
    pub fn layout_key(&self) -> Option<&str> {
        match self {
            Item::Start => Some(START),
            Item::Node(id) => Some(id),
            Item::Note(_) | Item::Edge(_) => None,
        }
    }

    /// Whether the flow has it.
    pub fn exists_in(&self, flow: &Flow) -> bool {
        match self {
            Item::Start => true,
            Item::Node(id) => flow.nodes.iter().any(|node| node.id == *id),
            Item::Note(id) => flow.notes.iter().any(|note| note.id == *id),
            Item::Edge(key) => flow.edges.iter().any(|edge| key.names(edge)),
        }
    }
}
