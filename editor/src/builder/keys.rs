//! The keyboard of the builder.
//!
//! A key never acts on the canvas while a person types, while an input method composes, or while a dialog is open;
//! only saving works everywhere.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use crate::backend::api::Api;
use crate::canvas::card::dom_id;
use crate::geometry::arrange::Direction;
use crate::gesture::input::{Input, Joining};
use crate::gesture::machine::Gesture;
use crate::model::item::{Item, Selection};
use crate::state::stage::{Question, Stage};

/// Where a key goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    /// A field or a dialog: the key is typed there.
    Typing,
    /// A button or a link: Enter and Space press it.
    Control,
    Canvas,
}

pub(super) fn focus_of(event: &web_sys::Event) -> Focus {
    // The first of the path is where the key really went, also inside a shadow root.
    let target = event.composed_path().get(0);
    let Ok(element) = target.dyn_into::<Element>() else { return Focus::Canvas };
    if element.dyn_ref::<HtmlElement>().is_some_and(HtmlElement::is_content_editable) {
        return Focus::Typing;
    }
    match element.tag_name().as_str() {
        "INPUT" | "TEXTAREA" | "SELECT" => return Focus::Typing,
        _ => {}
    }
    if matches!(element.closest("dialog, [role='listbox'], [role='menu'], [role='tree']"), Ok(Some(_))) {
        return Focus::Typing;
    }
    match element.tag_name().as_str() {
        "BUTTON" | "A" | "SUMMARY" => Focus::Control,
        _ => Focus::Canvas,
    }
}

/// Listens for as long as the current owner lives.
pub(crate) fn listen(stage: Stage, sheet: RwSignal<bool>) {
    let api = Api::from_context();
    let down = window_event_listener(ev::keydown, move |event| press(&event, stage, api, sheet));
    let up = window_event_listener(ev::keyup, move |event| {
        if event.key() == " " {
            stage.hold_panning_key(false);
        }
    });
    // A key that goes up in another window is never heard of.
    let blur = window_event_listener(ev::blur, move |_| stage.hold_panning_key(false));
    on_cleanup(move || {
        down.remove();
        up.remove();
        blur.remove();
    });
}

fn press(event: &KeyboardEvent, stage: Stage, api: Api, sheet: RwSignal<bool>) {
    if event.is_composing() || event.key_code() == 229 {
        return;
    }
    let builder = stage.builder();
    let command = event.ctrl_key() || event.meta_key();
    let key = event.key();
    if command && key.eq_ignore_ascii_case("s") {
        event.prevent_default();
        if builder.is_dirty_untracked() {
            builder.save(api);
        }
        return;
    }
    let focus = focus_of(event);
    if focus == Focus::Typing {
        return;
    }
    if key == "?" && !command {
        event.prevent_default();
        sheet.set(true);
        return;
    }
    let done = if command { with_command(&key, event.shift_key(), stage) } else { plain(event, &key, focus, stage) };
    if done {
        event.prevent_default();
    }
}

/// Keys with Ctrl or Cmd. Whether the key did something.
fn with_command(key: &str, shift: bool, stage: Stage) -> bool {
    let builder = stage.builder();
    match (key.to_ascii_lowercase().as_str(), shift) {
        ("z", false) => builder.undo(),
        ("z", true) | ("y", false) => builder.redo(),
        ("a", false) => stage.select_all(),
        ("d", false) => stage.duplicate(),
        ("k", false) => stage.asked.set(Some(Question::Command)),
        ("f", false) => stage.asked.set(Some(Question::Find)),
        _ => return false,
    }
    true
}

fn direction(key: &str) -> Option<Direction> {
    match key {
        "ArrowLeft" => Some(Direction::Left),
        "ArrowRight" => Some(Direction::Right),
        "ArrowUp" => Some(Direction::Up),
        "ArrowDown" => Some(Direction::Down),
        _ => None,
    }
}

/// Keys without Ctrl or Cmd. Whether the key did something.
fn plain(event: &KeyboardEvent, key: &str, focus: Focus, stage: Stage) -> bool {
    if let Some(direction) = direction(key) {
        if event.alt_key() {
            stage.nudge(direction);
        } else if let Some(item) = stage.go(direction) {
            focus_item(&item);
        }
        return true;
    }
    match (key, focus) {
        ("Escape", _) => {
            let was_idle = stage.gesture.with_untracked(|gesture| *gesture == Gesture::Idle);
            stage.feed(Input::Escape);
            if was_idle {
                stage.builder().selection.set(Selection::new());
            }
        }
        ("Delete" | "Backspace", _) => stage.remove_selection(),
        // With Alt some keyboards make another letter of it.
        _ if event.code() == "KeyT" && event.shift_key() && event.alt_key() => stage.tidy(),
        _ if event.alt_key() => return false,
        ("f" | "F", _) => stage.fit(),
        ("n" | "/", _) => stage.asked.set(Some(Question::Add { at: stage.pointed_at() })),
        ("N", _) => stage.add_note(),
        ("c" | "C", _) => stage.ask_target(),
        (" ", Focus::Canvas) => match focused_item(event) {
            Some(item) => stage.select(item, Joining::Replace),
            None => stage.hold_panning_key(true),
        },
        ("Enter", Focus::Canvas) => match focused_item(event) {
            Some(item) => stage.select(item, Joining::Replace),
            None => match selected_note(stage) {
                Some(note) => stage.write_in(&note),
                None => return false,
            },
        },
        _ => return false,
    }
    true
}

/// The card that has the focus and is not selected yet.
fn focused_item(event: &KeyboardEvent) -> Option<Item> {
    let element: Element = event.target()?.dyn_into().ok()?;
    if element.get_attribute("data-part").as_deref() != Some("card") {
        return None;
    }
    Some(element.get_attribute("data-id").map_or(Item::Start, Item::Node))
}

fn focus_item(item: &Item) {
    let element = dom_id(item).and_then(|id| document().get_element_by_id(&id));
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let options = web_sys::FocusOptions::new();
        options.set_prevent_scroll(true);
        // An element that is on the page can be focused.
        let _ = element.focus_with_options(&options);
    }
}

/// The one note that is selected.
fn selected_note(stage: Stage) -> Option<String> {
    stage.builder().selection.with_untracked(|selection| match selection.first() {
        Some(Item::Note(id)) if selection.len() == 1 => Some(id.clone()),
        Some(_) | None => None,
    })
}
