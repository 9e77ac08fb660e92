//! A tool's two schemas, compiled once, and what they say against a value.

use jsonschema::Validator;
use serde_json::Value;
use weir_shared::tool::ToolDeclaration;

/// Faults that one message names; a value that breaks more is wrong as a whole.
const MOST_FAULTS: usize = 5;

/// The checks of one tool.
#[derive(Debug)]
pub(super) struct ToolSchema {
    input: Validator,
    output: Option<Validator>,
}

/// A schema that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the {which} schema of tool `{tool}` cannot be used: {reason}")]
pub(crate) struct UnusableSchema {
    tool: String,
    which: &'static str,
    reason: String,
}

impl ToolSchema {
    /// Compiles both schemas.
    pub(super) fn compile(tool: &ToolDeclaration) -> Result<Self, UnusableSchema> {
        let compile = |which, schema: &Value| {
            jsonschema::validator_for(schema).map_err(|fault| UnusableSchema {
                tool: tool.name.clone(),
                which,
                reason: fault.to_string(),
            })
        };
        Ok(Self {
            input: compile("input", &tool.input_schema)?,
            output: tool.output_schema.as_ref().map(|schema| compile("output", schema)).transpose()?,
        })
    }

    /// What is wrong with the arguments of a call, each fault with its path.
    pub(super) fn check_input(&self, arguments: &Value) -> Result<(), String> {
        check(&self.input, arguments).map_err(|faults| format!("arguments do not fit: {faults}"))
    }

    /// What is wrong with a result.
    pub(super) fn check_output(&self, result: &Value) -> Result<(), String> {
        let Some(output) = &self.output else { return Ok(()) };
        check(output, result).map_err(|faults| format!("the result is not what the tool declares: {faults}"))
    }
}

fn check(schema: &Validator, value: &Value) -> Result<(), String> {
    let faults: Vec<String> = schema
        .iter_errors(value)
        .take(MOST_FAULTS)
        .map(|fault| match fault.instance_path().as_str() {
            "" => fault.to_string(),
            path => format!("{path}: {fault}"),
        })
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}
