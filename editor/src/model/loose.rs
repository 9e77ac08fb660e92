//! References that no edge follows: a node that names another one waits for it all the same, and a person should
//! see that.

use std::collections::BTreeSet;

use weir_shared::flow::Flow;
use weir_shared::reference::{Dialect, Root, parse, texts};
use weir_shared::tool::Catalog;

use super::connect::leads_to;

/// Pairs (named, naming) of nodes where the second refers to the first and no edges lead there, in order and once
/// each. Where edges lead there by way of others, the order on the canvas already says it.
pub fn loose_references(flow: &Flow, catalog: &Catalog) -> Vec<(String, String)> {
    let mut found = BTreeSet::new();
    for node in &flow.nodes {
        let texts = node.args.iter().flat_map(|args| texts(args, catalog.get(&node.tool)));
        for text in texts.filter(|text| text.text.contains('{')) {
            for name in parse(text.text, Dialect::Flow, text.syntax).names().named {
                let (Root::NodeResult(named) | Root::NodeInput(named)) = &name.reference.root else { continue };
                if *named != node.id && flow.node(named).is_some() {
                    found.insert((named.clone(), node.id.clone()));
                }
            }
        }
    }
    let joined: BTreeSet<(&str, &str)> =
        flow.edges.iter().map(|edge| (edge.source.as_str(), edge.target.as_str())).collect();
    found.retain(|(named, naming)| {
        !joined.contains(&(named.as_str(), naming.as_str())) && !leads_to(flow, named, naming)
    });
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use weir_shared::flow::{Edge, Node};

    use super::*;

    #[test]
    fn only_what_no_edge_says_is_loose() {
        let mut flow = Flow::new("Test");
        for id in ["a", "b", "c", "d"] {
            let args = json!({"deep": ["{{node.a.result}} {{node.ghost.result}} {{node.a.input.x}}", 1]});
            let args = args.as_object().cloned();
            flow.nodes.push(Node { id: id.to_owned(), tool: "delay".to_owned(), args, ..Node::default() });
        }
        for (source, target) in [("a", "b"), ("b", "c")] {
            flow.edges.push(Edge { source: source.to_owned(), target: target.to_owned(), ..Edge::default() });
        }
        assert_eq!(loose_references(&flow, &Catalog::default()), [("a".to_owned(), "d".to_owned())]);
    }
}
