//! Tidy: a layered layout of a flow, left to right, the same for the same flow.
//!
//! A node stands one column right of the last node it waits for; within a column nodes follow the middle of what they
//! wait for, so that edges cross little; columns are centred on the start node's row.

use std::collections::BTreeMap;

use crate::flow::{Flow, Place, START};
use crate::graph::Graph;
use crate::tool::Catalog;

/// From one column to the next, in canvas units: a card of at most 320, and room for the edge. A multiple of the
/// canvas grid of 16.
const COLUMN: i64 = 384;
/// Half of the way from one row to the next, in canvas units; a multiple of the grid, since a column of an even number
/// of nodes is centred between two of them.
const HALF_ROW: i64 = 80;

/// A place for Start and for every node.
pub fn tidy(flow: &Flow) -> BTreeMap<String, Place> {
    // Which arguments are templates makes little difference to where a card stands, so the catalog is not asked.
    let graph = Graph::of(flow, &Catalog::default());
    let columns = columns(&graph);
    let last_column = columns.iter().copied().max().unwrap_or(0);
    // Rows counted in halves, 0 in the middle.
    let mut rows = vec![0_i64; flow.nodes.len()];
    let mut places = BTreeMap::from([(START.to_owned(), Place { x: -COLUMN, y: 0 })]);
    let mut x = 0;
    for column in 0..=last_column {
        let mut members: Vec<usize> = (0..columns.len()).filter(|at| columns[*at] == column).collect();
        members.sort_by_key(|at| (middle(graph.before[*at].iter().map(|before| rows[*before])), *at));
        let mut row = 1 - count(members.len());
        for at in members {
            rows[at] = row;
            places.entry(flow.nodes[at].id.clone()).or_insert(Place { x, y: row * HALF_ROW });
            row += 2;
        }
        x += COLUMN;
    }
    places
}

/// The mean of these rows in thousandths; 0 of none.
fn middle(rows: impl Iterator<Item = i64>) -> i64 {
    let (sum, number) = rows.fold((0, 0), |(sum, number), row| (sum + row, number + 1));
    if number == 0 { 0 } else { sum * 1000 / number }
}

fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// The column of each node: the longest way to it. Nodes of a cycle stand right of all others, in file order.
fn columns(graph: &Graph) -> Vec<usize> {
    let mut columns = vec![None; graph.before.len()];
    for at in graph.order(|at| at) {
        let last = graph.before[at].iter().filter_map(|before| columns[*before]).max();
        columns[at] = Some(last.map_or(0, |last| last + 1));
    }
    let mut free = columns.iter().flatten().max().map_or(0, |last| last + 1);
    columns
        .into_iter()
        .map(|column| {
            column.unwrap_or_else(|| {
                free += 1;
                free - 1
            })
        })
        .collect()
}
