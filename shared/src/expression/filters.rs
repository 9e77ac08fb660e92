//! The filters of our own; minijinja's stay beside them.
//!
//! | filter | `'…' \| filter` | gives |
//! |---|---|---|
//! | `fromjson` | `'{"a":1}' \| fromjson` | the value: `{"a":1}` |
//! | `tojson` | `[1, 'x'] \| tojson` | `[1,"x"]`; `tojson(indent=2)` spreads it over lines |
//! | `b64encode` | `'hi' \| b64encode` | `aGk=` |
//! | `b64decode` | `'aGk=' \| b64decode` | `hi`; also without padding and in the URL alphabet |
//! | `urlencode` | `'a b&c' \| urlencode` | `a%20b%26c`; a map becomes `key=value&…` |
//! | `sha256` | `'hi' \| sha256` | 64 hexadecimal digits |
//! | `lines` | `'a\nb\n' \| lines` | `["a","b"]` |
//! | `basename` | `'/tmp/a.csv' \| basename` | `a.csv` |
//! | `dirname` | `'/tmp/a.csv' \| dirname` | `/tmp` |
//! | `default` | `inputs.x.y \| default('z')` | `z` when anything of the path is missing, or null |

use std::fmt::Write;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind};
use sha2::{Digest, Sha256};

/// Adds them, in place of minijinja's where a name is taken.
pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter("fromjson", fromjson);
    environment.add_filter("tojson", tojson);
    environment.add_filter("b64encode", b64encode);
    environment.add_filter("b64decode", b64decode);
    environment.add_filter("urlencode", urlencode);
    environment.add_filter("sha256", sha256);
    environment.add_filter("lines", lines);
    environment.add_filter("basename", basename);
    environment.add_filter("dirname", dirname);
    environment.add_filter("default", default);
    environment.add_filter("d", default);
}

fn wrong(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// A value as compact JSON.
pub(super) fn compact(value: &Value) -> Result<String, Error> {
    serde_json::to_string(&json(value)?).map_err(|error| wrong(error.to_string()))
}

/// A value as JSON; what JSON does not have is an error.
pub(super) fn json(value: &Value) -> Result<serde_json::Value, Error> {
    if value.is_undefined() {
        return Err(Error::new(ErrorKind::UndefinedError, "the value is undefined"));
    }
    if let Ok(number) = f64::try_from(value.clone())
        && value.kind() == ValueKind::Number
        && !number.is_finite()
    {
        return Err(wrong(format!("{number} is no number of JSON")));
    }
    serde_json::to_value(value).map_err(|error| wrong(format!("it is no JSON: {error}")))
}

fn fromjson(text: &str) -> Result<Value, Error> {
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| wrong(format!("fromjson: not JSON: {error}")))?;
    Ok(super::evaluate::seen(&value))
}

#[expect(clippy::needless_pass_by_value, reason = "minijinja calls filters with values of their own")]
fn tojson(value: Value, options: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = options.get("indent")?;
    options.assert_all_used()?;
    let Some(indent) = indent else { return compact(&value) };
    let spaces = vec![b' '; indent.min(16)];
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(&spaces);
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    serde::Serialize::serialize(&json(&value)?, &mut serializer).map_err(|error| wrong(error.to_string()))?;
    String::from_utf8(out).map_err(|error| wrong(error.to_string()))
}

/// Text as it is, anything else as compact JSON: what these filters encode.
fn text(value: &Value) -> Result<String, Error> {
    super::environment::text_of(value)
}

#[expect(clippy::needless_pass_by_value, reason = "minijinja calls filters with values of their own")]
fn b64encode(value: Value) -> Result<String, Error> {
    Ok(base64::engine::general_purpose::STANDARD.encode(text(&value)?))
}

fn b64decode(encoded: &str) -> Result<String, Error> {
    let lenient = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let alphabet = if encoded.contains(['-', '_']) { URL_SAFE } else { STANDARD };
    let encoded: String = encoded.split_ascii_whitespace().collect();
    let bytes = GeneralPurpose::new(&alphabet, lenient)
        .decode(encoded)
        .map_err(|error| wrong(format!("b64decode: not base64: {error}")))?;
    String::from_utf8(bytes).map_err(|_| wrong("b64decode: what is encoded is no UTF-8 text".to_owned()))
}

#[expect(clippy::needless_pass_by_value, reason = "minijinja calls filters with values of their own")]
fn urlencode(value: Value) -> Result<String, Error> {
    if value.kind() != ValueKind::Map {
        return Ok(percent(&text(&value)?));
    }
    let mut pairs = Vec::new();
    for key in value.try_iter()? {
        let member = value.get_item(&key)?;
        if !member.is_none() {
            pairs.push(format!("{}={}", percent(&text(&key)?), percent(&text(&member)?)));
        }
    }
    Ok(pairs.join("&"))
}

/// Everything but RFC 3986's unreserved characters as `%XX`.
fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[expect(clippy::needless_pass_by_value, reason = "minijinja calls filters with values of their own")]
fn sha256(value: Value) -> Result<String, Error> {
    let mut out = String::with_capacity(64);
    for byte in Sha256::digest(text(&value)?) {
        let _ = write!(out, "{byte:02x}");
    }
    Ok(out)
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// What follows the last slash, slashes at the end left aside.
fn basename(path: &str) -> String {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// What stands before the last slash: `/` at the root, `.` without one.
fn dirname(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit_once('/') {
        None if trimmed.is_empty() && !path.is_empty() => "/".to_owned(),
        None => ".".to_owned(),
        Some((before, _)) => match before.trim_end_matches('/') {
            "" => "/".to_owned(),
            before => before.to_owned(),
        },
    }
}

/// The first argument in place of undefined and null; with `true` after it, also in place of anything empty or false.
#[expect(clippy::needless_pass_by_value, reason = "minijinja calls filters with values of their own")]
fn default(value: Value, arguments: Rest<Value>) -> Value {
    let takes_empty = arguments.get(1).is_some_and(Value::is_true);
    let is_missing = value.is_undefined() || value.is_none() || (takes_empty && !value.is_true());
    if is_missing { arguments.first().cloned().unwrap_or_else(|| Value::from("")) } else { value }
}
