//! Unsaved work of flows that are not on screen: leaving a builder by any link or by Back loses nothing, and coming
//! back finds it again, undo included. It lives as long as the tab.

use std::cell::RefCell;
use std::collections::BTreeMap;

use weir_shared::ids::{FlowId, Revision};

use crate::model::document::Document;

/// A document with the revision it started from.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) document: Document,
    pub(crate) revision: Revision,
}

thread_local! {
    static DRAFTS: RefCell<BTreeMap<FlowId, Draft>> = RefCell::default();
}

/// Keeps the unsaved work of a flow.
pub(crate) fn keep(id: FlowId, draft: Draft) {
    DRAFTS.with_borrow_mut(|drafts| drafts.insert(id, draft));
}

/// Takes back what was kept.
pub(crate) fn take(id: &FlowId) -> Option<Draft> {
    DRAFTS.with_borrow_mut(|drafts| drafts.remove(id))
}

/// Whether any flow has unsaved work here.
pub(crate) fn any() -> bool {
    DRAFTS.with_borrow(|drafts| !drafts.is_empty())
}
