//! The file behind the builder: saving over it, hearing of its changes, settling a conflict.
//!
//! Guarantees: a save never overwrites a revision this page has not seen; a change on disk is taken in place while
//! nothing is unsaved, and is a conflict that a person settles otherwise; a file that already says what is here is
//! never a conflict.

use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::Deserialize;
use weir_shared::flow::Flow;
use weir_shared::ids::{FlowId, Revision};
use weir_shared::layout::tidy;
use weir_shared::wire::{FlowSummary, LibraryFrame};

use super::builder::{Builder, Saving, Theirs, now_ms};
use crate::backend::answer::CallError;
use crate::backend::api::Api;
use crate::backend::library::LibraryStream;
use crate::model::merge::{Part, Side, Versions, placed};
use crate::ui::toast::Toasts;

impl Theirs {
    /// What a refused save says of the file on disk, if that is why it was refused.
    fn in_answer(error: &CallError) -> Option<Self> {
        let CallError::Refused { status: 409, problem } = error else { return None };
        let revision = problem.more.get("revision")?.as_str()?.parse().ok()?;
        let flow = problem.more.get("flow").and_then(|flow| Flow::deserialize(flow).ok());
        Some(Self { revision, flow })
    }
}

impl Builder {
    /// Saves the flow over the revision it started from. A file that changed meanwhile is never overwritten: that is a
    /// conflict, which a person settles.
    pub(crate) fn save(self, api: Api) {
        if self.saving.with_untracked(|saving| *saving == Saving::UnderWay) {
            return;
        }
        self.pause_typing();
        self.saving.set(Saving::UnderWay);
        let sent = self.flow.get_untracked();
        let (id, from) = (self.id.get_untracked(), self.revision.get_untracked());
        spawn_local(async move {
            match api.save_flow(&id, &sent, &from).await {
                Ok(view) => {
                    self.revision.try_set(view.revision);
                    self.document.try_update(|document| document.mark_saved(&sent));
                    self.saving.try_set(Saving::Idle);
                    if self.unheard.try_get_value() == Some(true) {
                        self.look_at_file(api, None).await;
                    }
                }
                Err(error) => match Theirs::in_answer(&error) {
                    Some(theirs) => self.meet(theirs, None),
                    None => {
                        self.saving.try_set(Saving::Failed(error.message()));
                    }
                },
            }
        });
    }

    /// Settles a conflict by saving this flow over what is on disk.
    pub(crate) fn keep_mine(self, api: Api) {
        if let Saving::Conflict(theirs) = self.saving.get_untracked() {
            self.revision.set(theirs.revision);
            self.saving.set(Saving::Idle);
            self.save(api);
        }
    }

    /// Settles a conflict by what is on disk; undo brings the own flow back.
    pub(crate) fn take_theirs(self) {
        let Saving::Conflict(theirs) = self.saving.get_untracked() else { return };
        if let Theirs { revision, flow: Some(flow) } = *theirs {
            self.take(revision, flow);
        }
    }

    /// Settles a conflict by both: each part from the side that changed it, or that was picked. One step of undo.
    pub(crate) fn save_merged(self, api: Api, picked: &[(Part, Side)]) {
        let Saving::Conflict(theirs) = self.saving.get_untracked() else { return };
        let Theirs { revision, flow: Some(flow) } = *theirs else { return };
        let (base, mine) = (self.base_untracked(), self.flow.get_untracked());
        let flow = placed(flow, &base);
        let merged = Versions { base: &base, mine: &mine, theirs: &flow }.merged(picked);
        self.revision.set(revision);
        self.document.update(|document| document.merge(merged, flow, now_ms()));
        self.drop_absent_selection();
        self.saving.set(Saving::Idle);
        self.save(api);
    }

    fn take(self, revision: Revision, flow: Flow) {
        let (places, now) = (tidy(&flow), now_ms());
        self.revision.set(revision);
        self.document.update(|document| {
            document.reload(flow, &places, now);
        });
        self.drop_absent_selection();
        self.saving.set(Saving::Idle);
    }

    /// Another revision is on disk: taken when nothing is unsaved here, else a conflict.
    fn meet(self, theirs: Theirs, toasts: Option<Toasts>) {
        let Some(dirty) = self.document.try_with_untracked(crate::model::document::Document::is_dirty) else { return };
        let Some(flow) = &theirs.flow else {
            self.saving.set(Saving::Conflict(Box::new(theirs)));
            return;
        };
        let places = tidy(flow);
        let same = self.document.with_untracked(|document| document.says(flow, &places));
        if dirty && !same {
            self.saving.set(Saving::Conflict(Box::new(theirs)));
            return;
        }
        self.take(theirs.revision.clone(), flow.clone());
        if let Some(toasts) = toasts.filter(|_| !same) {
            toasts.say("The file changed on disk; this is what it says now.");
        }
    }

    /// Fetches the file and compares it with what this page started from.
    pub(crate) async fn look_at_file(self, api: Api, toasts: Option<Toasts>) {
        let Some(id) = self.id.try_get_untracked() else { return };
        let Ok(view) = api.flow(&id).await else { return };
        // The page may have been left meanwhile, or a save begun, which brings its own answer.
        let Some(saving) = self.saving.try_get_untracked() else { return };
        self.unheard.set_value(saving == Saving::UnderWay);
        let known = match &saving {
            Saving::Conflict(theirs) => theirs.revision.clone(),
            Saving::Idle | Saving::UnderWay | Saving::Failed(_) => self.revision.get_untracked(),
        };
        if saving == Saving::UnderWay || known == view.revision {
            return;
        }
        let flow = if view.text.is_some() { None } else { view.flow };
        self.meet(Theirs { revision: view.revision, flow }, toasts);
    }

    /// Hears of changes of the file for as long as the current owner lives. A hidden tab holds no stream: when it is
    /// seen again, the first frame says what it missed.
    pub(crate) fn follow_file(self, api: Api) {
        let ear = Ear { builder: self, api, toasts: Toasts::from_context(), stream: LibraryStream::new() };
        ear.listen();
        let seen = window_event_listener(ev::visibilitychange, move |_| {
            if document().hidden() {
                ear.stream.close();
            } else {
                ear.listen();
            }
        });
        on_cleanup(move || seen.remove());
    }
}

/// Where the library's frames arrive.
#[derive(Debug, Clone, Copy)]
struct Ear {
    builder: Builder,
    api: Api,
    toasts: Toasts,
    stream: LibraryStream,
}

impl Ear {
    fn listen(self) {
        let is_wanted = move || self.builder.id.try_get_untracked().is_some() && !document().hidden();
        self.stream.open(is_wanted, move |frame| self.hear(frame));
    }

    fn hear(self, frame: Option<LibraryFrame>) {
        let Some(mine) = self.builder.id.try_get_untracked() else { return };
        match frame {
            Some(LibraryFrame::Snapshot { flows }) => {
                if let Some(FlowSummary { revision, .. }) = flows.into_iter().find(|flow| flow.id == mine) {
                    self.other_revision(revision);
                }
            }
            Some(LibraryFrame::FlowChanged { id, revision, .. }) if id == mine => self.other_revision(revision),
            Some(LibraryFrame::FlowRemoved { id }) if id == mine => self.removed(&id),
            Some(LibraryFrame::FlowChanged { .. } | LibraryFrame::FlowRemoved { .. }) | None => {}
        }
    }

    fn other_revision(self, revision: Revision) {
        if self.builder.revision.get_untracked() != revision {
            let Self { builder, api, toasts, .. } = self;
            spawn_local(async move { builder.look_at_file(api, Some(toasts)).await });
        }
    }

    fn removed(self, id: &FlowId) {
        self.toasts
            .fail(format!("{id}.flow.json was deleted. The flow is still here: copy what you need before you leave."));
    }
}
