//! Unsaved work of a page that is gone: offered over the canvas, taken or discarded by a person.

use leptos::prelude::*;
use leptos::task::spawn_local;
use weir_shared::ids::Timestamp;

use crate::backend::api::Api;
use crate::state::builder::Builder;
use crate::state::local::{Left, discard, left_behind};
use crate::ui::button::{Button, Weight};
use crate::ui::icon::{Glyph, Icon};
use crate::ui::readout::local_time;
use crate::ui::toast::Toasts;

/// The offer; nothing when nothing was left behind, or only what is here anyway.
#[component]
pub(crate) fn Recovered() -> impl IntoView {
    let builder: Builder = expect_context();
    let (api, toasts) = (Api::from_context(), Toasts::from_context());
    let here = builder.flow.get_untracked();
    let mut found = left_behind(&builder.id.get_untracked());
    found.retain(|left| {
        let news = left.kept.flow != *here;
        if !news {
            discard(left);
        }
        news
    });
    let offers = RwSignal::new(found);
    let done = move |left: &Left| {
        discard(left);
        offers.update(|offers| offers.retain(|other| other != left));
    };
    move || {
        let left = offers.with(|offers| offers.first().cloned())?;
        #[expect(clippy::cast_possible_truncation, reason = "a date in milliseconds")]
        let when = local_time(Timestamp(left.kept.kept_at as i64));
        let (taken, dropped) = (left.clone(), left);
        let restore = move || {
            builder.restore(&taken.kept);
            done(&taken);
            // Another revision on disk is a conflict, and better met now than at the next save.
            spawn_local(async move { builder.look_at_file(api, None).await });
        };
        Some(view! {
            <div class="save-trouble recovered" role="alert">
                <Icon glyph=Glyph::Reload />
                <p><b>"Unsaved changes. "</b>{format!("This browser kept changes of {when} that were never saved.")}</p>
                <Button weight=Weight::Primary on_press=restore>"Restore"</Button>
                <Button
                    on_press=move || {
                        done(&dropped);
                        toasts.say("The unsaved changes are discarded.");
                    }>"Discard"</Button>
            </div>
        })
    }
}
