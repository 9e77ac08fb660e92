//! One webhook: whether it takes calls, where, what came in last, and its two irreversible verbs.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::components::A;
use weir_shared::ids::TriggerId;
use weir_shared::webhook::{Delivery, Trigger, TriggerSecret};

use super::secret::CopyButton;
use super::words;
use crate::backend::answer::CallError;
use crate::backend::api::Api;
use crate::runs::words::permission_mode;
use crate::ui::button::{Button, Weight};
use crate::ui::chip::{Chip, Fact};
use crate::ui::readable::{count, duration};
use crate::ui::readout::local_time;
use crate::ui::toast::Toasts;

/// A verb that asks once more before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sure {
    Rotate,
    Remove,
}

impl Sure {
    /// What it takes away.
    fn question(self) -> &'static str {
        match self {
            Sure::Rotate => "Every sender that has the present secret is shut out at once.",
            Sure::Remove => "Calls are answered as if it had never been there. Runs that it started go on.",
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Sure::Rotate => "Replace the secret",
            Sure::Remove => "Remove the webhook",
        }
    }
}

/// The row of a webhook.
#[component]
pub(super) fn TriggerRow(
    trigger: Memo<Trigger>,
    #[prop(into)] on_secret: Callback<(TriggerSecret,)>,
    #[prop(into)] on_gone: Callback<()>,
) -> impl IntoView {
    let api = Api::from_context();
    let toasts = Toasts::from_context();
    let asked = RwSignal::new(None::<Sure>);
    let open = RwSignal::new(false);
    let id = Memo::new(move |_| trigger.with(|trigger| trigger.trigger_id.clone()));
    let name = move || trigger.with(|trigger| trigger.name.clone().unwrap_or_else(|| "Webhook".to_owned()));
    let state = Memo::new(move |_| trigger.with(|trigger| words::state(trigger.paused_reason)));
    let url =
        move || trigger.with(|trigger| format!("{}{}", window().location().origin().unwrap_or_default(), trigger.path));
    let about = move || {
        trigger.with(|trigger| {
            let rate = match trigger.rate_limit {
                Some(rate) => format!("{} calls a minute", rate.per_minute),
                None => "any number of calls".to_owned(),
            };
            format!(
                "Knows its callers by {}; {}; {rate}.",
                words::proof(trigger),
                permission_mode(trigger.permission_mode).0
            )
        })
    };
    let has_secret = Memo::new(move |_| trigger.with(|trigger| trigger.secret_header.is_some()));
    let act = Callback::new(move |sure: Sure| {
        asked.set(None);
        let id = id.get_untracked();
        spawn_local(async move {
            let done = match sure {
                Sure::Rotate => api.rotate_webhook(&id).await.map(|made| on_secret.run((made,))),
                Sure::Remove => api.remove_webhook(&id).await.map(|()| {
                    toasts.say("The webhook is gone.");
                    on_gone.run(());
                }),
            };
            if let Err(error) = done {
                toasts.fail(error.message());
            }
        });
    });
    view! {
        <li class="webhook">
            <div class="webhook-top">
                <strong class="ellipsis">{name}</strong>
                <Chip tone=Signal::derive(move || state.get().0) text=Signal::derive(move || state.get().1.to_owned()) />
            </div>
            <div class="webhook-where">
                <code class="ellipsis">{url}</code>
                {move || view! { <CopyButton text=url() what="Address" words="Copy" /> }}
            </div>
            <p class="muted">{about}</p>
            <div class="webhooks-foot">
                <Button on_press=move || open.update(|open| *open = !*open)>
                    {move || if open.get() { "Hide deliveries" } else { "Deliveries" }}
                </Button>
                <span class="push"></span>
                <Show when=move || has_secret.get()>
                    <Button on_press=move || asked.set(Some(Sure::Rotate))>"New secret"</Button>
                </Show>
                <Button weight=Weight::Danger on_press=move || asked.set(Some(Sure::Remove))>"Remove"</Button>
            </div>
            {move || {
                asked
                    .get()
                    .map(|sure| {
                        view! {
                            <div class="webhook-sure" role="alertdialog" aria-label=sure.verb()>
                                <p>{sure.question()}</p>
                                <div class="webhooks-foot">
                                    <Button on_press=move || asked.set(None)>"Keep it as it is"</Button>
                                    <Button weight=Weight::Danger on_press=move || act.run(sure)>{sure.verb()}</Button>
                                </div>
                            </div>
                        }
                    })
            }}
            <Show when=move || open.get()>
                <Deliveries id trigger />
            </Show>
        </li>
    }
}

/// The newest accepted calls; looked at again when another has come in or the last has ended.
#[component]
fn Deliveries(id: Memo<TriggerId>, trigger: Memo<Trigger>) -> impl IntoView {
    let api = Api::from_context();
    let found = RwSignal::new(None::<Result<Vec<Delivery>, CallError>>);
    Effect::new(move |_| {
        trigger.with(|trigger| trigger.last_delivery.clone());
        let id = id.get();
        spawn_local(async move {
            let answer = api.deliveries(&id).await.map(|list| list.deliveries);
            found.try_set(Some(answer));
        });
    });
    move || match found.get() {
        None => view! { <p class="muted" role="status">"Looking…"</p> }.into_any(),
        Some(Err(error)) => view! { <p class="error" role="alert">{error.message()}</p> }.into_any(),
        Some(Ok(deliveries)) if deliveries.is_empty() => {
            view! { <p class="muted">"Nothing has come in yet."</p> }.into_any()
        }
        Some(Ok(deliveries)) => view! {
            <ol class="deliveries">
                {deliveries.into_iter().map(|delivery| view! { <DeliveryRow delivery /> }).collect_view()}
            </ol>
        }
        .into_any(),
    }
}

#[component]
fn DeliveryRow(delivery: Delivery) -> impl IntoView {
    let told = usize::try_from(delivery.duplicates).unwrap_or(usize::MAX);
    let again = (told > 0).then(|| count(told, "duplicate"));
    view! {
        <li>
            <Fact tone=words::delivery_tone(delivery.status) text=words::delivery_status(delivery.status).to_owned() />
            <span>{local_time(delivery.accepted_at)}</span>
            <span class="muted">{delivery.duration_ms.map(duration)}</span>
            <span class="muted">{again}</span>
            <span class="push"></span>
            <A href=format!("/runs/{}", delivery.run_id)>"Run"</A>
            {delivery.error.map(|error| view! { <p class="error">{error}</p> })}
        </li>
    }
}
