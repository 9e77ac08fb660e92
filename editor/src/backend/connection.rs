//! Whether the worker can be reached, and the banner that says when not.
//!
//! Any call or stream that finds it gone says so here; then its health is asked for every two seconds until it
//! answers. Editing goes on meanwhile: nothing on a page is thrown away because of it.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use weir_shared::wire::Health;

use super::answer::read;
use super::http::{Verb, send};
use crate::ui::chip::Tone;
use crate::ui::toast::Banner;

const ASK_AGAIN: Duration = Duration::from_secs(2);

/// Whether the worker answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Up,
    Down,
}

/// What is known of the worker's reachability. A cheap handle, from context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Connection {
    link: RwSignal<Link>,
    /// Counts how often it came back, so that what was missed meanwhile can be fetched again.
    returns: RwSignal<u32>,
}

impl Connection {
    /// Puts the one connection of the page in the context.
    pub(crate) fn provide() -> Self {
        let connection = Self { link: RwSignal::new(Link::Up), returns: RwSignal::new(0) };
        provide_context(connection);
        connection
    }

    /// The connection of the page.
    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Whether the worker answers.
    pub(crate) fn link(self) -> Signal<Link> {
        self.link.into()
    }

    /// Changes each time the worker is back.
    pub(crate) fn returns(self) -> Signal<u32> {
        self.returns.into()
    }

    /// A call or a stream found it gone.
    pub(crate) fn lost(self) {
        if self.link.get_untracked() == Link::Up {
            self.link.set(Link::Down);
            self.ask_later();
        }
    }

    /// A call or a stream found it there.
    pub(crate) fn found(self) {
        if self.link.get_untracked() == Link::Down {
            self.link.set(Link::Up);
            self.returns.update(|returns| *returns += 1);
        }
    }

    fn ask_later(self) {
        set_timeout(
            move || {
                spawn_local(async move {
                    if self.link.get_untracked() == Link::Up {
                        return;
                    }
                    match send(Verb::Get, "/api/health", None).await.and_then(|answer| read::<Health>(&answer)) {
                        Ok(_) => self.found(),
                        Err(_) => self.ask_later(),
                    }
                });
            },
            ASK_AGAIN,
        );
    }
}

/// The banner over every page while the worker is gone.
#[component]
pub(crate) fn LinkBanner() -> impl IntoView {
    let connection = Connection::from_context();
    view! {
        <Show when=move || connection.link().get() == Link::Down>
            <Banner tone=Tone::Active
                text="The worker is gone. The page tries again every two seconds; you can keep editing, and nothing is lost." />
        </Show>
    }
}
