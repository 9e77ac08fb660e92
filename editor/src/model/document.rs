//! A flow with its history, and what of it is saved.
//!
//! Guarantees: opening a flow does not make it dirty, even when places were worked out for nodes that had none;
//! dirty means "would print other bytes than were last saved", so undoing back to them is clean again; what counts
//! as saved is the text that was sent, not the text at the moment the answer came.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use weir_shared::canonical::print;
use weir_shared::flow::{Flow, Place, START};
use weir_shared::ids::Revision;

use super::edit::Edit;
use super::undo::History;

/// The flow on the canvas.
#[derive(Debug, Clone)]
pub struct Document {
    flow: Arc<Flow>,
    history: History,
    saved: Revision,
    /// What the file said when it was last loaded or saved: what both sides of a conflict began as.
    base: Arc<Flow>,
}

impl Document {
    /// A document of a flow as it was loaded. `places` are for what has none in the file; entries of absent nodes
    /// are dropped, as saving would.
    pub fn open(mut flow: Flow, places: &BTreeMap<String, Place>) -> Self {
        place_all(&mut flow, places);
        let saved = fingerprint(&flow);
        let flow = Arc::new(flow);
        Self { base: Arc::clone(&flow), flow, history: History::default(), saved }
    }

    /// Takes what the file says now. One step, so that undo brings back what was here; clean until then. False when
    /// it was here already.
    pub fn reload(&mut self, mut flow: Flow, places: &BTreeMap<String, Place>, now: f64) -> bool {
        place_all(&mut flow, places);
        self.saved = fingerprint(&flow);
        self.base = Arc::new(flow.clone());
        self.apply(Edit::Replace(Box::new(flow)), now)
    }

    /// Whether the file with this flow would hold what is here.
    pub fn says(&self, flow: &Flow, places: &BTreeMap<String, Place>) -> bool {
        let mut flow = flow.clone();
        place_all(&mut flow, places);
        fingerprint(&self.flow) == fingerprint(&flow)
    }

    /// The flow as it is now.
    pub fn flow(&self) -> &Arc<Flow> {
        &self.flow
    }

    /// Does an edit; `now` in milliseconds of a clock that does not jump. False when it changed nothing.
    pub fn apply(&mut self, edit: Edit, now: f64) -> bool {
        self.history.apply(edit, Arc::make_mut(&mut self.flow), now)
    }

    /// Takes the last step back. False when there is none.
    pub fn undo(&mut self) -> bool {
        self.history.undo(Arc::make_mut(&mut self.flow))
    }

    /// Does the last undone step again. False when there is none.
    pub fn redo(&mut self) -> bool {
        self.history.redo(Arc::make_mut(&mut self.flow))
    }

    /// Ends a stretch of typing.
    pub fn pause(&mut self) {
        self.history.pause();
    }

    /// Whether a step can be taken back.
    pub fn can_undo(&self) -> bool {
        self.history.can_undo()
    }

    /// Whether a step can be done again.
    pub fn can_redo(&self) -> bool {
        self.history.can_redo()
    }

    /// Whether saving would change the file.
    pub fn is_dirty(&self) -> bool {
        fingerprint(&self.flow) != self.saved
    }

    /// Takes note that this flow, the one that was sent, is now what the file says.
    pub fn mark_saved(&mut self, sent: &Flow) {
        self.saved = fingerprint(sent);
        self.base = Arc::new(sent.clone());
    }

    /// What the file said when it was last loaded or saved.
    pub fn base(&self) -> &Arc<Flow> {
        &self.base
    }

    /// Takes what two versions became together. One step, unsaved; from here on theirs is what both began as.
    pub fn merge(&mut self, merged: Flow, theirs: Flow, now: f64) {
        self.saved = fingerprint(&theirs);
        self.base = Arc::new(theirs);
        self.apply(Edit::Replace(Box::new(merged)), now);
    }
}

/// Gives what has no place one of `places`, and forgets the places of absent nodes.
fn place_all(flow: &mut Flow, places: &BTreeMap<String, Place>) {
    for (id, place) in places {
        flow.layout.entry(id.clone()).or_insert(*place);
    }
    let ids: BTreeSet<&str> = flow.nodes.iter().map(|node| node.id.as_str()).collect();
    flow.layout.retain(|id, _| id == START || ids.contains(id.as_str()));
}

/// What two flows have in common that print the same bytes.
fn fingerprint(flow: &Flow) -> Revision {
    Revision::of(print(flow).as_bytes())
}

/// An id for a new node of a tool: `<tool>_<n>` with the smallest n that is free.
pub fn fresh_node_id(flow: &Flow, tool: &str) -> String {
    // A node id has at most 64 characters, a tool's name up to 128.
    let stem: String = tool.chars().take(56).collect();
    first_free(&stem, |id| flow.node(id).is_some() || flow.pins.contains_key(id))
}

/// An id for a new note: `note_<n>` with the smallest n that is free.
pub fn fresh_note_id(flow: &Flow) -> String {
    first_free("note", |id| flow.notes.iter().any(|note| note.id == id))
}

fn first_free(stem: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut n = 1_u32;
    loop {
        let id = format!("{stem}_{n}");
        if !taken(&id) {
            return id;
        }
        n += 1;
    }
}

#[cfg(test)]
mod tests;
