//! The tools that call other machines over HTTP.
//!
//! - `address`: which addresses are public
//! - `resolver`: names to addresses, each checked before anything connects to it
//! - `client`: one exchange, with its limits, that ends when its call is stopped
//! - `html`: the text of a page
//! - one file a tool

mod address;
mod client;
mod html;
pub(super) mod http_request;
mod resolver;
pub(super) mod web_fetch;

pub(crate) use client::Network;

use ureq::http::HeaderMap;

/// The text of a body. What is not in the encoding it claims to be in, or in one that is not known here, is replaced.
fn text_of(bytes: &[u8], content_type: &str) -> String {
    let charset = content_type.split(';').skip(1).find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_ascii_lowercase())
    });
    match charset.as_deref() {
        // Its code points are those of Unicode.
        Some("iso-8859-1" | "latin1") => bytes.iter().map(|byte| char::from(*byte)).collect(),
        _ => String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).into_owned(),
    }
}

/// What a body says it is; empty when it says nothing.
fn content_type(headers: &HeaderMap) -> &str {
    headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Whether it says it is JSON.
fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}

#[cfg(test)]
mod tests;
