//! The browser's half of showing values: the clock, the person's zone, and JSON in colours.

use leptos::prelude::*;
use serde_json::Value;
use weir_shared::ids::Timestamp;

use super::readable::{pieces, pretty};

/// A moment in the person's own zone and form.
pub(crate) fn local_time(moment: Timestamp) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a moment in milliseconds is far below 2^53")]
    let date = js_sys::Date::new(&wasm_bindgen::JsValue::from_f64(moment.0 as f64));
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        date.get_full_year(),
        date.get_month() + 1,
        date.get_date(),
        date.get_hours(),
        date.get_minutes(),
        date.get_seconds()
    )
}

/// This moment, by the browser's clock.
pub(crate) fn now() -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds since 1970 fit an i64 by far")]
    Timestamp(js_sys::Date::now() as i64)
}

/// This moment, told anew every `every` for as long as the component that asked lives.
pub(crate) fn ticking(every: std::time::Duration) -> Signal<Timestamp> {
    let moment = RwSignal::new(now());
    if let Ok(interval) = set_interval_with_handle(move || moment.set(now()), every) {
        on_cleanup(move || interval.clear());
    }
    moment.into()
}

/// Values longer than this are shown in one colour: thousands of elements would make the page slow.
const COLOURED_CHARS: usize = 20_000;

/// A JSON value over several lines, coloured.
#[component]
pub(crate) fn Json(value: Value) -> impl IntoView {
    let text = pretty(&value);
    if text.len() > COLOURED_CHARS {
        return view! { <span class="json">{text}</span> }.into_any();
    }
    let spans = pieces(&text)
        .into_iter()
        .map(|(piece, part)| view! { <span class=piece.class()>{part.to_owned()}</span> })
        .collect_view();
    view! { <span class="json">{spans}</span> }.into_any()
}
