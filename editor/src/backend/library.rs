//! The stream of the library: which flows there are and which have changed, for whoever shows any of them.
//!
//! It is opened again when the browser has given it up, and closed with the component that made it.

use std::time::Duration;

use leptos::prelude::*;
use weir_shared::wire::LibraryFrame;

use super::connection::Connection;
use super::events::{Arrival, Events, Slot};

/// Before a stream the browser gave up on is opened again.
const REOPEN: Duration = Duration::from_secs(2);

/// The stream, open or not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LibraryStream {
    slot: Slot,
    connection: Connection,
}

impl LibraryStream {
    /// A stream that is not open yet, and lives as long as the calling component.
    pub(crate) fn new() -> Self {
        Self { slot: Slot::new(), connection: Connection::from_context() }
    }

    /// Opens it, or opens it again. `hear` is told every frame; none is one that this page does not know, which still
    /// says that something changed. It stays open as long as it `is_wanted`.
    pub(crate) fn open(
        self,
        is_wanted: impl Fn() -> bool + Copy + 'static,
        hear: impl Fn(Option<LibraryFrame>) + Copy + 'static,
    ) {
        let tell = move |arrival: Arrival| match arrival {
            Arrival::Opened => self.connection.found(),
            Arrival::Frame { name, data } => {
                hear(serde_json::from_str(&format!("{{\"event\":\"{name}\",\"data\":{data}}}")).ok());
            }
            Arrival::Broken => self.connection.lost(),
            Arrival::Closed => {
                self.slot.close_soon();
                let again = move || {
                    if is_wanted() {
                        self.open(is_wanted, hear);
                    }
                };
                set_timeout(again, REOPEN);
            }
        };
        self.slot.put(Events::open("/api/workflows/events", &["snapshot", "flow_changed", "flow_removed"], tell));
    }

    /// Closes it until it is opened again.
    pub(crate) fn close(self) {
        self.slot.put(None);
    }
}
