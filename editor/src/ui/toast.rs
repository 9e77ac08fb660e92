//! Short messages that pass (toasts) and one line that stays while something holds (a banner).

use std::time::Duration;

use leptos::prelude::*;

use super::button::IconButton;
use super::chip::Tone;
use super::icon::{Glyph, Icon};

/// How long a message that asks for nothing stays.
const STAY: Duration = Duration::from_secs(4);
/// How long a message about something that failed stays.
const STAY_WHEN_BAD: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq)]
struct Toast {
    id: u32,
    tone: Tone,
    text: String,
}

/// The messages on screen. A cheap handle, from context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    next: StoredValue<u32>,
}

impl Toasts {
    /// Puts an empty list in the context of the whole page.
    pub(crate) fn provide() -> Self {
        let toasts = Self { shown: RwSignal::new(Vec::new()), next: StoredValue::new(1) };
        provide_context(toasts);
        toasts
    }

    /// The list of the page.
    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Says that something was done.
    pub(crate) fn say(self, text: impl Into<String>) {
        self.push(Tone::Good, text.into(), STAY);
    }

    /// Says what failed, and what to do next.
    pub(crate) fn fail(self, text: impl Into<String>) {
        self.push(Tone::Bad, text.into(), STAY_WHEN_BAD);
    }

    fn push(self, tone: Tone, text: String, stay: Duration) {
        let id = self.next.get_value();
        self.next.set_value(id + 1);
        self.shown.update(|shown| {
            shown.retain(|toast| toast.text != text);
            shown.push(Toast { id, tone, text });
        });
        set_timeout(move || self.drop_one(id), stay);
    }

    fn drop_one(self, id: u32) {
        self.shown.update(|shown| shown.retain(|toast| toast.id != id));
    }
}

/// Where toasts appear. Mounted once.
#[component]
pub(crate) fn ToastHost() -> impl IntoView {
    let toasts = Toasts::from_context();
    view! {
        <div class="toasts" role="status" aria-live="polite">
            <For each=move || toasts.shown.get() key=|toast| toast.id let(toast)>
                <div class=format!("toast {}", toast.tone.class())>
                    <Icon glyph=if toast.tone == Tone::Bad { Glyph::Alert } else { Glyph::Check } />
                    <span>{toast.text}</span>
                    <IconButton glyph=Glyph::X name="Dismiss" on_press=move || toasts.drop_one(toast.id) />
                </div>
            </For>
        </div>
    }
}

/// A line over the page that stays while its reason holds.
#[component]
pub(crate) fn Banner(
    #[prop(into)] tone: Signal<Tone>,
    #[prop(into)] text: Signal<String>,
    #[prop(optional)] children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class=move || format!("banner {}", tone.get().class()) role="status">
            <Icon glyph=Glyph::Alert />
            <span>{move || text.get()}</span>
            <span class="push"></span>
            {children.map(|children| children())}
        </div>
    }
}
