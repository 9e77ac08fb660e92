//! The flows as they were last seen. A look at the directory changes them all at once; then each change is told.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::broadcast;
use weir_shared::finding::Finding;
use weir_shared::ids::FlowId;

use super::load::Entry;

/// Changes that a slow subscriber may be behind before it has to look at the list again: two large checkouts.
const BACKLOG: usize = 1024;

/// Something that happened to one flow.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LibraryChange {
    /// It is new, or its bytes are, or its published versions.
    Changed(Arc<Entry>),
    Removed(FlowId),
}

/// A file that looks like a flow's and cannot be one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refused {
    /// The file's name.
    pub(crate) name: String,
    pub(crate) finding: Finding,
}

/// What one look at the directory changes.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) changed: Vec<Arc<Entry>>,
    pub(super) removed: Vec<FlowId>,
    /// All of them, when they were looked at.
    pub(super) refused: Option<Vec<Refused>>,
}

/// All flows, and who wants to know.
#[derive(Debug)]
pub(super) struct Flows {
    seen: RwLock<Seen>,
    changes: broadcast::Sender<LibraryChange>,
}

#[derive(Debug, Default)]
struct Seen {
    entries: BTreeMap<FlowId, Arc<Entry>>,
    refused: Vec<Refused>,
}

impl Flows {
    /// No flows yet.
    pub(super) fn new() -> Self {
        Self { seen: RwLock::default(), changes: broadcast::channel(BACKLOG).0 }
    }

    /// Every flow, by id.
    pub(super) fn list(&self) -> Vec<Arc<Entry>> {
        self.seen.read().unwrap_or_else(PoisonError::into_inner).entries.values().cloned().collect()
    }

    /// One flow.
    pub(super) fn get(&self, id: &FlowId) -> Option<Arc<Entry>> {
        self.seen.read().unwrap_or_else(PoisonError::into_inner).entries.get(id).cloned()
    }

    /// Files that cannot be flows.
    pub(super) fn refused(&self) -> Vec<Refused> {
        self.seen.read().unwrap_or_else(PoisonError::into_inner).refused.clone()
    }

    /// Changes from now on.
    pub(super) fn subscribe(&self) -> broadcast::Receiver<LibraryChange> {
        self.changes.subscribe()
    }

    /// Tells of this flow although its file is as it was.
    pub(super) fn tell(&self, id: &FlowId) {
        if let Some(entry) = self.get(id) {
            // An error means that nobody listens.
            let _nobody = self.changes.send(LibraryChange::Changed(entry));
        }
    }

    /// Takes in what changed, at once, then tells. What is as it was is not told.
    pub(super) fn take_in(&self, difference: Difference) {
        let mut told = Vec::new();
        {
            let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
            for id in difference.removed {
                if seen.entries.remove(&id).is_some() {
                    told.push(LibraryChange::Removed(id));
                }
            }
            for entry in difference.changed {
                let before = seen.entries.insert(entry.id.clone(), Arc::clone(&entry));
                let same = before.is_some_and(|before| {
                    before.revision == entry.revision && before.findings == entry.findings && before.plan == entry.plan
                });
                if !same {
                    told.push(LibraryChange::Changed(entry));
                }
            }
            if let Some(refused) = difference.refused {
                seen.refused = refused;
            }
        }
        for change in told {
            // An error means that nobody listens.
            let _nobody = self.changes.send(change);
        }
    }
}
