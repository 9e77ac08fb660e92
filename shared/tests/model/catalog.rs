//! Declarations that stand in for the built-in tools, with the same names, arguments and results.

use serde_json::{Value, json};
use weir_shared::check::{CheckedText, Surroundings, check_text};
use weir_shared::limits::Limits;
use weir_shared::tool::{Catalog, Effect, Idempotent, ToolDeclaration};

fn tool(name: &str, effect: Effect, input_schema: Value, output_schema: Value) -> ToolDeclaration {
    ToolDeclaration {
        name: name.to_owned(),
        title: name.to_owned(),
        description: String::new(),
        effect,
        idempotent: Idempotent::default(),
        group: String::new(),
        ports: Vec::new(),
        input_schema,
        output_schema: Some(output_schema),
        timeout_seconds: None,
        source: "builtin".to_owned(),
        trusted: true,
        counts_as: None,
        node: None,
    }
}

/// A few of the built-in tools, a call over the network, and one of a plugin that is not trusted.
pub(crate) fn catalog() -> Catalog {
    let execute_command = tool(
        "execute_command",
        Effect::Command,
        json!({
            "type": "object", "required": ["command"], "additionalProperties": false,
            "properties": {
                "command": { "type": "string", "minLength": 1, "x-weir-shell": true },
                "timeoutSeconds": { "type": "integer", "minimum": 1, "maximum": 86_400 },
                "env": { "type": "object", "additionalProperties": { "type": "string" } },
            },
        }),
        json!({
            "type": "object",
            "properties": {
                "success": { "type": "boolean" }, "exitCode": { "type": ["integer", "null"] },
                "stdout": { "type": "string" }, "stderr": { "type": "string" },
            },
        }),
    );
    let flow_if = ToolDeclaration {
        ports: vec!["true".to_owned(), "false".to_owned()],
        ..tool(
            "flow_if",
            Effect::Read,
            json!({
                "type": "object", "required": ["left", "operator"], "additionalProperties": false,
                "properties": { "left": {}, "operator": { "enum": ["eq", "ne", "gt", "lt"] }, "right": {} },
            }),
            json!({ "type": "object", "properties": { "branch": { "enum": ["true", "false"] } } }),
        )
    };
    let delay = tool(
        "delay",
        Effect::Read,
        json!({
            "type": "object", "required": ["seconds"], "additionalProperties": false,
            "properties": { "seconds": { "type": "number", "minimum": 0 } },
        }),
        json!({ "type": "object" }),
    );
    let json_format = tool(
        "json_format",
        Effect::Read,
        json!({
            "type": "object", "required": ["json"], "additionalProperties": false,
            "properties": { "json": {}, "indent": { "type": "integer" } },
        }),
        json!({ "type": "object", "properties": { "text": { "type": "string" }, "value": {} } }),
    );
    let text_template = tool(
        "text_template",
        Effect::Read,
        json!({
            "type": "object", "required": ["template"],
            "properties": { "template": { "type": "string", "x-weir-raw": true, "x-weir-language": "template" }, "input": {} },
        }),
        json!({ "type": "object", "properties": { "text": { "type": "string" } } }),
    );
    let http_request = ToolDeclaration {
        idempotent: Idempotent::When { when: [("method".to_owned(), vec![json!("GET"), json!("PUT")])].into() },
        ..tool(
            "http_request",
            Effect::External,
            json!({
                "type": "object", "required": ["url"],
                "properties": { "method": { "type": "string", "default": "GET" }, "url": { "type": "string" } },
            }),
            json!({ "type": "object", "properties": { "status": { "type": "integer" }, "json": {} } }),
        )
    };
    let orders_split = ToolDeclaration {
        source: "orders".to_owned(),
        trusted: false,
        counts_as: None,
        ..tool("orders_split", Effect::Write, json!({ "type": "object" }), json!({}))
    };
    Catalog::new([execute_command, flow_if, delay, json_format, text_template, http_request, orders_split])
}

/// A text checked against that catalog, on a machine without secrets.
pub(crate) fn checked(text: &str) -> CheckedText {
    let (catalog, limits, secrets) = (catalog(), Limits::default(), std::collections::BTreeSet::new());
    check_text(text.as_bytes(), &Surroundings { catalog: &catalog, limits: &limits, secrets: Some(&secrets) })
}
