//! `text_template`: a text with its blanks filled in from a value.

use serde_json::{Value, json};
use weir_shared::expression;

pub(super) fn declaration() -> Value {
    json!({
        "name": "text_template",
        "title": "Fill in a text",
        "description": "Fills in a template from a value: a mail, a report, a file of settings.",
        "effect": "read",
        "idempotent": true,
        "group": "data",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["template"],
            "properties": {
                "template": {
                    "type": "string",
                    "maxLength": 1_048_576,
                    "title": "Template",
                    "description": "Text with `{{ … }}`, `{% for %}` and `{% if %}`, over `input` alone: references \
                                    of the flow are not looked for in it.",
                    "examples": ["{% for order in input %}{{ order.id }}: {{ order.total }}\n{% endfor %}"],
                    "x-weir-raw": true,
                    "x-weir-language": "template"
                },
                "input": {
                    "title": "Input",
                    "description": "The value that the template calls `input`.",
                    "examples": ["{{node.fetch.result.json}}"]
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["text"],
            "properties": {
                "text": {
                    "type": "string", "title": "Text", "examples": ["1: 12.50\n"],
                    "description": "The template, filled in."
                }
            }
        },
        "node": {
            "label": "Fill in a text",
            "category": "Data",
            "kind": "action",
            "color": "#E4B7FF",
            "icon": "braces",
            "help": "The language is that of expressions in templates (minijinja).",
            "inputs": [
                { "name": "template", "widget": "textarea", "placeholder": "Dear {{ input.name }}," },
                { "name": "input", "widget": "textarea", "placeholder": "{{node.fetch.result.json}}" }
            ]
        }
    })
}

/// Fills in. The error says what of the template failed.
pub(super) fn call(arguments: Value) -> Result<Value, String> {
    let Value::Object(mut arguments) = arguments else { return Err("arguments are no object".to_owned()) };
    let input = arguments.remove("input").unwrap_or_default();
    let template = arguments.get("template").and_then(Value::as_str).unwrap_or_default();
    let text = expression::template(template, &input)
        .map_err(|reason| format!("the template cannot be filled in: {reason}"))?;
    Ok(json!({ "text": text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_in_from_its_input() {
        let fill = |template: &str| call(json!({ "template": template, "input": [{ "n": 1 }, { "n": 2.5 }] }));
        assert_eq!(fill("{% for i in input %}{{ i.n }}\n{% endfor %}"), Ok(json!({ "text": "1\n2.5\n" })));
        assert_eq!(fill("{{ input }} <&>\n"), Ok(json!({ "text": "[{\"n\":1},{\"n\":2.5}] <&>\n" })));
        assert_eq!(call(json!({ "template": "plain" })), Ok(json!({ "text": "plain" })));
        assert!(fill("{{ input[0].gone }}").is_err_and(|error| error.contains("cannot be filled in")));
        assert!(fill("{% for i in input %}").is_err());
    }
}
