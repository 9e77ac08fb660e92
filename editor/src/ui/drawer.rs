//! A drawer: a panel that slides over the right edge of what it stands in, without taking the page away.

use leptos::prelude::*;

use super::button::IconButton;
use super::icon::Glyph;

/// A drawer that is there while `open` is true.
#[component]
pub(crate) fn Drawer(open: RwSignal<bool>, #[prop(into)] title: String, children: ChildrenFn) -> impl IntoView {
    let (children, title) = (StoredValue::new(children), StoredValue::new(title));
    view! {
        <Show when=move || open.get()>
            <aside class="drawer" aria-label=title.get_value()
                on:keydown=move |event| {
                    if event.key() == "Escape" {
                        event.stop_propagation();
                        open.set(false);
                    }
                }>
                <header>
                    <h2>{title.get_value()}</h2>
                    <span class="push"></span>
                    <IconButton glyph=Glyph::X name="Close" on_press=move || open.set(false) />
                </header>
                <div class="drawer-body">{children.with_value(|children| children())}</div>
            </aside>
        </Show>
    }
}
