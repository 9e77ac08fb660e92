//! A save that would overwrite a newer file, or that failed: what happened and the ways on.

use leptos::prelude::*;

use crate::backend::api::Api;
use crate::state::builder::{Builder, Saving};
use crate::ui::button::{Button, Weight};
use crate::ui::icon::{Glyph, Icon};

/// The bar over the canvas; nothing while saving goes well.
#[component]
pub(crate) fn ConflictBar(comparing: RwSignal<bool>) -> impl IntoView {
    let builder: Builder = expect_context();
    let api = Api::from_context();
    move || match builder.saving.get() {
        Saving::Idle | Saving::UnderWay => None,
        Saving::Failed(why) => Some(
            view! {
                <div class="save-trouble" role="alert">
                    <Icon glyph=Glyph::Alert />
                    <p><b>"Not saved. "</b>{why}</p>
                    <Button weight=Weight::Outline on_press=move || builder.save(api)>"Try again"</Button>
                    <Button on_press=move || builder.saving.set(Saving::Idle)>"Close"</Button>
                </div>
            }
            .into_any(),
        ),
        Saving::Conflict(theirs) => {
            let unreadable = theirs.flow.is_none();
            let told = if unreadable {
                "The file on disk changed since you opened it, and cannot be read as a flow. Yours is untouched here."
            } else {
                "The file on disk changed since you opened it. Nothing was overwritten: yours is here, theirs on disk."
            };
            Some(
                view! {
                    <div class="save-trouble" role="alert">
                        <Icon glyph=Glyph::Alert />
                        <p><b>"Two versions. "</b>{told}</p>
                        <Show when=move || !unreadable>
                            <Button weight=Weight::Primary on_press=move || comparing.set(true)>"Compare…"</Button>
                        </Show>
                        <Button weight=Weight::Outline on_press=move || builder.keep_mine(api)>"Keep mine"</Button>
                        <Show when=move || !unreadable>
                            <Button weight=Weight::Outline on_press=move || builder.take_theirs()>"Take theirs"</Button>
                        </Show>
                        <Button on_press=move || builder.saving.set(Saving::Idle)>"Decide later"</Button>
                    </div>
                }
                .into_any(),
            )
        }
    }
}
