//! Which node of a flow waits for which: edges, and references, which count like edges.
//!
//! Nodes are named by their position in the file. Edges with an end that is missing, and of a node to itself, are left
//! out: a rule of their own reports them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use crate::flow::Flow;
use crate::reference::{Dialect, Root, Template, parse, texts};
use crate::tool::Catalog;

/// For each node the nodes it waits for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    pub(crate) before: Vec<BTreeSet<usize>>,
}

impl Graph {
    /// The graph of a flow.
    pub(crate) fn of(flow: &Flow, catalog: &Catalog) -> Self {
        let mut templates = Vec::new();
        for (at, node) in flow.nodes.iter().enumerate() {
            for text in node.args.iter().flat_map(|args| texts(args, catalog.get(&node.tool))) {
                if text.text.contains('{') {
                    templates.push((at, parse(text.text, Dialect::Flow, text.syntax)));
                }
            }
        }
        Self::with(flow, templates.iter().map(|(at, template)| (*at, template)))
    }

    /// The graph of a flow whose texts have been taken apart: each with the position of its node.
    pub(crate) fn with<'t>(flow: &Flow, templates: impl Iterator<Item = (usize, &'t Template<'t>)>) -> Self {
        let mut positions: HashMap<&str, usize> = HashMap::new();
        for (at, node) in flow.nodes.iter().enumerate() {
            positions.entry(node.id.as_str()).or_insert(at);
        }
        let mut before = vec![BTreeSet::new(); flow.nodes.len()];
        for edge in flow.edges.iter().filter(|edge| edge.source != edge.target) {
            if let (Some(source), Some(target)) =
                (positions.get(edge.source.as_str()), positions.get(edge.target.as_str()))
            {
                before[*target].insert(*source);
            }
        }
        for (at, template) in templates {
            for named in template.names().named {
                if let Root::NodeResult(id) | Root::NodeInput(id) = &named.reference.root
                    && let Some(named) = positions.get(id.as_str())
                {
                    before[at].insert(*named);
                }
            }
        }
        Self { before }
    }

    /// The nodes in an order in which each comes after those it waits for; of several that could come next the one
    /// with the least `rank`. Nodes of a cycle, and those behind one, are missing.
    pub(crate) fn order<R: Ord + Copy>(&self, rank: impl Fn(usize) -> R) -> Vec<usize> {
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); self.before.len()];
        let mut waiting: Vec<usize> = self.before.iter().map(BTreeSet::len).collect();
        for (at, before) in self.before.iter().enumerate() {
            for node in before {
                after[*node].push(at);
            }
        }
        let mut ready: BinaryHeap<Reverse<(R, usize)>> =
            (0..waiting.len()).filter(|at| waiting[*at] == 0).map(|at| Reverse((rank(at), at))).collect();
        let mut order = Vec::with_capacity(waiting.len());
        while let Some(Reverse((_, at))) = ready.pop() {
            order.push(at);
            for next in &after[at] {
                waiting[*next] -= 1;
                if waiting[*next] == 0 {
                    ready.push(Reverse((rank(*next), *next)));
                }
            }
        }
        order
    }

    /// The shortest cycle through each knot of nodes that wait for one another, each beginning and ending with the
    /// node of it that stands first in the file; in the order in which they would run.
    pub(crate) fn cycles(&self) -> Vec<Vec<usize>> {
        let mut cycles: Vec<Vec<usize>> = Vec::new();
        let in_order: BTreeSet<usize> = self.order(|at| at).into_iter().collect();
        let mut told: BTreeSet<usize> = BTreeSet::new();
        for start in (0..self.before.len()).filter(|at| !in_order.contains(at)) {
            if told.contains(&start) {
                continue;
            }
            if let Some(cycle) = self.way_back(start) {
                // One cycle for each knot: what lies on the way back to this node and from it is told with it.
                told.extend(self.knot(start));
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// The shortest way from a node back to itself, following what waits.
    fn way_back(&self, start: usize) -> Option<Vec<usize>> {
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let mut frontier = vec![start];
        while !frontier.is_empty() {
            let mut next = Vec::new();
            for at in frontier {
                for before in &self.before[at] {
                    if *before == start {
                        let mut cycle = vec![start, at];
                        let mut here = at;
                        while here != start {
                            here = came_from[&here];
                            cycle.push(here);
                        }
                        return Some(cycle);
                    }
                    if !came_from.contains_key(before) {
                        came_from.insert(*before, at);
                        next.push(*before);
                    }
                }
            }
            frontier = next;
        }
        None
    }

    /// The nodes that wait for this one and that it waits for.
    fn knot(&self, start: usize) -> BTreeSet<usize> {
        let reach = |from: usize| -> BTreeSet<usize> {
            let mut reached = BTreeSet::new();
            let mut open = vec![from];
            while let Some(at) = open.pop() {
                for before in &self.before[at] {
                    if reached.insert(*before) {
                        open.push(*before);
                    }
                }
            }
            reached
        };
        let mut knot: BTreeSet<usize> = reach(start).into_iter().filter(|at| reach(*at).contains(&start)).collect();
        knot.insert(start);
        knot
    }
}
