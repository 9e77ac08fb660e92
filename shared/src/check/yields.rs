//! What a template can yield, told from what inputs and tools declare.

use serde_json::Value;

use crate::flow::Flow;
use crate::reference::{Content, Reference, Root, Segment, Template};
use crate::schema::{DataType, Described, Types, describe};
use crate::tool::{Catalog, OutputField, ToolDeclaration};

/// What a reference leads to, as far as it is declared.
pub(super) fn reference_yields(reference: &Reference, flow: &Flow, catalog: &Catalog) -> Described {
    let tool_of = |id: &str| flow.node(id).and_then(|node| catalog.get(&node.tool));
    match &reference.root {
        Root::Inputs => match &flow.inputs {
            Some(schema) => describe(schema, &reference.path),
            None => Described::As(Types::ANY),
        },
        Root::NodeResult(id) => tool_of(id).map_or(Described::As(Types::ANY), |tool| result(tool, &reference.path)),
        Root::NodeInput(id) => {
            tool_of(id).map_or(Described::As(Types::ANY), |tool| describe(&tool.input_schema, &reference.path))
        }
        Root::Fact(_) | Root::Secret(_) => Described::As(Types::STRING),
        Root::StepResult(_) | Root::StepInput(_) | Root::LastResult => Described::As(Types::ANY),
    }
}

/// What a path into a tool's result yields: by its output schema, else by the outputs its node shows.
pub(super) fn result(tool: &ToolDeclaration, path: &[Segment]) -> Described {
    if let Some(schema) = &tool.output_schema {
        return describe(schema, path);
    }
    match &tool.node {
        Some(node) if !node.outputs.is_empty() => describe(&as_schema(&node.outputs), path),
        _ => Described::As(Types::ANY),
    }
}

fn as_schema(fields: &[OutputField]) -> Value {
    let properties = fields.iter().map(|field| (field.name.clone(), field_schema(field))).collect();
    serde_json::json!({ "type": "object", "properties": Value::Object(properties) })
}

fn field_schema(field: &OutputField) -> Value {
    match DataType::named(&field.data_type) {
        DataType::Object if field.properties.is_empty() => serde_json::json!({ "type": "object" }),
        DataType::Object => as_schema(&field.properties),
        DataType::Array => match &field.items {
            Some(items) => serde_json::json!({ "type": "array", "items": field_schema(items) }),
            None => serde_json::json!({ "type": "array" }),
        },
        DataType::String | DataType::File => serde_json::json!({ "type": "string" }),
        DataType::Number => serde_json::json!({ "type": "number" }),
        DataType::Boolean => serde_json::json!({ "type": "boolean" }),
        DataType::Any => serde_json::json!({}),
    }
}

/// What a template yields; nothing when it is plain text. `of_reference` tells what an exact reference yields.
pub(super) fn template_yields(
    template: &Template<'_>,
    of_reference: impl Fn(&Reference) -> Described,
) -> Option<Types> {
    if let Some(reference) = template.exact() {
        return Some(match of_reference(reference) {
            Described::As(types) => types,
            Described::Undeclared { .. } => Types::ANY,
        });
    }
    match template.pieces.as_slice() {
        // One expression and nothing else may yield anything.
        [piece] if matches!(piece.content, Content::Expression(_) | Content::Fault(_)) => Some(Types::ANY),
        _ if template.is_literal() => None,
        _ => Some(Types::STRING),
    }
}
