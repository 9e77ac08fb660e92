//! The frame of every form field: label, type, marks, the control, help and what is wrong, tied together for readers.

use leptos::prelude::*;

/// Makes ids that are unique within the page, to tie a label to its control.
pub(crate) fn fresh_id(stem: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("{stem}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A labelled field around a control. `control` is the id the control carries.
#[component]
pub(crate) fn Field(
    #[prop(into)] label: Signal<String>,
    #[prop(into)] control: String,
    /// A required field says so in words, not by colour.
    #[prop(optional, into)]
    required: Signal<bool>,
    /// The type of the value, shown beside the label in its colour.
    #[prop(optional, into)]
    data_type: Signal<String>,
    #[prop(optional, into)] help: Signal<String>,
    /// What is wrong, one sentence each.
    #[prop(optional, into)]
    errors: Signal<Vec<String>>,
    /// Stands at the right end of the label's line.
    #[prop(optional)]
    beside: Option<AnyView>,
    children: Children,
) -> impl IntoView {
    let described = format!("{control}-about");
    view! {
        <div class="field" class:wrong=move || !errors.with(Vec::is_empty)>
            <div class="field-top">
                <label for=control.clone()>{move || label.get()}</label>
                <Show when=move || required.get()>
                    <span class="required" title="Required">"required"</span>
                </Show>
                <Show when=move || !data_type.with(String::is_empty)>
                    <span class=move || format!("type type-{}", data_type.get())>{move || data_type.get()}</span>
                </Show>
                <span class="push"></span>
                <span class="field-beside">{beside}</span>
            </div>
            {children()}
            <div id=described class="field-about">
                <For each=move || errors.get() key=Clone::clone let(error)>
                    <p class="error" role="alert">{error}</p>
                </For>
                <Show when=move || !help.with(String::is_empty)>
                    <p class="help">{move || help.get()}</p>
                </Show>
            </div>
        </div>
    }
}
