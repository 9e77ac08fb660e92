//! Controls one chooses with: a switch, a list, and a row of segments.

use leptos::prelude::*;

/// On or off.
#[component]
pub(crate) fn Switch(
    #[prop(into)] id: String,
    #[prop(into)] on: Signal<bool>,
    /// The accessible name, where no label stands beside it.
    #[prop(optional, into)]
    name: Option<String>,
    #[prop(optional, into)] disabled: Signal<bool>,
    #[prop(into)] on_change: Callback<(bool,)>,
) -> impl IntoView {
    view! {
        <button type="button" role="switch" class="switch" id=id aria-label=name disabled=move || disabled.get()
            aria-checked=move || if on.get() { "true" } else { "false" }
            on:click=move |_| on_change.run((!on.get_untracked(),))>
            <i></i>
        </button>
    }
}

/// One of a list: its value and its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) words: String,
}

impl Choice {
    /// A choice shown by these words.
    pub(crate) fn new(value: impl Into<String>, words: impl Into<String>) -> Self {
        Self { value: value.into(), words: words.into() }
    }

    /// A choice that is shown as it is.
    pub(crate) fn plain(value: impl Into<String>) -> Self {
        let value = value.into();
        Self { words: value.clone(), value }
    }
}

/// A list to choose one from. A value that is none of the choices stays visible as an extra one.
#[component]
pub(crate) fn Select(
    #[prop(into)] id: String,
    #[prop(into)] value: Signal<String>,
    #[prop(into)] choices: Signal<Vec<Choice>>,
    #[prop(optional, into)] name: Option<String>,
    #[prop(optional, into)] invalid: Signal<bool>,
    #[prop(into)] on_change: Callback<(String,)>,
) -> impl IntoView {
    let shown = move || {
        let (value, mut choices) = (value.get(), choices.get());
        if !choices.iter().any(|choice| choice.value == value) {
            let words = if value.is_empty() { "Choose…".to_owned() } else { value.clone() };
            choices.insert(0, Choice::new(value, words));
        }
        choices
    };
    view! {
        <select class="control" id=id.clone() aria-describedby=format!("{id}-about") aria-label=name
            aria-invalid=move || invalid.get().then_some("true") prop:value=move || value.get()
            on:change=move |event| on_change.run((event_target_value(&event),))>
            {move || {
                shown()
                    .into_iter()
                    .map(|choice| {
                        let chosen = value.with_untracked(|value| *value == choice.value);
                        view! { <option value=choice.value selected=chosen>{choice.words}</option> }
                    })
                    .collect_view()
            }}
        </select>
    }
}

/// A few choices side by side, as radio buttons.
#[component]
pub(crate) fn Segmented(
    /// The accessible name of the group.
    #[prop(into)]
    name: String,
    #[prop(into)] value: Signal<String>,
    choices: Vec<Choice>,
    #[prop(into)] on_change: Callback<(String,)>,
) -> impl IntoView {
    view! {
        <div class="segmented" role="radiogroup" aria-label=name>
            {choices
                .into_iter()
                .map(|choice| {
                    let (mine, sent) = (choice.value.clone(), choice.value);
                    let chosen = Memo::new(move |_| value.with(|value| *value == mine));
                    view! {
                        <button type="button" role="radio" aria-checked=move || if chosen.get() { "true" } else { "false" }
                            on:click=move |_| on_change.run((sent.clone(),))>{choice.words}</button>
                    }
                })
                .collect_view()}
        </div>
    }
}
