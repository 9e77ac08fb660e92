//! The session: traded for the token in the address, and asked for when it is over.
//!
//! The token stands only in the fragment (`#token=…`), which browsers never send; it is taken out of the address bar
//! before anything else happens, so that neither history nor a shared link holds it.

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsValue;
use weir_shared::wire::Session;

use super::address::token_in;
use super::answer::{CallError, read};
use super::connection::Connection;
use super::http::{Verb, send, text_of};

/// What is known of the person's session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Access {
    /// Not known yet.
    Asking,
    /// The worker knows this browser.
    Open(Box<Session>),
    /// A token is needed. `why` is empty on a first visit.
    Closed { why: String },
}

/// The page's session. A cheap handle, from context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionHandle {
    access: RwSignal<Access>,
}

impl SessionHandle {
    /// Puts the session in the context and begins: a token in the address is traded, else the worker is asked.
    pub(crate) fn provide() -> Self {
        let handle = Self { access: RwSignal::new(Access::Asking) };
        provide_context(handle);
        match take_token_from_address() {
            Some(token) => handle.trade(token),
            None => handle.ask(),
        }
        handle
    }

    /// The session of the page.
    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// What is known of it.
    pub(crate) fn access(self) -> Signal<Access> {
        self.access.into()
    }

    /// A call was refused for want of a session.
    pub(crate) fn ended(self) {
        let why = match self.access.get_untracked() {
            Access::Open(_) => "The session is over: it lasts a day, and ends when the worker's state is replaced.",
            Access::Asking | Access::Closed { .. } => return,
        };
        self.access.set(Access::Closed { why: why.to_owned() });
    }

    /// Trades a token, or a code of `weir open`, for a session.
    pub(crate) fn trade(self, token: String) {
        let connection = Connection::from_context();
        spawn_local(async move {
            let body = text_of(&serde_json::json!({ "token": token }));
            let traded = match send(Verb::Post, "/api/session", Some(body)).await {
                Ok(answer) if (200..300).contains(&answer.status) => Ok(()),
                Ok(answer) => read::<serde_json::Value>(&answer).map(|_| ()),
                Err(error) => Err(error),
            };
            match traded {
                Ok(()) => self.ask_now(connection, "").await,
                // An old link in a browser that already has a session is no reason to lock the person out.
                Err(error) if error.is_unauthorized() => {
                    self.ask_now(connection, "That token is not this worker's, or the one-time code is used up.").await;
                }
                Err(error) => self.settle(connection, Err(error), ""),
            }
        });
    }

    fn ask(self) {
        let connection = Connection::from_context();
        spawn_local(async move { self.ask_now(connection, "").await });
    }

    async fn ask_now(self, connection: Connection, why: &str) {
        let answer = send(Verb::Get, "/api/session", None).await.and_then(|answer| read(&answer));
        self.settle(connection, answer, why);
    }

    fn settle(self, connection: Connection, answer: Result<Session, CallError>, why: &str) {
        match answer {
            Ok(session) => {
                connection.found();
                self.access.set(Access::Open(Box::new(session)));
            }
            Err(error) if error.is_unauthorized() => self.access.set(Access::Closed { why: why.to_owned() }),
            Err(CallError::Unreachable) => {
                connection.lost();
                let returns = connection.returns();
                // Ask again once it is back, and only then: the banner says why nothing else is there yet.
                let seen = returns.get_untracked();
                Effect::new(move |done: Option<bool>| {
                    let back = returns.get() != seen;
                    if back && done != Some(true) {
                        self.ask();
                    }
                    back
                });
            }
            Err(error) => self.access.set(Access::Closed { why: error.message() }),
        }
    }
}

/// Takes `#token=…` out of the address, for good.
fn take_token_from_address() -> Option<String> {
    let hash = window().location().hash().ok()?;
    let token = token_in(&hash)?.to_owned();
    let location = window().location();
    let clean = format!("{}{}", location.pathname().ok()?, location.search().ok()?);
    if let Ok(history) = window().history() {
        // Replaced, not pushed: the address with the token is in no history entry.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&clean));
    }
    Some(token)
}
