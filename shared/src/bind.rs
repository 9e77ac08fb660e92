//! Inputs of a run: defaults applied, then the whole object judged by the schema, every fault at once.

use serde_json::{Map, Value};

use crate::finding::Fault;
use crate::schema::{resolve, validate};

/// The inputs a run goes on with, or everything that is wrong with what was given. Without a schema everything is
/// taken as it is.
pub fn bind(schema: Option<&Value>, given: &Map<String, Value>) -> Result<Map<String, Value>, Vec<Fault>> {
    let mut inputs = Value::Object(given.clone());
    if let Some(schema) = schema {
        apply_defaults(schema, schema, &mut inputs);
        let faults = validate(schema, &inputs, "inputs");
        if !faults.is_empty() {
            return Err(faults);
        }
    }
    match inputs {
        Value::Object(inputs) => Ok(inputs),
        _ => Ok(given.clone()),
    }
}

/// Sets what is absent and has a default, also inside objects and lists that are there. An object that is absent is
/// not made up.
fn apply_defaults(root: &Value, schema: &Value, value: &mut Value) {
    let schema = resolve(root, schema);
    match value {
        Value::Object(members) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                if !members.contains_key(name)
                    && let Some(default) = resolve(root, property).get("default").or_else(|| property.get("default"))
                {
                    members.insert(name.clone(), default.clone());
                }
                if let Some(member) = members.get_mut(name) {
                    apply_defaults(root, property, member);
                }
            }
        }
        Value::Array(elements) => {
            if let Some(items) = schema.get("items") {
                for element in elements {
                    apply_defaults(root, items, element);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bound(schema: &Value, given: &Value) -> Result<Value, Vec<String>> {
        let given = given.as_object().cloned().unwrap_or_default();
        match bind(Some(schema), &given) {
            Ok(inputs) => Ok(Value::Object(inputs)),
            Err(faults) => Err(faults.iter().map(|it| format!("{} {}", it.path, it.code)).collect()),
        }
    }

    #[test]
    fn defaults_fill_what_is_absent_before_anything_is_judged() {
        let schema = json!({
            "type": "object", "required": ["day", "mail"],
            "properties": {
                "day": { "type": "string", "default": "2026-11-30", "format": "date" },
                "mail": { "$ref": "#/$defs/mail" },
                "rows": { "type": "array", "items": { "type": "object", "properties": { "n": { "default": 1 } } } },
            },
            "$defs": { "mail": { "type": "object", "properties": { "to": { "type": "string", "default": "team" } } } },
        });
        assert_eq!(
            bound(&schema, &json!({ "mail": {}, "rows": [{}, { "n": 2 }] })),
            Ok(json!({ "mail": { "to": "team" }, "rows": [{ "n": 1 }, { "n": 2 }], "day": "2026-11-30" }))
        );
        assert_eq!(bound(&schema, &json!({})), Err(vec!["inputs.mail required".to_owned()]));
    }

    #[test]
    fn every_fault_is_named_at_once() {
        let schema = json!({
            "type": "object", "required": ["a"],
            "properties": { "b": { "type": "integer", "maximum": 3 }, "c": { "enum": ["x"] } },
            "additionalProperties": false,
        });
        assert_eq!(
            bound(&schema, &json!({ "b": 4, "c": "y", "d": 1 })),
            Err(vec![
                "inputs.a required".to_owned(),
                "inputs.b maximum".to_owned(),
                "inputs.c enum".to_owned(),
                "inputs.d undeclared".to_owned(),
            ])
        );
    }
}
