//! A chip: one short fact with a coloured dot. The words say it; the dot only repeats them.

use leptos::prelude::*;

pub(crate) use super::tone::Tone;

/// A rounded chip with a dot in the tone's colour.
#[component]
pub(crate) fn Chip(#[prop(into)] tone: Signal<Tone>, #[prop(into)] text: Signal<String>) -> impl IntoView {
    view! {
        <span class=move || format!("chip {}", tone.get().class())>
            <i class="dot"></i>
            {move || text.get()}
        </span>
    }
}

/// A dot and words, without a frame.
#[component]
pub(crate) fn Fact(#[prop(into)] tone: Signal<Tone>, #[prop(into)] text: Signal<String>) -> impl IntoView {
    view! {
        <span class=move || format!("fact {}", tone.get().class())>
            <i class="dot"></i>
            <span class="ellipsis">{move || text.get()}</span>
        </span>
    }
}
