//! What a flow must not have to be started by a webhook: nobody is there to pick a file or to answer a gate, and what
//! a stranger sends must never be pasted into a command.

use serde_json::Value;
use weir_shared::flow::PermissionMode;
use weir_shared::plan::Step;
use weir_shared::reference::has_raw_shell;
use weir_shared::tool::Catalog;

use crate::guard;
use crate::published::ActiveVersion;

/// Why a flow cannot be started by a webhook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error(
        "a delivery cannot pick files, and these inputs ask for one: {}; give them another format",
        inputs.join(", ")
    )]
    PicksFiles { inputs: Vec<String> },
    #[error(
        "what a delivery brings would be pasted into a command as it is (`| shell`) in: {}; refer to values without it",
        steps.join(", ")
    )]
    RawShell { steps: Vec<String> },
    #[error(
        "nobody is there to answer a gate, and in the mode {} one could open at: {}; choose a wider permission mode, \
         or take the approval away",
        guard::modes::name(*mode),
        steps.join(", ")
    )]
    Gates { steps: Vec<String>, mode: PermissionMode },
}

/// Refuses a version that a delivery must not start in this mode.
pub(crate) fn check(active: &ActiveVersion, catalog: &Catalog, mode: PermissionMode) -> Result<(), Unfit> {
    let ActiveVersion { flow, plan, .. } = active;
    let mut inputs = Vec::new();
    if let Some(schema) = &flow.inputs {
        picked_files(schema, "inputs", &mut inputs);
    }
    if !inputs.is_empty() {
        return Err(Unfit::PicksFiles { inputs });
    }
    let pastes = |step: &&Step| catalog.get(step.tool_name.as_str()).is_some_and(|tool| has_raw_shell(step, tool));
    let steps: Vec<String> = plan.steps.iter().filter(|step| !step.disabled).filter(pastes).map(guard::name).collect();
    if !steps.is_empty() {
        return Err(Unfit::RawShell { steps });
    }
    let steps = guard::could_open_gates(plan, catalog, mode);
    if steps.is_empty() { Ok(()) } else { Err(Unfit::Gates { steps, mode }) }
}

/// Every property, at any depth, that a page would show as a picker of files or directories.
fn picked_files(schema: &Value, path: &str, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            let format = members.get("format").and_then(Value::as_str);
            if format.is_some_and(|format| matches!(format, "weir-file" | "weir-directory")) {
                found.push(path.to_owned());
            }
            for (key, inner) in members {
                match (key.as_str(), inner) {
                    ("properties" | "patternProperties", Value::Object(properties)) => {
                        for (name, property) in properties {
                            picked_files(property, &format!("{path}.{name}"), found);
                        }
                    }
                    // What is only an example or a value of an input is no schema.
                    ("default" | "const" | "enum" | "examples", _) => {}
                    _ => picked_files(inner, path, found),
                }
            }
        }
        Value::Array(elements) => {
            for element in elements {
                picked_files(element, path, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
