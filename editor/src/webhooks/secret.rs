//! A secret that was just made: shown this once, with the line that calls the webhook.

use leptos::prelude::*;
use leptos::task::spawn_local;
use weir_shared::webhook::TriggerSecret;

use crate::ui::button::Button;
use crate::ui::copy::copy;
use crate::ui::icon::Glyph;
use crate::ui::toast::Toasts;

/// The secret and the line. It goes when the person says so.
#[component]
pub(super) fn Shown(shown: TriggerSecret, #[prop(into)] on_done: Callback<()>) -> impl IntoView {
    let name = shown.trigger.name.clone().unwrap_or_else(|| "The webhook".to_owned());
    let line = shown.curl.clone().unwrap_or_else(|| shown.url.clone());
    let secret = shown.secret.clone();
    view! {
        <div class="webhooks-fresh" role="status">
            <p>
                <strong>{name}</strong>
                {if secret.is_some() {
                    " is ready. Copy its secret now: Weir keeps a digest of it and cannot show it again."
                } else {
                    " is ready. Its calls are signed, so it has no secret of its own."
                }}
            </p>
            <pre class="webhooks-line" tabindex="0" aria-label="A line that calls it"><code>{line.clone()}</code></pre>
            <div class="webhooks-foot">
                <CopyButton text=line what="Line" words="Copy curl line" />
                {secret.map(|secret| view! { <CopyButton text=secret what="Secret" words="Copy secret" /> })}
                <span class="push"></span>
                <Button on_press=on_done>"Done"</Button>
            </div>
        </div>
    }
}

/// A button that copies a text and says whether it could.
#[component]
pub(super) fn CopyButton(text: String, what: &'static str, words: &'static str) -> impl IntoView {
    let toasts = Toasts::from_context();
    let text = StoredValue::new(text);
    let press = move || {
        spawn_local(async move {
            match copy(&text.get_value()).await {
                Ok(()) => toasts.say(format!("{what} copied.")),
                Err(_) => toasts.fail("The browser did not let the page copy. Select the text and copy it by hand."),
            }
        });
    };
    view! { <Button glyph=Glyph::Copy on_press=press>{words}</Button> }
}
