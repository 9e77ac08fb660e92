//! Everything the builder's panels share: the document, the selection, the catalog, findings, what is saved and
//! what runs. One per builder page, handed out through the context; a panel reads signals and calls verbs.
//!
//! Every change of the flow goes through [`Builder::apply`], so that each has an inverse and one place to be seen.

use std::sync::Arc;

use leptos::prelude::*;
use weir_shared::check::{Surroundings, check_flow};
use weir_shared::finding::Finding;
use weir_shared::flow::Flow;
use weir_shared::ids::{FlowId, Revision, RunId};
use weir_shared::limits::Limits;
use weir_shared::tool::{Catalog, ToolDeclaration};

use super::card::{CardStates, Results};
use super::drafts::{self, Draft};
use super::local::Kept;
use crate::model::document::Document;
use crate::model::edit::Edit;
use crate::model::item::Selection;

/// The builder's shared state. Copying it copies handles, not the flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Builder {
    pub(super) document: RwSignal<Document>,
    /// The flow as it is now.
    pub(crate) flow: Memo<Arc<Flow>>,
    /// Whose flow it is.
    pub(crate) id: RwSignal<FlowId>,
    pub(crate) selection: RwSignal<Selection>,
    pub(crate) catalog: RwSignal<Arc<Catalog>>,
    /// What is wrong with the flow as it is now, by the same function as the worker's.
    pub(crate) findings: Memo<Arc<Vec<Finding>>>,
    /// A field that should get the focus: set by the findings panel, taken by the inspector.
    pub(crate) wanted_field: RwSignal<Option<WantedField>>,
    /// The revision of the file the document was loaded from or last saved as.
    pub(crate) revision: RwSignal<Revision>,
    pub(crate) saving: RwSignal<Saving>,
    /// Whether the file was said to have changed while a save was under way.
    pub(super) unheard: StoredValue<bool>,
    /// The run that is shown on the canvas and in the run panel.
    pub(crate) run: RwSignal<Option<RunId>>,
    /// Whether the run dialog is open.
    pub(crate) run_dialog: RwSignal<bool>,
    /// How much of the flow the dialog is about.
    pub(crate) run_part: RwSignal<RunPart>,
    /// What that run makes of the nodes: set by the run view, drawn by the canvas.
    pub(crate) card_states: RwSignal<CardStates>,
    /// The results of that run by node id: set by the run view, shown and pinned by the inspector.
    pub(crate) results: RwSignal<Results>,
}

/// How much of the flow a run takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum RunPart {
    #[default]
    Whole,
    /// This node and what leads to it.
    UpTo(String),
    /// This node alone, on results that are pinned or of the last run.
    Only(String),
}

/// A field of a node (`args.command`, `retry.maxAttempts`) or of the flow that should get the focus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedField {
    /// Absent for a field of the flow.
    pub(crate) node: Option<String>,
    pub(crate) field: Option<String>,
}

/// How saving stands. Whether there is something to save is `Builder::is_dirty`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Saving {
    #[default]
    Idle,
    UnderWay,
    /// Refused or not reached, with what happened and what to do.
    Failed(String),
    /// The file has another revision than the one this document started from.
    Conflict(Box<Theirs>),
}

/// What stands on disk at a conflict.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Theirs {
    pub(crate) revision: Revision,
    /// Absent when the file on disk is not readable.
    pub(crate) flow: Option<Flow>,
}

impl Builder {
    /// The state of a builder that shows this flow, as it was loaded or as it was left unsaved.
    pub(crate) fn new(id: FlowId, draft: Draft, catalog: Arc<Catalog>) -> Self {
        let Draft { document, revision } = draft;
        let document = RwSignal::new(document);
        let flow = Memo::new(move |_| document.with(|document| Arc::clone(document.flow())));
        let catalog = RwSignal::new(catalog);
        let findings = Memo::new(move |_| {
            let catalog = catalog.get();
            // The worker's own limits and secrets are not told to the page; what depends on them is said by the worker.
            let around = Surroundings { catalog: &catalog, limits: &Limits::default(), secrets: None };
            Arc::new(check_flow(&flow.get(), &around).findings)
        });
        Self {
            document,
            flow,
            id: RwSignal::new(id),
            selection: RwSignal::default(),
            catalog,
            findings,
            wanted_field: RwSignal::new(None),
            revision: RwSignal::new(revision),
            saving: RwSignal::default(),
            unheard: StoredValue::new(false),
            run: RwSignal::new(None),
            run_dialog: RwSignal::new(false),
            run_part: RwSignal::default(),
            card_states: RwSignal::default(),
            results: RwSignal::default(),
        }
    }

    /// Asks for the inputs of a run of this much.
    pub(crate) fn ask_run(self, part: RunPart) {
        self.run_part.set(part);
        self.run_dialog.set(true);
    }

    /// Does one edit. Edits of one field that follow each other closely become one step of undo.
    pub(crate) fn apply(self, edit: Edit) {
        let now = now_ms();
        // Notifying only about a change keeps a no-op from waking every card.
        self.document.maybe_update(|document| document.apply(edit, now));
        self.drop_absent_selection();
    }

    /// Ends a stretch of typing: call it when a field loses the focus.
    pub(crate) fn pause_typing(self) {
        self.document.update_untracked(Document::pause);
    }

    /// Takes the last step back.
    pub(crate) fn undo(self) {
        self.document.maybe_update(Document::undo);
        self.drop_absent_selection();
    }

    /// Does the last undone step again.
    pub(crate) fn redo(self) {
        self.document.maybe_update(Document::redo);
        self.drop_absent_selection();
    }

    /// Whether a step can be taken back.
    pub(crate) fn can_undo(self) -> bool {
        self.document.with(Document::can_undo)
    }

    /// Whether a step can be done again.
    pub(crate) fn can_redo(self) -> bool {
        self.document.with(Document::can_redo)
    }

    /// Whether saving would change the file.
    pub(crate) fn is_dirty(self) -> bool {
        self.document.with(Document::is_dirty)
    }

    /// The same, without following it.
    pub(crate) fn is_dirty_untracked(self) -> bool {
        self.document.with_untracked(Document::is_dirty)
    }

    /// What the file said when it was last loaded or saved, not followed.
    pub(crate) fn base_untracked(self) -> Arc<Flow> {
        self.document.with_untracked(|document| Arc::clone(document.base()))
    }

    /// The declaration of a tool, if the worker has it.
    pub(crate) fn tool(self, name: &str) -> Option<ToolDeclaration> {
        self.catalog.with(|catalog| catalog.get(name).cloned())
    }

    /// Takes back unsaved work that an earlier page left: one step of undo, unsaved still, and with the revision it
    /// started from, so that saving it over a newer file is a conflict.
    pub(crate) fn restore(self, kept: &Kept) {
        self.revision.set(kept.revision.clone());
        self.apply(Edit::Replace(Box::new(kept.flow.clone())));
    }

    /// Keeps unsaved work when the builder leaves the screen.
    pub(crate) fn keep_draft(self) {
        let document = self.document.get_untracked();
        if document.is_dirty() {
            drafts::keep(self.id.get_untracked(), Draft { document, revision: self.revision.get_untracked() });
        }
    }

    /// Takes out of the selection what the flow no longer has.
    pub(super) fn drop_absent_selection(self) {
        let flow = self.flow.get_untracked();
        self.selection.maybe_update(|selection| {
            let before = selection.len();
            selection.retain(|item| item.exists_in(&flow));
            selection.len() != before
        });
    }
}

/// Milliseconds since the page was opened, by the browser's clock that does not jump.
pub(crate) fn now_ms() -> f64 {
    window().performance().map_or(0.0, |performance| performance.now())
}
