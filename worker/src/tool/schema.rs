//! What a tool's two schemas say against a value: the same rules that a flow is checked by.

use serde_json::Value;
use weir_shared::schema::{check_schema, validate};
use weir_shared::tool::ToolDeclaration;

/// Faults that one message names; a value that breaks more is wrong as a whole.
const MOST_FAULTS: usize = 5;

/// The schemas of one tool, known to be usable.
#[derive(Debug)]
pub(super) struct ToolSchema {
    input: Value,
    output: Option<Value>,
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
    /// Takes both schemas, if they can be used.
    pub(super) fn of(tool: &ToolDeclaration) -> Result<Self, UnusableSchema> {
        let usable = |which, schema: &Value| match check_schema(schema).first() {
            None => Ok(schema.clone()),
            Some(problem) => Err(UnusableSchema {
                tool: tool.name.clone(),
                which,
                reason: format!("{}: {}", problem.pointer.to_path(), problem.problem),
            }),
        };
        Ok(Self {
            input: usable("input", &tool.input_schema)?,
            output: tool.output_schema.as_ref().map(|schema| usable("output", schema)).transpose()?,
        })
    }

    /// What is wrong with the arguments of a call, each fault with its path.
    pub(super) fn check_input(&self, arguments: &Value) -> Result<(), String> {
        check(&self.input, arguments, "args").map_err(|faults| format!("arguments do not fit: {faults}"))
    }

    /// What is wrong with a result.
    pub(super) fn check_output(&self, result: &Value) -> Result<(), String> {
        let Some(output) = &self.output else { return Ok(()) };
        check(output, result, "result").map_err(|faults| format!("the result is not what the tool declares: {faults}"))
    }
}

fn check(schema: &Value, value: &Value, name: &str) -> Result<(), String> {
    let faults = validate(schema, value, name);
    if faults.is_empty() {
        return Ok(());
    }
    let named = faults.iter().take(MOST_FAULTS).map(|fault| format!("{}: {}", fault.path, fault.message));
    Err(named.collect::<Vec<_>>().join("; "))
}
