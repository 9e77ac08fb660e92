//! The flows of the worker as a signal: filled by the stream of the library, refreshed when something changes.
//!
//! The stream says which flow changed, not all a card shows, so the list is fetched again, once for a burst of
//! changes. Last runs change without a frame; while one is going on the list is fetched every few seconds.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use weir_shared::run::state::RunStatus;
use weir_shared::tool::Catalog;
use weir_shared::wire::{FlowSummary, LibraryFrame};

use crate::backend::api::Api;
use crate::backend::connection::Connection;
use crate::backend::library::LibraryStream;
use crate::shell::Counts;

/// One `git checkout` is one fetch.
const SETTLE: Duration = Duration::from_millis(120);
/// Between fetches while a run is going on.
const WHILE_RUNNING: Duration = Duration::from_secs(2);
/// Between fetches otherwise: a run may be started from a shell.
const WHILE_IDLE: Duration = Duration::from_secs(10);

/// What the library holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shelf {
    Loading,
    Loaded(Vec<FlowSummary>),
    /// Could not be read, and why.
    Failed(String),
}

/// The library as a page sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShelfHandle {
    pub(crate) shelf: RwSignal<Shelf>,
    /// For the colours of the cards.
    pub(crate) catalog: RwSignal<Arc<Catalog>>,
    api: Api,
    stream: LibraryStream,
    fetch_is_due: StoredValue<bool>,
    counts: Counts,
    connection: Connection,
}

impl ShelfHandle {
    /// Opens the stream of the library for as long as the calling component lives.
    pub(crate) fn open() -> Self {
        let handle = Self {
            shelf: RwSignal::new(Shelf::Loading),
            catalog: RwSignal::default(),
            api: Api::from_context(),
            stream: LibraryStream::new(),
            fetch_is_due: StoredValue::new(false),
            counts: expect_context(),
            connection: Connection::from_context(),
        };
        handle.listen();
        handle.keep_fresh();
        spawn_local(async move {
            if let Ok(tools) = handle.api.tools().await {
                handle.catalog.try_set(Arc::new(Catalog::new(tools)));
            }
        });
        let returns = handle.connection.returns();
        Effect::new(move |before: Option<u32>| {
            let now = returns.get();
            if before.is_some_and(|before| before != now) {
                handle.listen();
                handle.refresh();
            }
            now
        });
        handle
    }

    /// Fetches the list again, soon; calls that come together are one fetch.
    pub(crate) fn refresh(self) {
        if self.fetch_is_due.try_get_value() != Some(false) {
            return;
        }
        self.fetch_is_due.set_value(true);
        set_timeout(
            move || {
                if self.fetch_is_due.try_set_value(false).is_none() {
                    spawn_local(async move { self.take(self.api.flows().await.map_err(|error| error.message())) });
                }
            },
            SETTLE,
        );
    }

    fn take(self, flows: Result<Vec<FlowSummary>, String>) {
        match flows {
            Ok(flows) => {
                let waits = |flow: &&FlowSummary| {
                    flow.last_run.as_ref().is_some_and(|run| {
                        matches!(run.status, RunStatus::AwaitingStepApproval | RunStatus::AwaitingPlanApproval)
                    })
                };
                self.counts.flows.set(Some(flows.len()));
                self.counts.waiting.set(flows.iter().filter(waits).count());
                self.shelf.try_set(Shelf::Loaded(flows));
            }
            // What was loaded stays while the worker is away.
            Err(why) => {
                self.shelf.try_maybe_update(|shelf| match shelf {
                    Shelf::Loaded(_) => (false, ()),
                    Shelf::Loading | Shelf::Failed(_) => {
                        *shelf = Shelf::Failed(why);
                        (true, ())
                    }
                });
            }
        }
    }

    fn listen(self) {
        self.stream.open(move || self.fetch_is_due.try_get_value().is_some(), move |frame| self.hear(frame));
    }

    fn hear(self, frame: Option<LibraryFrame>) {
        match frame {
            Some(LibraryFrame::Snapshot { flows }) => self.take(Ok(flows)),
            Some(LibraryFrame::FlowRemoved { id }) => {
                self.shelf.update(|shelf| {
                    if let Shelf::Loaded(flows) = shelf {
                        flows.retain(|flow| flow.id != id);
                    }
                });
                self.refresh();
            }
            Some(LibraryFrame::FlowChanged { .. }) | None => self.refresh(),
        }
    }

    fn keep_fresh(self) {
        let goes_on = self.shelf.with_untracked(|shelf| match shelf {
            Shelf::Loaded(flows) => {
                flows.iter().any(|flow| flow.last_run.as_ref().is_some_and(|run| !run.status.is_terminal()))
            }
            Shelf::Loading | Shelf::Failed(_) => false,
        });
        set_timeout(
            move || {
                if self.fetch_is_due.try_get_value().is_some() {
                    if !document().hidden() {
                        self.refresh();
                    }
                    self.keep_fresh();
                }
            },
            if goes_on { WHILE_RUNNING } else { WHILE_IDLE },
        );
    }
}
