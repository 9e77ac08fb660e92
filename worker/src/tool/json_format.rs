//! `json_format`: JSON, as text or as a value, in both forms and laid out for reading.

use serde::Serialize as _;
use serde_json::ser::PrettyFormatter;
use serde_json::{Value, json};

const DEFAULT_INDENT: u64 = 2;
/// Spaces a level that are still readable.
const MOST_INDENT: u64 = 16;

pub(super) fn declaration() -> Value {
    json!({
        "name": "json_format",
        "title": "Format JSON",
        "description": "Reads JSON from a text, or takes a value, and gives back both: the value to refer into, and \
                        the text laid out for reading.",
        "effect": "read",
        "idempotent": true,
        "group": "data",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["json"],
            "properties": {
                "json": {
                    "title": "JSON",
                    "description": "A text that holds JSON, or any other value as it is.",
                    "examples": ["{\"free\": 12}"]
                },
                "indent": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": MOST_INDENT,
                    "default": DEFAULT_INDENT,
                    "title": "Indent",
                    "description": "Spaces a level; 0 puts everything on one line."
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["text", "value"],
            "properties": {
                "text": {
                    "type": "string", "title": "Text", "examples": ["{\n  \"free\": 12\n}"],
                    "description": "The JSON laid out for reading."
                },
                "value": {
                    "title": "Value", "examples": [{ "free": 12 }],
                    "description": "The JSON as a value, to refer into."
                }
            }
        },
        "node": {
            "label": "Format JSON",
            "category": "Data",
            "kind": "action",
            "color": "#E4B7FF",
            "icon": "braces",
            "inputs": [
                { "name": "json", "widget": "textarea", "placeholder": "{{node.fetch.result.stdout}}" },
                { "name": "indent", "widget": "number", "placeholder": "2", "advanced": true }
            ]
        }
    })
}

/// Reads and prints. The error says where the text stops being JSON.
pub(super) fn call(arguments: Value) -> Result<Value, String> {
    let Value::Object(mut arguments) = arguments else { return Err("arguments are no object".to_owned()) };
    let value = match arguments.remove("json") {
        Some(Value::String(text)) => serde_json::from_str(&text).map_err(|error| not_json(&text, &error))?,
        Some(value) => value,
        None => Value::Null,
    };
    // The schema lets 2.0 pass as an integer.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 16 by the schema")]
    let indent = arguments.get("indent").and_then(Value::as_f64).map_or(DEFAULT_INDENT, |indent| indent as u64);
    let text = print(&value, indent).map_err(|error| format!("cannot be printed: {error}"))?;
    Ok(json!({ "text": text, "value": value }))
}

fn not_json(text: &str, error: &serde_json::Error) -> String {
    if text.trim().is_empty() { "the text is empty, and no JSON".to_owned() } else { format!("not JSON: {error}") }
}

fn print(value: &Value, indent: u64) -> serde_json::Result<String> {
    if indent == 0 {
        return serde_json::to_string(value);
    }
    let spaces = " ".repeat(usize::try_from(indent).unwrap_or_default());
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(spaces.as_bytes());
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_values_come_back_in_both_forms_with_their_order() {
        let from_text = call(json!({ "json": " {\"b\": 1, \"a\": [true, null]} " })).expect("JSON");
        assert_eq!(from_text["text"], "{\n  \"b\": 1,\n  \"a\": [\n    true,\n    null\n  ]\n}");
        assert_eq!(from_text["value"], json!({ "b": 1, "a": [true, null] }));
        let from_value = call(json!({ "json": { "b": 1, "a": 2 }, "indent": 0 })).expect("a value");
        assert_eq!(from_value["text"], "{\"b\":1,\"a\":2}");
        assert_eq!(call(json!({ "json": [1], "indent": 4.0 })).expect("a value")["text"], "[\n    1\n]");
    }

    #[test]
    fn what_is_no_json_is_told_with_its_place() {
        let broken = call(json!({ "json": "{\"a\": 1,\n oops}" })).expect_err("no JSON");
        assert!(broken.contains("line 2 column 2"), "{broken}");
        let empty = call(json!({ "json": "\n" })).expect_err("no JSON");
        assert_eq!(empty, "the text is empty, and no JSON");
    }
}
