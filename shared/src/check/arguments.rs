//! Arguments against the schema of their tool; a template counts as what it can yield.

use serde_json::{Value, json};

use super::ground::Ground;
use super::yields::{reference_yields, template_yields};
use crate::finding::Code;
use crate::flow::Node;
use crate::found::{At, Found};
use crate::pointer::{Path, Pointer};
use crate::reference::{Dialect, Syntax, parse};
use crate::schema::{Templates, Types, Violation, violations};
use crate::tool::ToolDeclaration;

pub(super) fn arguments(ground: &Ground<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (node, pointer) in ground.nodes() {
        if let Some(tool) = ground.tool(node) {
            found.extend(of_node(ground, node, tool, &pointer.key("args")));
        }
    }
    found
}

fn of_node(ground: &Ground<'_>, node: &Node, tool: &ToolDeclaration, at: &Pointer) -> Vec<Found> {
    let args = Value::Object(node.args.clone().unwrap_or_default());
    let written = Written { ground, tool };
    violations(&tool.input_schema, &args, &written)
        .into_iter()
        .map(|violation| {
            let mut here = at.clone();
            let steps: Vec<String> = violation.pointer.steps().collect();
            for step in &steps {
                here = here.key(step);
            }
            match (violation.keyword, steps.as_slice()) {
                ("required", [argument]) => {
                    let params = json!({ "tool": tool.name, "argument": argument });
                    Found::new(Code::MissingArgument, &here, params)
                }
                _ => mismatch(&violation, &args, tool, &here).unwrap_or_else(|| invalid(&violation, tool, &here)),
            }
        })
        .collect()
}

/// An exact reference whose type cannot fit has a finding of its own.
fn mismatch(violation: &Violation, args: &Value, tool: &ToolDeclaration, here: &Pointer) -> Option<Found> {
    let types = violation.wrong_type.filter(|_| violation.is_template)?;
    let text = args.pointer(violation.pointer.as_str())?.as_str()?;
    let argument = violation.pointer.steps().next().unwrap_or_default();
    if tool.is_shell(&argument) {
        return None;
    }
    let template = parse(text, Dialect::Flow, Syntax::Text);
    let reference = template.exact()?;
    let params = json!({
        "reference": reference.to_string(), "place": 0, "argument": violation.pointer.to_path(),
        "expected": types.allowed.to_string(), "found": types.given.to_string(),
    });
    Some(Found::new(Code::TypeMismatch, here, params))
}

fn invalid(violation: &Violation, tool: &ToolDeclaration, here: &Pointer) -> Found {
    let path = violation.pointer.to_path();
    let problem = if path.is_empty() { violation.message.clone() } else { format!("`{path}`: {}", violation.message) };
    let params = json!({
        "tool": tool.name, "path": format!("args.{path}"), "reason": violation.keyword, "problem": problem,
        "nearest": violation.nearest,
    });
    let at = if violation.keyword == "undeclared" { At::Key } else { At::Value };
    Found::new(Code::InvalidArguments, here, params).at(at)
}

/// Tells templates of a node's arguments from plain text.
struct Written<'a> {
    ground: &'a Ground<'a>,
    tool: &'a ToolDeclaration,
}

impl Templates for Written<'_> {
    fn yields(&self, path: &Path<'_>, text: &str) -> Option<Types> {
        // All template syntax begins with a brace; most texts have none.
        if !text.contains('{') {
            return None;
        }
        let (argument, is_whole) = path.first()?;
        if self.tool.is_raw(&argument) {
            return None;
        }
        let is_command = is_whole && self.tool.is_shell(&argument);
        let syntax = if is_command { Syntax::Shell } else { Syntax::Text };
        let template = parse(text, Dialect::Flow, syntax);
        let types = template_yields(&template, |reference| {
            reference_yields(reference, self.ground.flow, self.ground.around.catalog)
        })?;
        // A command is text whatever its reference yields.
        Some(if is_command { Types::STRING } else { types })
    }
}
