//! Unsaved work kept in the browser itself, so that a killed tab, a panic or a lost session loses none.
//!
//! Written half a second after a change at the latest, and at once when the page is hidden, left, or stops with a
//! panic. Each page has a place of its own per flow, so two tabs never write over each other; what a page that is
//! gone left behind is offered when its flow is opened again, and stays until a person takes or discards it.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use weir_shared::flow::Flow;
use weir_shared::ids::{FlowId, Revision};

use super::builder::Builder;
use crate::ui::toast::Toasts;

/// After a change it is written within half a second, drawing included.
const SOON: Duration = Duration::from_millis(350);
/// The format this build writes.
const FORMAT: u64 = 1;

/// Unsaved work as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Kept {
    format: u64,
    pub(crate) flow: Flow,
    /// The revision of the file it started from.
    pub(crate) revision: Revision,
    /// Milliseconds since 1970.
    pub(crate) kept_at: f64,
}

/// Unsaved work of a page that is gone, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Left {
    key: String,
    pub(crate) kept: Kept,
}

/// What is to be written; the panic hook reads it, which has no signals.
struct Latest {
    key: String,
    work: Option<(Arc<Flow>, Revision)>,
}

thread_local! {
    /// Tells this page from others.
    static PAGE: u32 = {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number below 2^32")]
        let number = (js_sys::Math::random() * f64::from(u32::MAX)) as u32;
        number
    };
    static LATEST: RefCell<Option<Latest>> = const { RefCell::new(None) };
}

/// What the browser said when it could not keep something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Full;

fn prefix(id: &FlowId) -> String {
    format!("weir.draft/{id}/")
}

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

/// Writes what is to be written, or removes it when nothing is unsaved.
fn write() -> Result<(), Full> {
    let Some(storage) = storage() else { return Err(Full) };
    LATEST.with(|latest| {
        let Ok(latest) = latest.try_borrow() else { return Ok(()) };
        let Some(Latest { key, work }) = latest.as_ref() else { return Ok(()) };
        match work {
            Some((flow, revision)) => {
                let kept = Kept {
                    format: FORMAT,
                    flow: (**flow).clone(),
                    revision: revision.clone(),
                    kept_at: js_sys::Date::now(),
                };
                let text = serde_json::to_string(&kept).map_err(|_| Full)?;
                storage.set_item(key, &text).map_err(|_| Full)
            }
            None => storage.remove_item(key).map_err(|_| Full),
        }
    })
}

/// Keeps a builder's unsaved work for as long as the current owner lives.
pub(crate) fn keep(builder: Builder) {
    let toasts = Toasts::from_context();
    let due = StoredValue::new(false);
    let told = StoredValue::new(false);
    let write_now = move || {
        if write().is_err() && told.try_get_value() == Some(false) {
            told.set_value(true);
            toasts.fail("The browser's storage is full or closed: unsaved changes are kept in this tab only.");
        }
    };
    Effect::new(move |_| {
        let work = builder.is_dirty().then(|| (builder.flow.get(), builder.revision.get()));
        let key = format!("{}{}", prefix(&builder.id.get_untracked()), PAGE.with(|page| *page));
        LATEST.with_borrow_mut(|latest| *latest = Some(Latest { key, work }));
        if due.get_value() {
            return;
        }
        due.set_value(true);
        set_timeout(
            move || {
                // The page may have been left meanwhile; then it was written at that moment.
                if due.try_set_value(false).is_none() {
                    write_now();
                }
            },
            SOON,
        );
    });
    let hidden = window_event_listener(ev::visibilitychange, move |_| write_now());
    let left = window_event_listener(ev::pagehide, move |_| write_now());
    on_cleanup(move || {
        // Nothing to do about a full storage here: the tab itself keeps the draft.
        let _ = write();
        LATEST.with_borrow_mut(|latest| *latest = None);
        hidden.remove();
        left.remove();
    });
}

/// What pages that are gone left of a flow, the newest first. What cannot be read as a draft is left alone.
pub(crate) fn left_behind(id: &FlowId) -> Vec<Left> {
    let (prefix, own) = (prefix(id), PAGE.with(u32::to_string));
    let Some(storage) = storage() else { return Vec::new() };
    let keys = (0..storage.length().unwrap_or(0)).filter_map(|at| storage.key(at).ok().flatten());
    let keys = keys.filter(|key| key.strip_prefix(&prefix).is_some_and(|page| page != own));
    let mut left: Vec<Left> = keys
        .filter_map(|key| {
            let kept: Kept = serde_json::from_str(&storage.get_item(&key).ok()??).ok()?;
            (kept.format == FORMAT).then_some(Left { key, kept })
        })
        .collect();
    left.sort_by(|one, other| other.kept.kept_at.total_cmp(&one.kept.kept_at));
    left
}

/// Forgets what was left behind.
pub(crate) fn discard(left: &Left) {
    if let Some(storage) = storage() {
        // A storage that does not remove offers it once more; nothing is lost.
        let _ = storage.remove_item(&left.key);
    }
}

/// The page stops: keeps the work, and says so over everything. Called from the panic hook, so it asks nothing of the
/// page's own state.
pub(crate) fn rescue() {
    let kept = write().is_ok();
    let Some(body) = document().body() else { return };
    let Ok(element) = document().create_element("div") else { return };
    element.set_class_name("page-stopped");
    // A screen reader says it at once.
    let _ = element.set_attribute("role", "alertdialog");
    let told = if kept {
        "Your unsaved changes are kept in this browser and are offered when the flow is opened again."
    } else {
        "Unsaved changes could not be kept: the browser's storage is full or closed."
    };
    element.set_inner_html(&format!(
        "<div><h1>This page has stopped</h1><p>Something went wrong inside it. {told} The worker and its runs go on.</p>\
         <a class=\"btn primary\" href=\"\">Reload the page</a></div>"
    ));
    let _ = body.append_child(&element);
}
