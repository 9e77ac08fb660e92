//! Dark or light: what the person chose in this browser, else what the system prefers.
//!
//! The choice lives in `localStorage` and on the root element as `data-theme`; the tokens do the rest.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use super::button::IconButton;
use super::icon::Glyph;

const KEY: &str = "weir-theme";

/// One of the two looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    Dark,
    Light,
}

impl Theme {
    fn word(self) -> &'static str {
        match self {
            Theme::Dark => "dark",
            Theme::Light => "light",
        }
    }

    fn other(self) -> Self {
        match self {
            Theme::Dark => Theme::Light,
            Theme::Light => Theme::Dark,
        }
    }

    /// What was kept in this browser.
    fn kept() -> Option<Self> {
        let storage = window().local_storage().ok().flatten()?;
        match storage.get_item(KEY).ok().flatten()?.as_str() {
            "dark" => Some(Theme::Dark),
            "light" => Some(Theme::Light),
            _ => None,
        }
    }
}

fn light_is_preferred() -> Option<web_sys::MediaQueryList> {
    window().match_media("(prefers-color-scheme: light)").ok().flatten()
}

fn preferred() -> Theme {
    match light_is_preferred() {
        Some(query) if query.matches() => Theme::Light,
        Some(_) | None => Theme::Dark,
    }
}

/// Chooses the look, keeps the root element in step with it, and puts the signal in the context.
pub(crate) fn provide_theme() -> RwSignal<Theme> {
    let theme = RwSignal::new(Theme::kept().unwrap_or_else(preferred));
    provide_context(theme);
    Effect::new(move |_| {
        if let Some(root) = document().document_element() {
            // Setting an attribute of the root element cannot fail.
            let _ = root.set_attribute("data-theme", theme.get().word());
        }
    });
    if let Some(query) = light_is_preferred() {
        let follow = Closure::<dyn Fn()>::new(move || {
            if Theme::kept().is_none() {
                theme.set(preferred());
            }
        });
        query.set_onchange(Some(follow.as_ref().unchecked_ref()));
        // It lives as long as the page.
        follow.forget();
    }
    let other_tab = window_event_listener(ev::storage, move |_| {
        if let Some(kept) = Theme::kept() {
            theme.set(kept);
        }
    });
    on_cleanup(move || other_tab.remove());
    theme
}

/// The button that turns one look into the other.
#[component]
pub(crate) fn ThemeSwitch() -> impl IntoView {
    let theme: RwSignal<Theme> = expect_context();
    let turn = move || {
        let next = theme.get_untracked().other();
        theme.set(next);
        if let Ok(Some(storage)) = window().local_storage() {
            // A browser that keeps nothing still shows the choice until the page is left.
            let _ = storage.set_item(KEY, next.word());
        }
    };
    view! {
        {move || match theme.get() {
            Theme::Dark => view! { <IconButton glyph=Glyph::Sun name="Light theme" on_press=turn /> },
            Theme::Light => view! { <IconButton glyph=Glyph::Moon name="Dark theme" on_press=turn /> },
        }}
    }
}
