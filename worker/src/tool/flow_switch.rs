//! `flow_switch`: takes the branch of the first case that a value equals, or `else`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::compare::equal;

const MOST_CASES: usize = 9;

#[derive(Debug, Deserialize)]
struct Arguments {
    #[serde(default)]
    value: Value,
    cases: Vec<Value>,
}

pub(super) fn declaration() -> Value {
    let mut ports: Vec<String> = (1..=MOST_CASES).map(|case| format!("case_{case}")).collect();
    ports.push("else".to_owned());
    json!({
        "name": "flow_switch",
        "title": "Switch",
        "description": "Compares a value with up to nine cases and takes the branch of the first that is equal, or \
                        `else`. Steps on the other branches are skipped. Two numbers, also when they are texts, are \
                        compared as numbers.",
        "effect": "read",
        "idempotent": true,
        "group": "flow",
        "ports": ports,
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["value", "cases"],
            "properties": {
                "value": {
                    "title": "Value",
                    "description": "What is looked at.",
                    "examples": ["{{inputs.environment}}"]
                },
                "cases": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MOST_CASES,
                    "title": "Cases",
                    "description": "What it is compared with, in this order: case_1, case_2, and so on.",
                    "examples": [["staging", "production"]]
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["branch", "index"],
            "properties": {
                "branch": {
                    "type": "string", "enum": ports, "title": "Branch", "examples": ["case_1"],
                    "description": "The branch that was taken."
                },
                "index": {
                    "type": ["integer", "null"], "title": "Index", "examples": [0],
                    "description": "The place of the case in the list, from 0; null for `else`."
                }
            }
        },
        "node": {
            "label": "Switch",
            "category": "Flow",
            "kind": "control",
            "color": "#FFB938",
            "icon": "arrows-split",
            "inputs": [
                { "name": "value", "widget": "text", "placeholder": "{{inputs.environment}}" },
                { "name": "cases", "widget": "rows" }
            ]
        }
    })
}

/// Decides.
pub(super) fn call(arguments: Value) -> Result<Value, String> {
    let Arguments { value, cases } =
        serde_json::from_value(arguments).map_err(|error| format!("arguments do not fit: {error}"))?;
    Ok(match cases.iter().position(|case| equal(&value, case)) {
        Some(index) => json!({ "branch": format!("case_{}", index + 1), "index": index }),
        None => json!({ "branch": "else", "index": null }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_equal_case_is_taken() {
        let taken = |value: &Value| {
            let result = call(json!({ "value": value, "cases": ["staging", 2, "2", null] })).expect("a branch");
            (result["branch"].as_str().unwrap_or_default().to_owned(), result["index"].clone())
        };
        assert_eq!(taken(&json!("staging")), ("case_1".to_owned(), json!(0)));
        assert_eq!(taken(&json!("2\n")), ("case_2".to_owned(), json!(1)));
        assert_eq!(taken(&json!("")), ("case_4".to_owned(), json!(3)));
        assert_eq!(taken(&json!("production")), ("else".to_owned(), Value::Null));
    }
}
