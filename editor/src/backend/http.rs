//! One request, sent.
//!
//! Every body is JSON; the session cookie goes along because the page is served by the worker itself. A lost
//! connection and a refused session are told to [`super::connection`] and [`super::session`] by `api`, not here.

use leptos::prelude::window;
use serde::Serialize;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::answer::{Answer, CallError};

/// The verb of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

impl Verb {
    fn word(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Put => "PUT",
            Verb::Delete => "DELETE",
        }
    }
}

/// Sends `body` as JSON text and gives the answer, whatever its status.
pub(crate) async fn send(verb: Verb, path: &str, body: Option<String>) -> Result<Answer, CallError> {
    let init = web_sys::RequestInit::new();
    init.set_method(verb.word());
    let headers = web_sys::Headers::new().map_err(|_| CallError::Unreachable)?;
    let _ = headers.set("Accept", "application/json");
    if verb != Verb::Get {
        // The worker takes a change that rests on the cookie only with this type: a foreign form cannot send it.
        let _ = headers.set("Content-Type", "application/json");
    }
    init.set_headers(headers.as_ref());
    if let Some(body) = body {
        init.set_body(&JsValue::from_str(&body));
    }
    let answer =
        JsFuture::from(window().fetch_with_str_and_init(path, &init)).await.map_err(|_| CallError::Unreachable)?;
    let response: web_sys::Response = answer.dyn_into().map_err(|_| CallError::Unreachable)?;
    let text = response.text().map_err(|_| CallError::Unreachable)?;
    let body = JsFuture::from(text).await.map_err(|_| CallError::Unreachable)?.as_string().unwrap_or_default();
    Ok(Answer { status: response.status(), body })
}

/// The JSON text of a body.
pub(crate) fn text_of(body: &impl Serialize) -> String {
    serde_json::to_string(body).unwrap_or_default()
}
