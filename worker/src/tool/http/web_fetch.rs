//! `web_fetch`: what a page on the web says, as text.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::{HeaderValue, Method, header};

use super::client::{self, Network, Question};
use super::{content_type, html, text_of};
use crate::tool::call::{ToolCall, ToolFailure};
use crate::tool::files::{read_arguments, whole};

const TIMEOUT_SECONDS: u64 = 30;
const DEFAULT_CHARS: u32 = 64_000;
const MOST_CHARS: u32 = 200_000;
/// Bytes of a page that are read: markup is many times as long as what it says.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
const REDIRECTS: u32 = 5;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    url: String,
    max_chars: Option<f64>,
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "web_fetch",
        "title": "Read a web page",
        "description": "Reads a page from the web as text. Addresses that are not public are refused unless the \
                        setting `network.publicOnly` is false. A status other than 2xx is a failure.",
        "effect": "external",
        "idempotent": true,
        "group": "network",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["url"],
            "properties": {
                "url": {
                    "type": "string", "minLength": 1, "maxLength": 8_192,
                    "title": "URL",
                    "description": "The page: an address that begins with http:// or https://.",
                    "examples": ["https://www.example.org/news"]
                },
                "maxChars": {
                    "type": "integer", "minimum": 1, "maximum": MOST_CHARS, "default": DEFAULT_CHARS,
                    "title": "Most characters",
                    "description": "Characters of text to give back at most."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["title", "text", "contentType", "truncated"],
            "properties": {
                "title": {
                    "type": ["string", "null"], "title": "Title", "examples": ["News"],
                    "description": "The title of the page, if it has one."
                },
                "text": {
                    "type": "string", "title": "Text", "examples": ["News\n\nToday it rains."],
                    "description": "What it says, without markup."
                },
                "contentType": {
                    "type": "string", "title": "Content type", "examples": ["text/html; charset=utf-8"],
                    "description": "What the server says it is; empty when it does not say."
                },
                "truncated": {
                    "type": "boolean", "title": "Cut", "examples": [false],
                    "description": "Whether there is more of it."
                }
            }
        },
        "node": {
            "label": "Web page",
            "category": "Network",
            "kind": "action",
            "color": "#87CEEB",
            "icon": "globe",
            "inputs": [
                { "name": "url", "widget": "text", "placeholder": "https://www.example.org/news" },
                { "name": "maxChars", "widget": "number", "placeholder": "64000", "advanced": true }
            ]
        }
    })
}

/// Reads.
pub(in crate::tool) async fn call(network: &Network, arguments: Value, call: ToolCall) -> Result<Value, ToolFailure> {
    let Arguments { url, max_chars } = read_arguments(arguments).map_err(ToolFailure::because)?;
    let accepted = HeaderValue::from_static("text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8");
    let question = Question {
        method: Method::GET,
        url: super::http_request::with_query(&url, &serde_json::Map::new()).map_err(ToolFailure::because)?,
        headers: vec![(header::ACCEPT, accepted)],
        body: None,
        reach: network.fetch_reach,
        redirects: REDIRECTS,
        most_bytes: MOST_BYTES,
    };
    let limit = call.node_timeout.unwrap_or(Duration::from_secs(TIMEOUT_SECONDS));
    let answer = client::ask(network, question, limit, call.stopping).await?;
    if !(200..300).contains(&answer.status) {
        return Err(ToolFailure::because(format!("{} answers with status {}", answer.url, answer.status)));
    }
    let kind = content_type(&answer.headers);
    let Some(form) = Form::of(kind) else {
        return Err(ToolFailure::because(format!("{} is {kind}, which is no text", answer.url)));
    };
    let text = text_of(&answer.body, kind);
    let (title, text) = match form {
        Form::Page => {
            let page = html::read(&text);
            (page.title, page.text)
        }
        Form::Text => (None, text),
    };
    let (text, is_cut) = cut(text, whole(max_chars, DEFAULT_CHARS) as usize);
    Ok(json!({ "title": title, "text": text, "contentType": kind, "truncated": answer.is_cut || is_cut }))
}

/// How a body is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Page,
    Text,
}

impl Form {
    fn of(content_type: &str) -> Option<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "text/html" | "application/xhtml+xml" => Some(Self::Page),
            "" | "application/json" | "application/xml" | "application/javascript" | "application/yaml" => {
                Some(Self::Text)
            }
            other if other.starts_with("text/") || other.ends_with("+json") || other.ends_with("+xml") => {
                Some(Self::Text)
            }
            _ => None,
        }
    }
}

fn cut(mut text: String, most: usize) -> (String, bool) {
    match text.char_indices().nth(most) {
        Some((end, _)) => {
            text.truncate(end);
            (text, true)
        }
        None => (text, false),
    }
}
