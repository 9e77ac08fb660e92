//! The texts of arguments, and the steps and references they name.

use std::ops::Range;

use serde_json::{Map, Value};

use super::grammar::{Reference, Root};
use super::parse::{Content, Dialect, Syntax, parse};
use crate::ids::StepIndex;
use crate::plan::Step;
use crate::pointer::Pointer;
use crate::tool::ToolDeclaration;

/// A string of the arguments, and what is syntax in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<'a> {
    /// From the arguments' root.
    pub pointer: Pointer,
    /// The name of the argument it belongs to.
    pub argument: &'a str,
    pub text: &'a str,
    pub syntax: Syntax,
}

/// Every string of these arguments that is a template, at any depth, keys not counted. Without the tool's declaration
/// every string counts as one.
pub fn texts<'a>(args: &'a Map<String, Value>, tool: Option<&ToolDeclaration>) -> Vec<Text<'a>> {
    let mut texts = Vec::new();
    for (argument, value) in args {
        if tool.is_some_and(|tool| tool.is_raw(argument)) {
            continue;
        }
        let is_command = value.is_string() && tool.is_some_and(|tool| tool.is_shell(argument));
        let syntax = if is_command { Syntax::Shell } else { Syntax::Text };
        collect(&mut texts, (argument, syntax), &Pointer::root().key(argument), value);
    }
    texts
}

fn collect<'a>(texts: &mut Vec<Text<'a>>, of: (&'a str, Syntax), pointer: &Pointer, value: &'a Value) {
    match value {
        Value::String(text) => {
            texts.push(Text { pointer: pointer.clone(), argument: of.0, text, syntax: of.1 });
        }
        Value::Array(elements) => {
            for (at, element) in elements.iter().enumerate() {
                collect(texts, of, &pointer.index(at), element);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                collect(texts, of, &pointer.key(key), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The earlier steps that this step's templates name, in order and once each; `last` is the step before.
///
/// The tool is not known here, so a text is read both as a command and as any other text, and a reference counts
/// wherever either finds one. That can only add a prerequisite: text of a raw argument that happens to read like one.
pub fn steps_named(step: &Step) -> Vec<StepIndex> {
    let mut named: Vec<StepIndex> = Vec::new();
    for text in texts(&step.args, None).iter().filter(|text| text.text.contains("{{") || text.text.contains("{%")) {
        for syntax in [Syntax::Shell, Syntax::Text] {
            let names = parse(text.text, Dialect::Plan, syntax).names();
            named.extend(names.named.iter().filter_map(|named| step_of(&named.reference, step.index)));
        }
    }
    named.retain(|named| *named < step.index);
    named.sort_unstable();
    named.dedup();
    named
}

/// Whether a command of this step holds text that is pasted into it as it is: `{{ … | shell }}`.
pub fn has_raw_shell(step: &Step, tool: &ToolDeclaration) -> bool {
    texts(&step.args, Some(tool)).iter().filter(|text| text.syntax == Syntax::Shell).any(|text| {
        let template = parse(text.text, Dialect::Plan, Syntax::Shell);
        template.pieces.iter().any(|piece| matches!(piece.content, Content::RawShell(_)))
    })
}

/// The step a reference names, seen from the step at `here`.
pub(crate) fn step_of(reference: &Reference, here: StepIndex) -> Option<StepIndex> {
    match &reference.root {
        Root::StepResult(index) | Root::StepInput(index) => Some(*index),
        Root::LastResult => here.0.checked_sub(1).map(StepIndex),
        Root::Inputs | Root::NodeResult(_) | Root::NodeInput(_) | Root::Fact(_) | Root::Secret(_) => None,
    }
}

/// The plain references of a text in a flow file, each with its bytes (braces included): what a page highlights.
pub fn references_in_flow(text: &str, syntax: Syntax) -> Vec<(Range<usize>, Reference)> {
    let template = parse(text, Dialect::Flow, syntax);
    template.references().map(|(range, reference)| (range.clone(), reference.clone())).collect()
}
