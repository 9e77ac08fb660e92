//! Copy, cut and paste through the browser's own events, which work on plain http and across tabs, where the
//! clipboard interface does not.
//!
//! They act on the canvas only when nobody types and no text is selected; a paste into a field is the field's.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{ClipboardEvent, Event};

use super::keys::{Focus, focus_of};
use crate::state::stage::Stage;
use crate::ui::toast::Toasts;

/// Listens for as long as the current owner lives.
pub(crate) fn listen(stage: Stage) {
    let toasts = Toasts::from_context();
    let copy = window_event_listener(ev::copy, move |event| {
        put(&event, stage, toasts);
    });
    let cut = window_event_listener(ev::cut, move |event| {
        if put(&event, stage, toasts) {
            stage.remove_selection();
        }
    });
    let paste = window_event_listener(ev::paste, move |event| take(&event, stage, toasts));
    on_cleanup(move || {
        copy.remove();
        cut.remove();
        paste.remove();
    });
}

fn is_for_canvas(event: &Event) -> bool {
    focus_of(event) != Focus::Typing
}

/// Whether a person has marked text somewhere, which copying is then about.
fn text_is_selected() -> bool {
    let asked = js_sys::Reflect::get(&window(), &"getSelection".into()).ok();
    let selection =
        asked.and_then(|ask| ask.dyn_into::<js_sys::Function>().ok()).and_then(|ask| ask.call0(&window()).ok());
    selection.is_some_and(|selection| selection.is_object() && js_sys::Object::from(selection).to_string().length() > 0)
}

/// Puts what is selected on the clipboard; whether it is there.
fn put(event: &ClipboardEvent, stage: Stage, toasts: Toasts) -> bool {
    if !is_for_canvas(event) || text_is_selected() {
        return false;
    }
    let Some(text) = stage.copied() else { return false };
    event.prevent_default();
    let done = event.clipboard_data().is_some_and(|data| data.set_data("text/plain", &text).is_ok());
    if !done {
        toasts.fail("The browser did not take the copy.");
    }
    done
}

fn take(event: &ClipboardEvent, stage: Stage, toasts: Toasts) {
    if !is_for_canvas(event) {
        return;
    }
    let Some(text) = event.clipboard_data().and_then(|data| data.get_data("text/plain").ok()) else { return };
    event.prevent_default();
    if !text.trim().is_empty() && !stage.paste(&text) {
        toasts.fail("What is on the clipboard is no part of a flow. Copy nodes or a whole flow file to paste it here.");
    }
}
