//! Buttons: with words, and with a glyph alone (then the name is a tooltip and the accessible name).

use leptos::prelude::*;

use super::icon::{Glyph, Icon};

/// How loud a button is. A view has at most one primary button.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Weight {
    Primary,
    Outline,
    #[default]
    Quiet,
    Danger,
}

impl Weight {
    fn class(self) -> &'static str {
        match self {
            Weight::Primary => "btn primary",
            Weight::Outline => "btn outline",
            Weight::Quiet => "btn",
            Weight::Danger => "btn danger",
        }
    }
}

/// A button with words.
#[component]
pub(crate) fn Button(
    #[prop(optional)] weight: Weight,
    #[prop(optional, into)] disabled: Signal<bool>,
    /// Stands before the words.
    #[prop(optional)]
    glyph: Option<Glyph>,
    /// Shown on hover: a shortcut, or why it is disabled.
    #[prop(optional, into)]
    hint: Signal<String>,
    #[prop(into)] on_press: Callback<()>,
    children: Children,
) -> impl IntoView {
    view! {
        <button type="button" class=weight.class() disabled=move || disabled.get()
            title=move || Some(hint.get()).filter(|hint| !hint.is_empty())
            on:click=move |_| on_press.run(())>
            {glyph.map(|glyph| view! { <Icon glyph /> })}
            {children()}
        </button>
    }
}

/// A button that is a glyph.
#[component]
pub(crate) fn IconButton(
    glyph: Glyph,
    /// Its accessible name and tooltip.
    #[prop(into)]
    name: Signal<String>,
    #[prop(optional, into)] disabled: Signal<bool>,
    /// Set on a switch-like button.
    #[prop(optional)]
    pressed: Option<Signal<bool>>,
    #[prop(into)] on_press: Callback<()>,
) -> impl IntoView {
    view! {
        <button type="button" class="btn icon-btn" disabled=move || disabled.get() aria-label=move || name.get()
            data-tip=move || name.get()
            aria-pressed=pressed.map(|pressed| move || if pressed.get() { "true" } else { "false" })
            on:click=move |_| on_press.run(())>
            <Icon glyph size=17 />
        </button>
    }
}
