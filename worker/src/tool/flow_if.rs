//! `flow_if`: compares two values and takes one of two branches.

use serde::Deserialize;
use serde_json::{Value, json};

use super::compare::{equal, order, text};

#[derive(Debug, Deserialize)]
struct Arguments {
    #[serde(default)]
    left: Value,
    operator: Operator,
    #[serde(default)]
    right: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operator {
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    Contains,
    NotContains,
    StartsWith,
    EndsWith,
    IsEmpty,
    IsNotEmpty,
}

pub(super) fn declaration() -> Value {
    let operators = [
        "eq",
        "ne",
        "gt",
        "gte",
        "lt",
        "lte",
        "contains",
        "not_contains",
        "starts_with",
        "ends_with",
        "is_empty",
        "is_not_empty",
    ];
    json!({
        "name": "flow_if",
        "title": "Condition",
        "description": "Compares two values and takes the branch `true` or `false`. Steps on the other branch are \
                        skipped. Two numbers, also when they are texts, are compared as numbers.",
        "effect": "read",
        "idempotent": true,
        "group": "flow",
        "ports": ["true", "false"],
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["left", "operator"],
            "properties": {
                "left": {
                    "title": "Value",
                    "description": "What is looked at.",
                    "examples": ["{{node.disk.result.stdout}}"]
                },
                "operator": {
                    "type": "string",
                    "enum": operators,
                    "title": "Comparison",
                    "description": "eq, ne: equal or not. gt, gte, lt, lte: by size, or by alphabet when one is no \
                                    number. contains: a part of a text, an element of a list, a key of an object. \
                                    is_empty: null, an empty text, list or object; takes no second value."
                },
                "right": {
                    "default": "",
                    "title": "Compared with",
                    "description": "What it is compared with.",
                    "examples": [90, "ok"]
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["branch"],
            "properties": {
                "branch": {
                    "type": "string", "enum": ["true", "false"], "title": "Branch", "examples": ["true"],
                    "description": "The branch that was taken."
                }
            }
        },
        "node": {
            "label": "Condition",
            "category": "Flow",
            "kind": "control",
            "color": "#FFB938",
            "icon": "arrows-split",
            "inputs": [
                { "name": "left", "widget": "text", "placeholder": "{{node.disk.result.stdout}}" },
                { "name": "operator", "widget": "select", "options": operators },
                { "name": "right", "widget": "text", "placeholder": "90" }
            ]
        }
    })
}

/// Decides. An error when the two cannot be compared in this way.
pub(super) fn call(arguments: Value) -> Result<Value, String> {
    let Arguments { left, operator, mut right } =
        serde_json::from_value(arguments).map_err(|error| format!("arguments do not fit: {error}"))?;
    if right.is_null() && matches!(left, Value::String(_)) {
        right = Value::String(String::new());
    }
    let holds = holds(operator, &left, &right)?;
    Ok(json!({ "branch": if holds { "true" } else { "false" } }))
}

fn holds(operator: Operator, left: &Value, right: &Value) -> Result<bool, String> {
    Ok(match operator {
        Operator::Eq => equal(left, right),
        Operator::Ne => !equal(left, right),
        Operator::Gt => order(left, right)?.is_gt(),
        Operator::Gte => order(left, right)?.is_ge(),
        Operator::Lt => order(left, right)?.is_lt(),
        Operator::Lte => order(left, right)?.is_le(),
        Operator::Contains => contains(left, right)?,
        Operator::NotContains => !contains(left, right)?,
        Operator::StartsWith => text(left)?.starts_with(&text(right)?),
        Operator::EndsWith => text(left)?.ends_with(&text(right)?),
        Operator::IsEmpty => is_empty(left),
        Operator::IsNotEmpty => !is_empty(left),
    })
}

fn contains(left: &Value, right: &Value) -> Result<bool, String> {
    Ok(match left {
        Value::Array(elements) => elements.iter().any(|element| equal(element, right)),
        Value::Object(fields) => fields.contains_key(&text(right)?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => text(left)?.contains(&text(right)?),
    })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(left: &Value, operator: &str, right: &Value) -> String {
        match call(json!({ "left": left, "operator": operator, "right": right })) {
            Ok(result) => result["branch"].as_str().unwrap_or_default().to_owned(),
            Err(error) => error,
        }
    }

    #[test]
    fn every_operator_decides_as_it_says() {
        let table = [
            (json!(3), "eq", json!("3.0"), "true"),
            (json!("44\n"), "lt", json!(90), "true"),
            (json!("9"), "lt", json!("10"), "true"),
            (json!("9"), "lt", json!("10 GB"), "false"),
            (json!(9_007_199_254_740_993_u64), "eq", json!(9_007_199_254_740_992_u64), "false"),
            (json!(-1), "lt", json!(0.5), "true"),
            (json!("abc"), "ne", json!("abd"), "true"),
            (json!(true), "eq", json!("true"), "true"),
            (json!(null), "eq", json!(""), "true"),
            (json!(""), "eq", json!(null), "true"),
            (json!({ "a": [1] }), "eq", json!({ "a": [1] }), "true"),
            (json!([1]), "eq", json!("[1]"), "false"),
            (json!("012"), "eq", json!(12), "false"),
            (json!("b"), "gte", json!("a"), "true"),
            (json!(2), "gte", json!(2), "true"),
            (json!(2), "lte", json!("2"), "true"),
            (json!(2), "gt", json!(2), "false"),
            (json!("disk full"), "contains", json!("full"), "true"),
            (json!([1, "2"]), "contains", json!(2), "true"),
            (json!({ "k": 0 }), "contains", json!("k"), "true"),
            (json!(["x"]), "not_contains", json!("y"), "true"),
            (json!("report.md"), "ends_with", json!(".md"), "true"),
            (json!("report.md"), "starts_with", json!("rep"), "true"),
            (json!([]), "is_empty", json!(null), "true"),
            (json!(" "), "is_empty", json!(null), "false"),
            (json!(0), "is_not_empty", json!(null), "true"),
            (json!(null), "is_not_empty", json!(null), "false"),
        ];
        for (left, operator, right, expected) in table {
            assert_eq!(branch(&left, operator, &right), expected, "{left} {operator} {right}");
        }
    }

    #[test]
    fn what_has_no_order_is_an_error() {
        assert_eq!(branch(&json!([1]), "gt", &json!(0)), "a list cannot be compared in this way");
        assert_eq!(branch(&json!("a"), "starts_with", &json!({})), "an object cannot be compared in this way");
    }
}
