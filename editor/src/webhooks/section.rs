//! The webhooks of one flow: what there is, what was just made, and the way to another.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use weir_shared::ids::FlowId;
use weir_shared::webhook::{Trigger, TriggerSecret};

use super::making::Making;
use super::secret::Shown;
use super::trigger::TriggerRow;
use crate::backend::answer::CallError;
use crate::backend::api::Api;
use crate::ui::button::{Button, Weight};
use crate::ui::icon::Glyph;

/// How often what came in is looked at again while the section is open.
const LOOK: Duration = Duration::from_secs(5);

/// What the section has of the worker.
#[derive(Debug, Clone, PartialEq)]
enum Known {
    NotYet,
    Failed(CallError),
    Triggers(Vec<Trigger>),
}

/// The section for a flow with these inputs, as its schema says them.
#[component]
pub(crate) fn Webhooks(#[prop(into)] id: Signal<FlowId>, #[prop(into)] inputs: Signal<Option<Value>>) -> impl IntoView {
    let api = Api::from_context();
    let known = RwSignal::new(Known::NotYet);
    let fresh = RwSignal::new(None::<TriggerSecret>);
    let making = RwSignal::new(false);
    let look = Callback::new(move |()| {
        let wanted = id.get_untracked();
        spawn_local(async move {
            let found = match api.webhooks().await {
                Ok(list) => {
                    Known::Triggers(list.triggers.into_iter().filter(|one| one.workflow_id == wanted).collect())
                }
                Err(error) => Known::Failed(error),
            };
            // The section may have been closed, or another flow opened, while the answer was on its way.
            if id.try_get_untracked() == Some(wanted) {
                known.try_update(|known| {
                    if *known != found {
                        *known = found;
                    }
                });
            }
        });
    });
    Effect::new(move |_| {
        id.track();
        fresh.set(None);
        making.set(false);
        look.run(());
    });
    if let Ok(again) = set_interval_with_handle(move || look.run(()), LOOK) {
        on_cleanup(move || again.clear());
    }
    let made = Callback::new(move |(trigger,): (TriggerSecret,)| {
        fresh.set(Some(trigger));
        making.set(false);
        look.run(());
    });
    let triggers = move || match known.get() {
        Known::Triggers(triggers) => triggers,
        Known::NotYet | Known::Failed(_) => Vec::new(),
    };
    view! {
        <section class="webhooks" aria-label="Webhooks">
            <header class="webhooks-head">
                <h3>"Webhooks"</h3>
                <span class="push"></span>
                <Show when=move || !making.get()>
                    <Button weight=Weight::Outline glyph=Glyph::Plus on_press=move || making.set(true)>"New webhook"</Button>
                </Show>
            </header>
            <Show when=move || making.get()>
                <Making id schema=inputs on_made=made on_cancel=move || making.set(false) />
            </Show>
            {move || fresh.get().map(|shown| view! { <Shown shown on_done=move || fresh.set(None) /> })}
            {move || match known.get() {
                Known::NotYet => Some(view! { <p class="muted" role="status">"Looking…"</p> }.into_any()),
                Known::Failed(error) => {
                    Some(view! { <p class="error" role="alert">{error.message()}</p> }.into_any())
                }
                Known::Triggers(triggers) if triggers.is_empty() && !making.get() => {
                    Some(
                        view! {
                            <p class="muted">
                                "None yet. A webhook is an address with a secret of its own: whoever posts to it starts this flow, with no token of Weir."
                            </p>
                        }
                        .into_any(),
                    )
                }
                Known::Triggers(_) => None,
            }}
            <ul class="webhooks-list">
                <For each=triggers key=|trigger| trigger.trigger_id.clone() let(trigger)>
                    {
                        let of = trigger.trigger_id.clone();
                        let first = trigger.clone();
                        let now = Memo::new(move |_| {
                            triggers().into_iter().find(|one| one.trigger_id == of).unwrap_or_else(|| first.clone())
                        });
                        view! { <TriggerRow trigger=now on_secret=made on_gone=look /> }
                    }
                </For>
            </ul>
        </section>
    }
}
