//! A field of JSON: free text that is a value once it parses, with what is wrong said in place.

use leptos::prelude::*;
use serde_json::Value;

use super::readable::{fault, pretty};
use super::text::TextArea;

/// Edits a JSON value. Text that does not parse stays in the field and changes nothing outside.
#[component]
pub(crate) fn JsonField(
    #[prop(into)] id: String,
    /// The value outside; absent is an empty field.
    #[prop(into)]
    value: Signal<Option<Value>>,
    #[prop(optional, into)] placeholder: String,
    #[prop(optional_no_strip, into)] name: Option<String>,
    /// The parsed value, or absent when the field was emptied.
    #[prop(into)]
    on_change: Callback<(Option<Value>,)>,
) -> impl IntoView {
    let text = RwSignal::new(value.with_untracked(|value| value.as_ref().map(pretty).unwrap_or_default()));
    // The text follows the value unless it already stands for it: what a person is typing is not reformatted.
    Effect::new(move |_| {
        let outside = value.get();
        let inside = text.with_untracked(|text| serde_json::from_str::<Value>(text).ok());
        let half_typed = inside.is_none() && text.with_untracked(|text| !text.trim().is_empty());
        if inside != outside && !half_typed {
            text.set(outside.as_ref().map(pretty).unwrap_or_default());
        }
    });
    let wrong = Memo::new(move |_| text.with(|text| if text.trim().is_empty() { None } else { fault(text) }));
    view! {
        <TextArea id=id value=text placeholder=placeholder name class="control mono" invalid=Signal::derive(move || wrong.get().is_some())
            on_input=move |typed: String| {
                if typed.trim().is_empty() {
                    on_change.run((None,));
                } else if let Ok(value) = serde_json::from_str(&typed) {
                    on_change.run((Some(value),));
                }
                text.set(typed);
            } />
        <Show when=move || wrong.get().is_some()>
            <p class="error" role="alert">{move || wrong.get()}</p>
        </Show>
    }
}
