//! The builder: one flow, drawn, configured, saved, run.

use leptos::prelude::*;

/// `/flows/{id}`.
#[component]
pub(crate) fn BuilderPage() -> impl IntoView {
    view! { <main class="builder"></main> }
}
