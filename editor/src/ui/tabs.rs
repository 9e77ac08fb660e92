//! Tabs over one area.

use leptos::prelude::*;

use super::choice::Choice;

/// A row of tabs. The page shows what belongs to `value` beneath.
#[component]
pub(crate) fn Tabs(
    #[prop(into)] name: String,
    #[prop(into)] value: Signal<String>,
    choices: Vec<Choice>,
    /// Stands at the right end.
    #[prop(optional)]
    beside: Option<AnyView>,
    #[prop(into)] on_change: Callback<(String,)>,
) -> impl IntoView {
    view! {
        <div class="tabs">
            <div class="tab-list" role="tablist" aria-label=name>
                {choices
                    .into_iter()
                    .map(|choice| {
                        let (mine, sent) = (choice.value.clone(), choice.value);
                        let chosen = Memo::new(move |_| value.with(|value| *value == mine));
                        view! {
                            <button type="button" role="tab" aria-selected=move || if chosen.get() { "true" } else { "false" }
                                on:click=move |_| on_change.run((sent.clone(),))>{choice.words}</button>
                        }
                    })
                    .collect_view()}
            </div>
            <span class="push"></span>
            {beside}
        </div>
    }
}
