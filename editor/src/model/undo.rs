//! The history of a document: what undo takes back and redo does again.
//!
//! A step is what a person did at once: a gesture, a command, or a pause-free stretch of typing in one field. Time
//! comes in as an argument; this module reads no clock.

use std::collections::VecDeque;

use weir_shared::flow::Flow;

use super::edit::Edit;

/// Steps that are kept.
pub const STEPS: usize = 50;
/// The longest pause within one stretch of typing, in milliseconds.
pub const TYPING_PAUSE_MS: f64 = 700.0;

/// What was done, and what was undone since.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The inverse of each step, the newest last.
    done: VecDeque<Edit>,
    undone: Vec<Edit>,
    /// The field being typed into, and when it last changed.
    typing: Option<(String, f64)>,
}

impl History {
    /// Does an edit at a time (milliseconds of any clock that does not jump) and remembers it. False when the edit
    /// changed nothing, which is no step.
    pub fn apply(&mut self, edit: Edit, flow: &mut Flow, now: f64) -> bool {
        let key = edit.typing_key();
        let goes_on = match (&key, &self.typing) {
            (Some(key), Some((field, last))) => key == field && now - last <= TYPING_PAUSE_MS,
            _ => false,
        };
        let before = flow.clone();
        let back = edit.apply(flow);
        if before == *flow {
            return false;
        }
        self.undone.clear();
        self.typing = key.map(|key| (key, now));
        if goes_on && !self.done.is_empty() {
            // The first inverse of a stretch leads back to where it began.
            return true;
        }
        self.done.push_back(back);
        if self.done.len() > STEPS {
            self.done.pop_front();
        }
        true
    }

    /// Ends a stretch of typing, as leaving the field does.
    pub fn pause(&mut self) {
        self.typing = None;
    }

    /// Takes the last step back. False when there is none.
    pub fn undo(&mut self, flow: &mut Flow) -> bool {
        self.typing = None;
        let Some(back) = self.done.pop_back() else { return false };
        let again = back.apply(flow);
        self.undone.push(again);
        true
    }

    /// Does the last undone step again. False when there is none.
    pub fn redo(&mut self, flow: &mut Flow) -> bool {
        self.typing = None;
        let Some(again) = self.undone.pop() else { return false };
        let back = again.apply(flow);
        self.done.push_back(back);
        true
    }

    /// Whether a step can be taken back.
    pub fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    /// Whether a step can be done again.
    pub fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }
}
