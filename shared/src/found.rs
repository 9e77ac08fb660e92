//! What a rule reports before it is put into words: a code, its parameters and where, as a JSON pointer.
//!
//! Rules know the flow, not the text; here a pointer becomes node, field, line and column.

use serde_json::Value;

use crate::finding::{Code, Finding};
use crate::pointer::{Pointer, path_of};
use crate::read::Spans;

/// A finding without its words and its place in the text.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) code: Code,
    pub(crate) params: Value,
    pub(crate) pointer: Pointer,
    pub(crate) at: At,
}

/// Which place of what the pointer names is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// Where the value begins, or the nearest thing around it that the text has.
    Value,
    /// Where its key begins.
    Key,
    /// This many bytes into the string's value.
    Inside(usize),
    /// This byte of the text, whatever the pointer says.
    Byte(usize),
}

impl Found {
    /// Concerns the value at `pointer`.
    pub(crate) fn new(code: Code, pointer: impl Into<Pointer>, params: Value) -> Self {
        Self { code, params, pointer: pointer.into(), at: At::Value }
    }

    /// The same at a narrower place.
    pub(crate) fn at(self, at: At) -> Self {
        Self { at, ..self }
    }
}

/// Puts what was found into words and places, in the order of the text. `node_ids` are the ids in file order.
pub(crate) fn locate(found: Vec<Found>, spans: &Spans, node_ids: &[String]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = found.into_iter().map(|found| place(found, spans, node_ids)).collect();
    findings.sort_by(|a, b| {
        (a.line, a.column).cmp(&(b.line, b.column)).then(b.severity.cmp(&a.severity)).then(a.code.cmp(&b.code))
    });
    findings.dedup();
    findings
}

fn place(found: Found, spans: &Spans, node_ids: &[String]) -> Finding {
    let position = match found.at {
        At::Value => spans.near(&found.pointer),
        At::Key => spans.key(&found.pointer).or_else(|| spans.near(&found.pointer)),
        At::Inside(offset) => spans.inside(&found.pointer, offset).or_else(|| spans.near(&found.pointer)),
        At::Byte(byte) => Some(spans.position(byte)),
    };
    let steps: Vec<String> = found.pointer.steps().collect();
    let (node, field) = match steps.as_slice() {
        [nodes, index, rest @ ..] if nodes == "nodes" => {
            let node = index.parse().ok().and_then(|index: usize| node_ids.get(index));
            (node, path_of(if node.is_some() { rest } else { &steps }.iter().cloned()))
        }
        [pins, id, ..] if pins == "pins" => (node_ids.iter().find(|known| *known == id), path_of(steps)),
        _ => (None, path_of(steps)),
    };
    let mut finding = Finding::new(found.code, found.params);
    finding.node_id = node.cloned();
    finding.field = Some(field).filter(|field| !field.is_empty());
    finding.line = position.map(|(line, _)| line);
    finding.column = position.map(|(_, column)| column);
    finding
}
