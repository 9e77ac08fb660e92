//! The strict reader of flow files: bytes to a typed flow and findings, each with its line and column.
//!
//! Guarantees: nothing is dropped, rounded or guessed. A key that no page of the format knows is an error at every
//! level, since a mistyped `approval` must never become a step without a gate; so are a key twice in one object and a
//! number that cannot be kept. One pass names everything that is wrong. `x-` keys survive. Whether the flow makes
//! sense is not asked here: that is `check`.
//!
//! - `tree`: bytes to values that know where they stand
//! - `spans`: JSON pointer to line and column
//! - `walk`: the closed walk over objects
//! - `shapes`: each object of the format, key by key
//! - `plan`: the same for plans

mod plan;
mod shapes;
mod spans;
mod tree;
mod walk;

pub use plan::read_plan;
pub use spans::Spans;

use crate::finding::{Code, Finding};
use crate::flow::{FORMAT, Flow};
use crate::found::locate;
use walk::Walk;

/// What a text says, and what is wrong with it.
#[derive(Debug, Clone)]
pub struct Reading {
    /// Present only when the text is readable. Of a newer format: as far as this build knows it, for looking at.
    pub flow: Option<Flow>,
    /// In the order of the text.
    pub findings: Vec<Finding>,
    pub spans: Spans,
}

impl Reading {
    /// Whether the flow may be edited and saved: not when its format is newer, since saving would lose what this
    /// build does not know.
    pub fn is_writable(&self) -> bool {
        self.flow.is_some() && self.findings.iter().all(|finding| finding.code != Code::UnsupportedFormat)
    }
}

/// Reads a flow file.
pub fn read(bytes: &[u8]) -> Reading {
    let (tree, mut found, spans) = tree::parse(bytes);
    let Some(root) = tree else {
        return Reading { flow: None, findings: locate(found, &spans, &[]), spans };
    };
    let mut walk = Walk::default();
    let flow = shapes::flow(&mut walk, &root);
    found.append(&mut walk.found);
    let newer = shapes::format_of(&root).is_some_and(|format| format > FORMAT);
    let is_whole = if newer {
        // What a newer format allows is not ours to judge: it shows if every part has a shape this build knows.
        let is_whole = !found.iter().any(|it| matches!(it.code, Code::UnreadableFile | Code::NumberOutOfRange));
        found.retain(|found| found.code == Code::UnsupportedFormat);
        is_whole
    } else {
        !found.iter().any(|found| found.code.makes_unreadable())
    };
    let findings = locate(found, &spans, &shapes::node_ids(&root));
    Reading { flow: is_whole.then_some(flow), findings, spans }
}
