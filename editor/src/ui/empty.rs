//! What a list shows when it has nothing: why, and what to do next.

use leptos::prelude::*;

use super::icon::{Glyph, Icon};

/// A calm place holder with a way on.
#[component]
pub(crate) fn Empty(
    glyph: Glyph,
    #[prop(into)] title: String,
    #[prop(into)] text: String,
    #[prop(optional)] children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="empty">
            <span class="empty-glyph"><Icon glyph size=26 /></span>
            <h2>{title}</h2>
            <p class="muted">{text}</p>
            {children.map(|children| view! { <div class="empty-act">{children()}</div> })}
        </div>
    }
}
