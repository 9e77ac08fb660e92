//! A chip: one short fact with a coloured dot. The words say it; the dot only repeats them.

use leptos::prelude::*;

/// What a fact means for the person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Good,
    Active,
    Bad,
    Waiting,
    Faint,
}

impl Tone {
    /// The class that sets the tone's colours.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Tone::Plain => "tone-plain",
            Tone::Good => "tone-good",
            Tone::Active => "tone-active",
            Tone::Bad => "tone-bad",
            Tone::Waiting => "tone-waiting",
            Tone::Faint => "tone-faint",
        }
    }
}

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
