//! What rules look at: the flow, its tools, and its texts, taken apart once for all of them.

use std::collections::HashMap;

use super::Surroundings;
use crate::flow::{Flow, Node};
use crate::pointer::Pointer;
use crate::reference::{Dialect, Syntax, Template, parse, texts};
use crate::tool::{Catalog, ToolDeclaration};

/// A flow with what every rule needs.
pub(super) struct Ground<'a> {
    pub(super) flow: &'a Flow,
    pub(super) around: &'a Surroundings<'a>,
    /// Every template of every node, in file order.
    pub(super) texts: Vec<NodeText<'a>>,
    /// Node id → position in the file; of a doubled id the first.
    pub(super) positions: HashMap<&'a str, usize>,
}

/// One template of a node.
pub(super) struct NodeText<'a> {
    /// Position of its node in the file.
    pub(super) node: usize,
    /// From the node's arguments.
    within: Pointer,
    pub(super) syntax: Syntax,
    pub(super) template: Template<'a>,
}

impl NodeText<'_> {
    /// Where it stands, from the root of the file.
    pub(super) fn pointer(&self) -> Pointer {
        self.within.steps().fold(node_pointer(self.node).key("args"), |here, step| here.key(&step))
    }
}

impl<'a> Ground<'a> {
    pub(super) fn new(flow: &'a Flow, around: &'a Surroundings<'a>) -> Self {
        let mut positions = HashMap::new();
        for (at, node) in flow.nodes.iter().enumerate() {
            positions.entry(node.id.as_str()).or_insert(at);
        }
        Self { flow, around, texts: node_texts(flow, around.catalog), positions }
    }

    /// The tool of a node, when the catalog has it.
    pub(super) fn tool(&self, node: &Node) -> Option<&'a ToolDeclaration> {
        self.around.catalog.get(&node.tool)
    }

    /// The nodes with their position and pointer.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&'a Node, Pointer)> {
        self.flow.nodes.iter().enumerate().map(|(at, node)| (node, node_pointer(at)))
    }
}

/// Where the node at this position stands.
pub(super) fn node_pointer(at: usize) -> Pointer {
    Pointer::root().key("nodes").index(at)
}

fn node_texts<'a>(flow: &'a Flow, catalog: &Catalog) -> Vec<NodeText<'a>> {
    let mut all = Vec::new();
    for (at, node) in flow.nodes.iter().enumerate() {
        for text in node.args.iter().flat_map(|args| texts(args, catalog.get(&node.tool))) {
            let template = parse(text.text, Dialect::Flow, text.syntax);
            all.push(NodeText { node: at, within: text.pointer, syntax: text.syntax, template });
        }
    }
    all
}
