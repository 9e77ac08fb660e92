//! `http_request`: one request, and whatever the server answers.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use ureq::http::header::{CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::client::{self, Answer, Network, Question};
use super::{content_type, is_json, text_of};
use crate::tool::call::{ToolCall, ToolFailure};
use crate::tool::files::{read_arguments, whole};

const DEFAULT_TIMEOUT_SECONDS: u64 = 30;
const DEFAULT_BYTES: u32 = 1024 * 1024;
const MOST_BYTES: u32 = 16 * 1024 * 1024;
const DEFAULT_REDIRECTS: u32 = 5;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    #[serde(default = "get")]
    method: String,
    url: String,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    query: Map<String, Value>,
    body: Option<String>,
    json: Option<Value>,
    timeout_seconds: Option<f64>,
    max_bytes: Option<f64>,
    follow_redirects: Option<f64>,
}

fn get() -> String {
    "GET".to_owned()
}

pub(in crate::tool) fn declaration() -> Value {
    json!({
        "name": "http_request",
        "title": "HTTP request",
        "description": "Sends a request over http or https and gives back what the server answers, whatever its \
                        status. A server that cannot be reached is a failure, and so is a body above the limit.",
        "effect": "external",
        "idempotent": { "when": { "method": ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"] } },
        "group": "network",
        "timeoutSeconds": DEFAULT_TIMEOUT_SECONDS,
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["url"],
            "not": { "required": ["body", "json"] },
            "properties": {
                "method": {
                    "type": "string", "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
                    "default": "GET",
                    "title": "Method",
                    "description": "What the request asks for. Only POST, PUT and PATCH have a body."
                },
                "url": {
                    "type": "string", "minLength": 1, "maxLength": 8_192,
                    "title": "URL",
                    "description": "Where it goes: an address that begins with http:// or https://.",
                    "examples": ["https://api.example.org/v1/orders"]
                },
                "headers": {
                    "type": "object", "maxProperties": 100,
                    "additionalProperties": { "type": ["string", "number", "boolean"] },
                    "title": "Headers",
                    "description": "Header fields of the request, by name. Authorization and Cookie do not go along \
                                    to another host on a redirect; the others do."
                },
                "query": {
                    "type": "object", "maxProperties": 100,
                    "additionalProperties": {
                        "type": ["string", "number", "boolean", "array"],
                        "items": { "type": ["string", "number", "boolean"] }
                    },
                    "title": "Query",
                    "description": "Parameters to add to the URL, by name; a list gives its name several times."
                },
                "body": {
                    "type": "string",
                    "title": "Body",
                    "description": "What to send, as text. Give this or JSON."
                },
                "json": {
                    "title": "JSON",
                    "description": "What to send, as JSON. Give this or a body.",
                    "examples": [{ "name": "Ada" }]
                },
                "timeoutSeconds": {
                    "type": "number", "exclusiveMinimum": 0, "maximum": 3_600, "default": DEFAULT_TIMEOUT_SECONDS,
                    "title": "Timeout",
                    "description": "Seconds until the whole answer has to be there, redirects included."
                },
                "maxBytes": {
                    "type": "integer", "minimum": 0, "maximum": MOST_BYTES, "default": DEFAULT_BYTES,
                    "title": "Most bytes",
                    "description": "Bytes that the body of the answer may have."
                },
                "followRedirects": {
                    "type": "integer", "minimum": 0, "maximum": 20, "default": DEFAULT_REDIRECTS,
                    "title": "Redirects",
                    "description": "Redirects to follow; more are a failure. With 0 a redirect is the answer."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["status", "headers", "body", "url"],
            "properties": {
                "status": {
                    "type": "integer", "title": "Status", "examples": [200],
                    "description": "The status code of the answer."
                },
                "headers": {
                    "type": "object", "title": "Headers", "examples": [{ "content-type": "application/json" }],
                    "description": "Its header fields, by name in small letters; a repeated one is joined.",
                    "additionalProperties": { "type": "string" }
                },
                "body": {
                    "type": "string", "title": "Body", "examples": ["{\"id\":7}"],
                    "description": "Its body as text."
                },
                "json": {
                    "title": "JSON", "examples": [{ "id": 7 }],
                    "description": "Its body as a value, when it is JSON and says so."
                },
                "url": {
                    "type": "string", "title": "URL", "examples": ["https://api.example.org/v1/orders/7"],
                    "description": "Where it came from, after all redirects."
                }
            }
        },
        "node": {
            "label": "HTTP request",
            "category": "Network",
            "kind": "action",
            "color": "#87CEEB",
            "icon": "globe",
            "inputs": [
                { "name": "method", "widget": "select" },
                { "name": "url", "widget": "text", "placeholder": "https://api.example.org/v1/orders" },
                { "name": "headers", "widget": "rows" },
                { "name": "query", "widget": "rows" },
                { "name": "body", "widget": "textarea" },
                { "name": "json", "widget": "json" },
                { "name": "timeoutSeconds", "widget": "number", "placeholder": "30", "advanced": true },
                { "name": "maxBytes", "widget": "number", "placeholder": "1048576", "advanced": true },
                { "name": "followRedirects", "widget": "number", "placeholder": "5", "advanced": true }
            ]
        }
    })
}

/// Sends.
pub(in crate::tool) async fn call(network: &Network, arguments: Value, call: ToolCall) -> Result<Value, ToolFailure> {
    let arguments: Arguments = read_arguments(arguments).map_err(ToolFailure::because)?;
    let limit = limit(call.node_timeout, arguments.timeout_seconds);
    let question = question(arguments, network).map_err(ToolFailure::because)?;
    let most_bytes = question.most_bytes;
    let answer = client::ask(network, question, limit, call.stopping).await?;
    if answer.is_cut {
        let message = format!("the body of the answer is above the limit of {most_bytes} bytes (`maxBytes`)");
        return Err(ToolFailure::because(message));
    }
    Ok(result(&answer))
}

/// The least of those that are given; the default only when none is.
fn limit(node: Option<Duration>, argument: Option<f64>) -> Duration {
    let argument = argument.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    node.into_iter().chain(argument).min().unwrap_or(Duration::from_secs(DEFAULT_TIMEOUT_SECONDS))
}

fn question(arguments: Arguments, network: &Network) -> Result<Question, String> {
    let Arguments { method, url, headers, query, body, json, max_bytes, follow_redirects, .. } = arguments;
    let method: Method = method.parse().map_err(|_| format!("{method} is no method"))?;
    let mut fields = Vec::new();
    for (name, value) in headers {
        fields.push(field(&name, &value)?);
    }
    let body = match (body, json) {
        (Some(text), _) => Some(text.into_bytes()),
        (None, Some(value)) => {
            if !fields.iter().any(|(name, _)| *name == CONTENT_TYPE) {
                fields.push((CONTENT_TYPE, HeaderValue::from_static("application/json")));
            }
            Some(value.to_string().into_bytes())
        }
        (None, None) => None,
    };
    let takes_body = matches!(method, Method::POST | Method::PUT | Method::PATCH);
    if body.is_some() && !takes_body {
        return Err(format!("a {method} request has no body"));
    }
    Ok(Question {
        method,
        url: with_query(&url, &query)?,
        headers: fields,
        // One without a body still says how long it is.
        body: body.or_else(|| takes_body.then(Vec::new)),
        reach: network.reach,
        redirects: whole(follow_redirects, DEFAULT_REDIRECTS),
        most_bytes: u64::from(whole(max_bytes, DEFAULT_BYTES)),
    })
}

fn field(name: &str, value: &Value) -> Result<(HeaderName, HeaderValue), String> {
    let fault = |reason: &str| format!("the header `{name}` cannot be sent: {reason}");
    let field: HeaderName = name.parse().map_err(|_| fault("it is no name of a header"))?;
    if field == CONTENT_LENGTH || field == TRANSFER_ENCODING {
        return Err(fault("it follows from the body"));
    }
    let value = plain(value).parse().map_err(|_| fault("its value has characters that a header cannot have"))?;
    Ok((field, value))
}

/// The URL with these parameters added, without a fragment, which is not sent.
pub(super) fn with_query(url: &str, query: &Map<String, Value>) -> Result<String, String> {
    let scheme = url.split("://").next().unwrap_or_default();
    if !url.contains("://") || !(scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")) {
        return Err(format!("{url} is no address that begins with http:// or https://"));
    }
    let mut url = url.split('#').next().unwrap_or_default().to_owned();
    for (name, value) in query {
        let values = match value {
            Value::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        for value in values {
            url.push(if url.contains('?') { '&' } else { '?' });
            let _never_fails = write!(url, "{}={}", encoded(name), encoded(&plain(value)));
        }
    }
    Ok(url)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Every byte that has a meaning in a query, or none at all, as a percent escape.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            let _never_fails = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn result(answer: &Answer) -> Value {
    let kind = content_type(&answer.headers);
    let mut result = json!({
        "status": answer.status,
        "headers": fields(&answer.headers),
        "body": text_of(&answer.body, kind),
        "url": answer.url,
    });
    if is_json(kind)
        && let Ok(value) = serde_json::from_slice::<Value>(&answer.body)
    {
        result["json"] = value;
    }
    result
}

fn fields(headers: &HeaderMap) -> Map<String, Value> {
    let joined = |name: &HeaderName| {
        let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        // Cookies hold commas.
        values.collect::<Vec<_>>().join(if name == "set-cookie" { "\n" } else { ", " })
    };
    headers.keys().map(|name| (name.to_string(), joined(name).into())).collect()
}
