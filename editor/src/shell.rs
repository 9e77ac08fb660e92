//! What stands around the pages: the navigation, and the door that asks for a token.

use leptos::prelude::*;
use leptos_router::components::A;

use crate::backend::connection::{Connection, Link};
use crate::backend::session::{Access, SessionHandle};
use crate::ui::button::{Button, Weight};
use crate::ui::chip::{Fact, Tone};
use crate::ui::field::Field;
use crate::ui::icon::{Glyph, Icon, Mark};
use crate::ui::text::TextInput;
use crate::ui::theme::ThemeSwitch;

/// Numbers beside the navigation, set by whichever page knows them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) flows: RwSignal<Option<usize>>,
    /// Flows whose last run waits for a person.
    pub(crate) waiting: RwSignal<usize>,
}

impl Counts {
    /// Puts the numbers in the context.
    pub(crate) fn provide() {
        provide_context(Self { flows: RwSignal::new(None), waiting: RwSignal::new(0) });
    }
}

/// A page with the navigation at its left.
#[component]
pub(crate) fn Shell(children: Children) -> impl IntoView {
    let counts: Counts = expect_context();
    view! {
        <div class="shell">
            <nav class="side" aria-label="Pages">
                <A href="/" attr:class="brand">
                    <Mark />
                    "Weir"
                </A>
                <A href="/" exact=true attr:class="side-link">
                    <Icon glyph=Glyph::Sitemap />
                    "Flows"
                    <small>{move || counts.flows.get().map(|n| n.to_string())}</small>
                </A>
                <A href="/runs" attr:class="side-link">
                    <Icon glyph=Glyph::List />
                    "Runs"
                    <small class="waits">
                        {move || Some(counts.waiting.get()).filter(|n| *n > 0).map(|n| format!("{n} waiting"))}
                    </small>
                </A>
                <span class="push"></span>
                <SideFoot />
            </nav>
            <main>{children()}</main>
        </div>
    }
}

#[component]
fn SideFoot() -> impl IntoView {
    let link = Connection::from_context().link();
    let access = SessionHandle::from_context().access();
    let tone = Signal::derive(move || match link.get() {
        Link::Up => Tone::Good,
        Link::Down => Tone::Active,
    });
    let text = Signal::derive(move || match link.get() {
        Link::Up => "Connected".to_owned(),
        Link::Down => "Reconnecting…".to_owned(),
    });
    let directory = move || {
        access.with(|access| match access {
            Access::Open(session) => Some(session.flows_directory.clone()),
            Access::Asking | Access::Closed { .. } => None,
        })
    };
    view! {
        {move || {
            directory()
                .map(|directory| {
                    let full = directory.clone();
                    view! {
                        <p class="side-directory" title=full>
                            <Icon glyph=Glyph::Folder size=14 />
                            <span class="ellipsis">{directory}</span>
                        </p>
                    }
                })
        }}
        <div class="side-foot tip-up">
            <Fact tone text />
            <span class="push"></span>
            <ThemeSwitch />
        </div>
    }
}

/// Shows its content once the worker knows this browser. When a session ends later, the content stays, with whatever
/// is unsaved in it, and the question stands above it.
#[component]
pub(crate) fn Door(children: ChildrenFn) -> impl IntoView {
    let access = SessionHandle::from_context().access();
    let entered = Memo::new(move |before: Option<&bool>| {
        before == Some(&true) || access.with(|access| matches!(access, Access::Open(_)))
    });
    let why = Memo::new(move |_| {
        access.with(|access| match access {
            Access::Closed { why } => Some(why.clone()),
            Access::Asking | Access::Open(_) => None,
        })
    });
    let children = StoredValue::new(children);
    view! {
        <Show when=move || entered.get()>{children.with_value(|children| children())}</Show>
        <Show when=move || why.get().is_some()>
            <TokenPage why=Signal::derive(move || why.get().unwrap_or_default()) />
        </Show>
    }
}

#[component]
fn TokenPage(why: Signal<String>) -> impl IntoView {
    let session = SessionHandle::from_context();
    let token = RwSignal::new(String::new());
    let enter = Callback::new(move |()| {
        let given = token.get_untracked().trim().to_owned();
        if !given.is_empty() {
            session.trade(given);
        }
    });
    view! {
        <div class="door">
            <div class="door-card">
                <Mark />
                <h1>"This worker asks for its token"</h1>
                <Show when=move || !why.with(String::is_empty)>
                    <p class="error" role="alert">{move || why.get()}</p>
                </Show>
                <Field label="Token" control="token">
                    <TextInput id="token" kind="password" value=token on_input=move |typed| token.set(typed) on_enter=enter />
                </Field>
                <Button weight=Weight::Primary disabled=Signal::derive(move || token.with(|token| token.trim().is_empty()))
                    on_press=enter>
                    "Open Weir"
                </Button>
                <div class="door-help">
                    <p>"On the machine where Weir runs, either of these lets you in:"</p>
                    <p>
                        <code>"weir open"</code>
                        " prints an address with a code that is good for a minute."
                    </p>
                    <p>
                        "The token itself is in the file " <code>"token"</code> " of the state directory, usually "
                        <code>"~/.local/state/weir/token"</code> "."
                    </p>
                </div>
            </div>
        </div>
    }
}
