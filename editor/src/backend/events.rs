//! An open `EventSource` with named frames, closed when it is dropped.
//!
//! The browser reconnects by itself and sends `Last-Event-ID`; when it has given up (an answer that is not a stream)
//! the owner is told and decides. A worker's own `error` frame and the browser's `error` event share a name: the
//! frame has data.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{EventSource, MessageEvent};

/// What came from a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The connection stands (again).
    Opened,
    /// A frame of this name.
    Frame { name: String, data: String },
    /// The connection broke; the browser tries again by itself.
    Broken,
    /// The browser has given up: the worker has nothing more to send (204), refused, or answered with no stream.
    Closed,
}

/// An open stream.
pub(crate) struct Events {
    source: EventSource,
    _listeners: Vec<Closure<dyn Fn(MessageEvent)>>,
    _opened: Closure<dyn Fn()>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").field("url", &self.source.url()).finish_non_exhaustive()
    }
}

impl Events {
    /// Opens the stream at `path`, listening for frames of these names. `None` when the browser refuses the address.
    pub(crate) fn open(path: &str, names: &[&'static str], tell: impl Fn(Arrival) + Clone + 'static) -> Option<Self> {
        let source = EventSource::new(path).ok()?;
        let mut listeners = Vec::new();
        for name in names.iter().copied().filter(|name| *name != "error") {
            let tell = tell.clone();
            let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
                if let Some(data) = event.data().as_string() {
                    tell(Arrival::Frame { name: name.to_owned(), data });
                }
            });
            source.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref()).ok()?;
            listeners.push(listener);
        }
        let (told, asked) = (tell.clone(), source.clone());
        let failed = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            // The browser's own error event is no MessageEvent: `data` is then undefined.
            match js_sys::Reflect::get(event.as_ref(), &"data".into()).ok().and_then(|data| data.as_string()) {
                Some(data) => told(Arrival::Frame { name: "error".to_owned(), data }),
                None if asked.ready_state() == EventSource::CLOSED => told(Arrival::Closed),
                None => told(Arrival::Broken),
            }
        });
        source.add_event_listener_with_callback("error", failed.as_ref().unchecked_ref()).ok()?;
        listeners.push(failed);
        let opened = Closure::<dyn Fn()>::new(move || tell(Arrival::Opened));
        source.set_onopen(Some(opened.as_ref().unchecked_ref()));
        Some(Self { source, _listeners: listeners, _opened: opened })
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.source.set_onopen(None);
        self.source.close();
    }
}

/// The place of at most one open stream, as long as its owner lives.
#[derive(Clone, Copy)]
pub(crate) struct Slot(StoredValue<Option<Events>, LocalStorage>);

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").finish_non_exhaustive()
    }
}

impl Slot {
    /// An empty place. What it holds is closed when the component that made it goes.
    pub(crate) fn new() -> Self {
        let slot = Self(StoredValue::new_local(None));
        on_cleanup(move || slot.put(None));
        slot
    }

    /// Closes what was there and keeps this one.
    pub(crate) fn put(self, events: Option<Events>) {
        self.0.try_set_value(events);
    }

    /// Closes the stream once the frame that is being told has been dealt with: a listener must not drop itself.
    pub(crate) fn close_soon(self) {
        set_timeout(move || self.put(None), std::time::Duration::ZERO);
    }
}
