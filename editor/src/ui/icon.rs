//! Drawing glyphs in the current colour, and the mark of Weir.
//!
//! A glyph never carries meaning alone, so it is hidden from screen readers; what it stands beside, or the button it
//! stands in, has the name.

use leptos::prelude::*;

pub(crate) use super::glyph::Glyph;

/// A glyph of `size` pixels (16 when not said) in the current colour.
#[component]
pub(crate) fn Icon(#[prop(into)] glyph: Signal<Glyph>, #[prop(default = 16)] size: u32) -> impl IntoView {
    view! {
        <svg class="icon" width=size height=size viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor"
            stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">
            <path d=move || glyph.get().path() />
        </svg>
    }
}

/// The mark of Weir.
#[component]
pub(crate) fn Mark() -> impl IntoView {
    view! {
        <svg class="mark" width="26" height="26" viewBox="0 0 26 26" aria-hidden="true">
            <rect width="26" height="26" rx="8" fill="#0e2a40" />
            <path d="M4 10c3-3 6 3 9 0s6-3 9 0M4 16c3-3 6 3 9 0s6-3 9 0" fill="none" stroke="#4aa8ff" stroke-width="2.2"
                stroke-linecap="round" />
        </svg>
    }
}
