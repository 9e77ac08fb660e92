//! Arguments that are taken as they are written, and are a language of their own: is it written right, and does it name
//! what it can see.

use serde_json::{Value, json};

use super::ground::Ground;
use crate::expression::{Found as Told, of_expression, of_template};
use crate::finding::Code;
use crate::found::{At, Found};
use crate::tool::{Language, ToolDeclaration};

/// The one name that such an expression sees.
const SEEN: &str = "input";

pub(super) fn languages(ground: &Ground<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (node, pointer) in ground.nodes() {
        let Some(tool) = ground.tool(node) else { continue };
        for (argument, value) in node.args.iter().flatten() {
            let (Some(language), Value::String(text)) = (tool.language(argument), value) else { continue };
            let pointer = pointer.key("args").key(argument);
            found.extend(problems(language, text).into_iter().map(|(place, problem)| {
                Found::new(Code::InvalidArguments, &pointer, params(tool, argument, &problem)).at(At::Inside(place))
            }));
        }
    }
    found
}

fn params(tool: &ToolDeclaration, argument: &str, problem: &str) -> Value {
    json!({
        "tool": tool.name, "path": format!("args.{argument}"), "reason": "language",
        "problem": format!("`{argument}`: {problem}"), "nearest": null,
    })
}

/// At which byte, and what.
fn problems(language: Language, text: &str) -> Vec<(usize, String)> {
    let Told { chains, mut problems } = match language {
        Language::Expression => of_expression(text),
        Language::Template => of_template(text),
    };
    let unknown = chains.into_iter().filter(|chain| chain.root != SEEN);
    problems.extend(unknown.map(|chain| {
        let reason = format!("there is no `{}` here, only `{SEEN}`: give it to the tool as its input", chain.root);
        (chain.range.start, reason)
    }));
    problems.sort();
    problems
}
