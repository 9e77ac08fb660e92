//! A modal dialog on the browser's own `<dialog>`: it traps focus, closes on Escape and gives focus back.

use leptos::html;
use leptos::prelude::*;

use super::button::IconButton;
use super::field::fresh_id;
use super::icon::Glyph;

/// A dialog that is open while `open` is true. Its content is made anew each time, so a form in it starts clean.
#[component]
pub(crate) fn Dialog(open: RwSignal<bool>, #[prop(into)] title: Signal<String>, children: ChildrenFn) -> impl IntoView {
    let element = NodeRef::<html::Dialog>::new();
    let heading = fresh_id("dialog");
    let labelled = heading.clone();
    Effect::new(move |_| {
        let Some(element) = element.get() else { return };
        if open.get() {
            if !element.open() {
                // Fails only for a dialog that is not in the document, and then there is nothing to show.
                let _ = element.show_modal();
            }
        } else if element.open() {
            element.close();
        }
    });
    let children = StoredValue::new(children);
    view! {
        <dialog class="dialog" node_ref=element aria-labelledby=labelled on:close=move |_| open.set(false)
            on:mousedown=move |event| {
                // A press on the backdrop reaches the dialog element itself; one inside reaches its content.
                let on_backdrop = event.target().zip(element.get_untracked()).is_some_and(|(target, element)| {
                    let element: &web_sys::EventTarget = element.as_ref();
                    *element == target
                });
                if on_backdrop {
                    open.set(false);
                }
            }>
            <div class="dialog-frame">
                <header>
                    <h2 id=heading>{move || title.get()}</h2>
                    <span class="push"></span>
                    <IconButton glyph=Glyph::X name="Close" on_press=move || open.set(false) />
                </header>
                <Show when=move || open.get()>{children.with_value(|children| children())}</Show>
            </div>
        </dialog>
    }
}
