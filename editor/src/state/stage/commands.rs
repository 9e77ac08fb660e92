//! What can be done with the flow as a whole or with what is selected, by name: the command palette.

use leptos::prelude::*;
use weir_shared::finding::Severity;

use super::{Question, Stage};
use crate::state::builder::RunPart;

/// One command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Run,
    AddNode,
    AddNote,
    Tidy,
    Fit,
    SelectAll,
    Duplicate,
    Remove,
    Undo,
    Redo,
}

impl Command {
    /// In the order in which they are offered while nothing is typed.
    pub(super) const ALL: [Command; 10] = [
        Command::Run,
        Command::AddNode,
        Command::AddNote,
        Command::Tidy,
        Command::Fit,
        Command::SelectAll,
        Command::Duplicate,
        Command::Remove,
        Command::Undo,
        Command::Redo,
    ];

    /// What it is called.
    pub(super) fn title(self) -> &'static str {
        match self {
            Command::Run => "Run this flow",
            Command::AddNode => "Add a node",
            Command::AddNote => "Add a note",
            Command::Tidy => "Tidy the layout",
            Command::Fit => "Show everything",
            Command::SelectAll => "Select everything",
            Command::Duplicate => "Duplicate the selection",
            Command::Remove => "Delete the selection",
            Command::Undo => "Undo",
            Command::Redo => "Redo",
        }
    }

    /// The key that does it too.
    pub(super) fn key(self) -> &'static str {
        match self {
            Command::Run => "",
            Command::AddNode => "N",
            Command::AddNote => "Shift N",
            Command::Tidy => "Shift Alt T",
            Command::Fit => "F",
            Command::SelectAll => "Ctrl A",
            Command::Duplicate => "Ctrl D",
            Command::Remove => "Delete",
            Command::Undo => "Ctrl Z",
            Command::Redo => "Ctrl Shift Z",
        }
    }

    /// The name of its glyph.
    pub(super) fn glyph(self) -> &'static str {
        match self {
            Command::Run => "player-play",
            Command::AddNode => "plus",
            Command::AddNote => "note",
            Command::Tidy => "sitemap",
            Command::Fit => "maximize",
            Command::SelectAll => "grid-dots",
            Command::Duplicate => "copy",
            Command::Remove => "trash",
            Command::Undo => "arrow-back-up",
            Command::Redo => "arrow-forward-up",
        }
    }
}

impl Stage {
    /// Whether a command would do something now.
    pub(super) fn is_possible(self, command: Command) -> bool {
        let selected = || !self.builder.selection.with_untracked(std::collections::BTreeSet::is_empty);
        match command {
            Command::Run => {
                let is_error = |finding: &weir_shared::finding::Finding| finding.severity == Severity::Error;
                !self.builder.findings.with_untracked(|findings| findings.iter().any(is_error))
            }
            Command::AddNode | Command::AddNote | Command::Tidy | Command::Fit | Command::SelectAll => true,
            Command::Duplicate | Command::Remove => selected(),
            Command::Undo => self.builder.can_undo(),
            Command::Redo => self.builder.can_redo(),
        }
    }

    /// Does a command.
    pub(super) fn obey(self, command: Command) {
        match command {
            Command::Run => self.builder.ask_run(RunPart::Whole),
            Command::AddNode => self.asked.set(Some(Question::Add { at: self.pointed_at() })),
            Command::AddNote => self.add_note(),
            Command::Tidy => self.tidy(),
            Command::Fit => self.fit(),
            Command::SelectAll => self.select_all(),
            Command::Duplicate => self.duplicate(),
            Command::Remove => self.remove_selection(),
            Command::Undo => self.builder.undo(),
            Command::Redo => self.builder.redo(),
        }
    }
}
