//! Controls one types into: a line, a number, several lines, and a search box.
//!
//! A control shows `value` whenever that changes from outside and reports every change while a person types. It
//! never rewrites what is being typed.

use leptos::prelude::*;

use super::icon::{Glyph, Icon};

/// One line of text.
#[component]
pub(crate) fn TextInput(
    #[prop(into)] id: String,
    #[prop(into)] value: Signal<String>,
    #[prop(optional, into)] placeholder: String,
    #[prop(optional, into)] disabled: Signal<bool>,
    #[prop(optional, into)] invalid: Signal<bool>,
    /// The accessible name, where no label stands beside it.
    #[prop(optional, into)]
    name: Option<String>,
    /// `text` when not said; `date`, `password`, … otherwise.
    #[prop(default = "text")]
    kind: &'static str,
    #[prop(into)] on_input: Callback<(String,)>,
    #[prop(optional, into)] on_enter: Option<Callback<()>>,
) -> impl IntoView {
    view! {
        <input class="control" type=kind id=id.clone() aria-describedby=format!("{id}-about") aria-label=name
            placeholder=placeholder autocomplete="off" spellcheck="false" prop:value=move || value.get()
            disabled=move || disabled.get() aria-invalid=move || invalid.get().then_some("true")
            on:input=move |event| on_input.run((event_target_value(&event),))
            on:keydown=move |event| {
                if event.key() == "Enter" && !event.is_composing() && let Some(enter) = on_enter {
                    event.prevent_default();
                    enter.run(());
                }
            } />
    }
}

/// A number. What does not parse as one is reported as the text it is, so that a half-typed `-` is not lost.
#[component]
pub(crate) fn NumberInput(
    #[prop(into)] id: String,
    #[prop(into)] value: Signal<String>,
    #[prop(optional, into)] placeholder: String,
    #[prop(optional, into)] invalid: Signal<bool>,
    #[prop(into)] on_input: Callback<(String,)>,
) -> impl IntoView {
    view! {
        <input class="control" type="text" inputmode="decimal" id=id.clone() aria-describedby=format!("{id}-about")
            placeholder=placeholder autocomplete="off" prop:value=move || value.get()
            aria-invalid=move || invalid.get().then_some("true")
            on:input=move |event| on_input.run((event_target_value(&event),)) />
    }
}

/// Several lines of text, which grow with it up to a third of the window.
#[component]
pub(crate) fn TextArea(
    #[prop(into)] id: String,
    #[prop(into)] value: Signal<String>,
    #[prop(optional, into)] placeholder: String,
    #[prop(default = "control")] class: &'static str,
    #[prop(optional, into)] invalid: Signal<bool>,
    #[prop(optional_no_strip, into)] name: Option<String>,
    #[prop(into)] on_input: Callback<(String,)>,
) -> impl IntoView {
    let rows = move || value.with(|text| text.lines().count().clamp(3, 14)).to_string();
    view! {
        <textarea class=class id=id.clone() aria-describedby=format!("{id}-about") aria-label=name placeholder=placeholder
            rows=rows spellcheck="false" prop:value=move || value.get()
            aria-invalid=move || invalid.get().then_some("true")
            on:input=move |event| on_input.run((event_target_value(&event),))></textarea>
    }
}

/// A search box with its glyph.
#[component]
pub(crate) fn SearchBox(
    #[prop(into)] name: String,
    #[prop(into)] value: Signal<String>,
    #[prop(into)] on_input: Callback<(String,)>,
) -> impl IntoView {
    let placeholder = name.clone();
    view! {
        <div class="search-box">
            <Icon glyph=Glyph::Search size=15 />
            <input type="search" aria-label=name placeholder=placeholder autocomplete="off" spellcheck="false"
                prop:value=move || value.get() on:input=move |event| on_input.run((event_target_value(&event),)) />
        </div>
    }
}
