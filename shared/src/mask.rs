//! Hiding what must not be read: in one place, on everything that goes out on the wire.
//!
//! A field is hidden when its name says so or its schema's `x-weir-sensitive: true` does; `false` shows a field whose
//! name would hide it. The journal keeps values as they are; the secrets of the machine never reach it.

use serde_json::{Map, Value};

/// What stands in place of a hidden value.
pub const HIDDEN: &str = "***";

/// Whether a field of this name is hidden: `password`, `passwd`, `secret`, `token`, `credential`, `api_key` or
/// `apikey` anywhere in it, in any case.
pub fn is_sensitive(name: &str) -> bool {
    const WORDS: [&str; 7] = ["password", "passwd", "secret", "token", "credential", "api_key", "apikey"];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// Hides what names and marks say, in place. `schema` describes `value` where one is known.
pub fn mask(value: &mut Value, schema: Option<&Value>) {
    match value {
        Value::Object(fields) => mask_fields(fields, schema),
        Value::Array(items) => {
            let schema = schema.and_then(|schema| schema.get("items"));
            for item in items {
                mask(item, schema);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The same for the fields of an object.
pub fn mask_fields(fields: &mut Map<String, Value>, schema: Option<&Value>) {
    let properties = schema.and_then(|schema| schema.get("properties"));
    for (name, value) in fields {
        let schema = properties.and_then(|properties| properties.get(name));
        let mark = schema.and_then(|schema| schema.get("x-weir-sensitive")).and_then(Value::as_bool);
        if mark.unwrap_or_else(|| is_sensitive(name)) {
            if !value.is_null() {
                *value = Value::from(HIDDEN);
            }
        } else {
            mask(value, schema);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_and_marks_hide_fields_at_any_depth() {
        let schema = json!({"properties": {
            "plain": {"x-weir-sensitive": true},
            "tokens": {"x-weir-sensitive": false},
            "list": {"items": {"properties": {"pin": {"x-weir-sensitive": true}}}},
        }});
        let mut value = json!({
            "plain": "a", "tokens": 12, "dbPassword": "b", "API_KEY": {"x": 1}, "secret": null,
            "list": [{"pin": 1, "name": "n"}], "other": {"Credential": ["c"]},
        });
        mask(&mut value, Some(&schema));
        let shown = json!({
            "plain": "***", "tokens": 12, "dbPassword": "***", "API_KEY": "***", "secret": null,
            "list": [{"pin": "***", "name": "n"}], "other": {"Credential": "***"},
        });
        assert_eq!(value, shown);
    }
}
