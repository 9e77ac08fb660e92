//! Copying a text. The browser allows it on secure origins, and loopback is one.

use leptos::prelude::window;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

/// Puts a text on the clipboard.
pub(crate) async fn copy(text: &str) -> Result<(), JsValue> {
    let navigator = window().navigator();
    // On a plain-http address of another machine there is no clipboard object at all.
    if js_sys::Reflect::get(navigator.as_ref(), &"clipboard".into()).is_ok_and(|clipboard| clipboard.is_undefined()) {
        return Err(JsValue::from_str("no clipboard"));
    }
    JsFuture::from(navigator.clipboard().write_text(text)).await.map(|_| ())
}
