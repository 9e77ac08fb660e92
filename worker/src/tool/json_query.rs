//! `json_query`: one expression over a value.
//!
//! Its bound on work keeps a call to some milliseconds, so it answers where it is called.

use serde_json::{Value, json};
use weir_shared::expression;

pub(super) fn declaration() -> Value {
    json!({
        "name": "json_query",
        "title": "Query JSON",
        "description": "Evaluates one expression over a value: picks, filters, counts, adds up, reshapes.",
        "effect": "read",
        "idempotent": true,
        "group": "data",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["input", "expression"],
            "properties": {
                "input": {
                    "title": "Input",
                    "description": "The value that the expression calls `input`. A text that is JSON is best given \
                                    as a value: refer to it through json_format, or use `input | fromjson`.",
                    "examples": ["{{node.fetch.result.json}}"]
                },
                "expression": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 65_536,
                    "title": "Expression",
                    "description": "Without braces, and over `input` alone. Filters such as `map`, `selectattr`, \
                                    `sum`, `sort`, `length` and `default` follow a bar.",
                    "examples": ["input.orders | selectattr('paid') | map(attribute='total') | sum"],
                    "x-weir-raw": true,
                    "x-weir-language": "expression"
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["value"],
            "properties": {
                "value": {
                    "title": "Value", "examples": [42],
                    "description": "What the expression yields."
                }
            }
        },
        "node": {
            "label": "Query JSON",
            "category": "Data",
            "kind": "action",
            "color": "#E4B7FF",
            "icon": "braces",
            "help": "The language is that of expressions in templates (minijinja), without the braces.",
            "inputs": [
                { "name": "input", "widget": "textarea", "placeholder": "{{node.fetch.result.json}}" },
                { "name": "expression", "widget": "textarea", "placeholder": "input.items | length" }
            ]
        }
    })
}

/// Evaluates. The error says what of the expression failed.
pub(super) fn call(arguments: Value) -> Result<Value, String> {
    let Value::Object(mut arguments) = arguments else { return Err("arguments are no object".to_owned()) };
    let input = arguments.remove("input").unwrap_or_default();
    let expression = arguments.get("expression").and_then(Value::as_str).unwrap_or_default();
    let value = expression::query(expression, &input)
        .map_err(|reason| format!("the expression cannot be evaluated: {reason}"))?;
    Ok(json!({ "value": value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_picks_filters_and_adds_up() {
        let input = json!({ "orders": [{ "paid": true, "total": 3 }, { "paid": false, "total": 4 }] });
        let ask = |expression: &str| call(json!({ "input": input, "expression": expression }));
        assert_eq!(ask("input.orders | selectattr('paid') | map(attribute='total') | sum"), Ok(json!({ "value": 3 })));
        assert_eq!(ask("input.orders[1]"), Ok(json!({ "value": { "paid": false, "total": 4 } })));
        assert_eq!(ask("none"), Ok(json!({ "value": null })));
        assert!(ask("input.gone.deeper").is_err_and(|error| error.contains("only `input` is known here")));
        assert!(ask("input.orders |").is_err_and(|error| error.contains("cannot be evaluated")));
        assert!(ask("'x' * 100000000").is_err_and(|error| error.contains("units of work")));
    }
}
