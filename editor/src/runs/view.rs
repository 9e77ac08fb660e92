//! A run as signals, fed by its stream.
//!
//! Frames are queued and folded once an animation frame, so that a fan-out of hundreds of steps is a few updates of
//! the page and not hundreds. The stream is closed after the terminal frame.

use leptos::prelude::*;
use weir_shared::ids::{RunId, Timestamp};
use weir_shared::run::state::{RunState, RunStatus};

use super::fold::{FRAMES, OutputKey, RunFold};
use crate::backend::address::OutputWanted;
use crate::backend::api::Api;
use crate::backend::connection::Connection;
use crate::backend::events::{Arrival, Events, Slot};
use crate::ui::readout::now;

/// How following stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Following {
    /// No run.
    Nothing,
    Live,
    /// Told to its end.
    Ended,
    /// The run is unknown, or its stream cannot be had.
    Failed,
}

/// A run being followed. A cheap handle; it stops following when the component that made it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunView {
    pub(crate) fold: RwSignal<RunFold>,
    pub(crate) run: RwSignal<Option<RunId>>,
    pub(crate) following: RwSignal<Following>,
    api: Api,
    connection: Connection,
    slot: Slot,
    queue: StoredValue<Vec<(String, String)>>,
}

impl RunView {
    /// A view that follows nothing yet.
    pub(crate) fn new() -> Self {
        let view = Self {
            fold: RwSignal::new(RunFold::default()),
            run: RwSignal::new(None),
            following: RwSignal::new(Following::Nothing),
            api: Api::from_context(),
            connection: Connection::from_context(),
            slot: Slot::new(),
            queue: StoredValue::new(Vec::new()),
        };
        let returns = view.connection.returns();
        Effect::new(move |before: Option<u32>| {
            let count = returns.get();
            // The browser gives up on a stream that was answered by something else than a worker.
            if before.is_some_and(|before| before != count) && view.following.get_untracked() == Following::Failed {
                view.listen();
            }
            count
        });
        view
    }

    /// Follows this run, or none.
    pub(crate) fn follow(self, run: Option<RunId>) {
        if self.run.get_untracked() == run {
            return;
        }
        self.slot.put(None);
        self.queue.set_value(Vec::new());
        self.fold.set(RunFold::default());
        self.run.set(run);
        self.listen();
    }

    fn listen(self) {
        let Some(run) = self.run.get_untracked() else {
            self.following.set(Following::Nothing);
            return;
        };
        self.following.set(Following::Live);
        let after = self.fold.with_untracked(|fold| fold.state.last.0);
        let mut path = format!("/api/agent/stream?runId={run}");
        if after > 0 {
            path.push_str(&format!("&after={after}"));
        }
        let opened = Events::open(&path, &FRAMES, move |arrival| self.hear(arrival));
        if opened.is_none() {
            self.following.set(Following::Failed);
        }
        self.slot.put(opened);
    }

    fn hear(self, arrival: Arrival) {
        match arrival {
            Arrival::Opened => self.connection.found(),
            Arrival::Broken => {
                if !self.has_ended() {
                    self.connection.lost();
                }
            }
            Arrival::Closed => {
                let ended = self.has_ended();
                self.following.try_set(if ended { Following::Ended } else { Following::Failed });
                self.slot.close_soon();
            }
            Arrival::Frame { name, data } => {
                let terminal = matches!(name.as_str(), "complete" | "error");
                let first = self.queue.try_update_value(|queue| {
                    queue.push((name, data));
                    queue.len() == 1
                });
                // A hidden tab has no animation frames; the end of a run must still be seen to close the stream.
                if terminal {
                    self.flush();
                    self.following.try_set(Following::Ended);
                    self.slot.close_soon();
                } else if first == Some(true) {
                    request_animation_frame(move || self.flush());
                }
            }
        }
    }

    fn flush(self) {
        let Some(frames) = self.queue.try_update_value(std::mem::take) else { return };
        if frames.is_empty() {
            return;
        }
        self.fold.try_update(|fold| {
            for (name, data) in frames {
                fold.take(&name, &data);
            }
        });
    }

    fn has_ended(self) -> bool {
        self.fold.try_with_untracked(|fold| fold.state.end.is_some()) == Some(true)
    }

    /// Something of the state, tracked.
    pub(crate) fn with<T>(self, read: impl FnOnce(&RunState) -> T) -> T {
        self.fold.with(|fold| read(&fold.state))
    }

    /// Where the run is; absent before its first frame.
    pub(crate) fn status(self) -> Option<RunStatus> {
        self.with(|state| state.created.as_ref().map(|_| state.status()))
    }

    /// From the start (or the admission) of the run to its end, or to now.
    pub(crate) fn period(self, now: Timestamp) -> (Timestamp, Timestamp) {
        self.with(|state| (state.started_at.unwrap_or(state.created_at), state.ended_at.unwrap_or(now)))
    }

    /// Reads an output from the worker as far as it is kept there, and puts it in the place of what the stream told.
    pub(crate) async fn read_output(self, key: OutputKey) {
        let Some(run) = self.run.get_untracked() else { return };
        let wanted = OutputWanted { run: run.clone(), index: key.0, attempt: key.1, stream: key.2.stream() };
        let Ok(text) = self.api.output(&wanted, 0).await else { return };
        if self.run.try_get_untracked() == Some(Some(run)) && !text.is_empty() {
            self.fold.update(|fold| fold.outputs.entry(key).or_default().replace(text));
        }
    }
}

/// A moment that moves while `runs` is true and stands still otherwise.
pub(crate) fn moving(runs: Signal<bool>) -> Signal<Timestamp> {
    let ticking = crate::ui::readout::ticking(std::time::Duration::from_millis(200));
    let still = Memo::new(move |before: Option<&Timestamp>| match (runs.get(), before) {
        (true, _) | (false, None) => ticking.get(),
        (false, Some(_)) => now(),
    });
    still.into()
}
