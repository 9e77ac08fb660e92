//! Pieces and values to arguments.
//!
//! A text that is exactly one `{{…}}` takes over the value with its type. Within a text, a string goes in as it is
//! and anything else as compact JSON; null has no text and fails. What is missing is named, with what was there
//! instead. In a shell command values travel beside the command, as environment variables (`command`).
//!
//! A secret is resolved twice: to a placeholder, for whatever is shown or kept, and to its value, at the call and for
//! the call alone. An expression that works a secret into something else is shown as it is written.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::context::context;
use super::grammar::{Fact, Reference, Root, Segment};
use super::naming::Names;
use super::parse::{Content, Dialect, Piece, Source, Syntax, Template, parse};
use super::script::Script;
use super::walk::step_of;
use crate::expression::{Context, Failure, evaluate, render, seen};
use crate::ids::StepIndex;
use crate::plan::Step;
use crate::tool::ToolDeclaration;

/// What a step left for others to refer to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lookup<'a> {
    Value(&'a Value),
    Skipped,
    /// It has not ended, or left nothing.
    Absent,
}

/// Everything references can name during a run.
pub trait Values {
    fn inputs(&self) -> &Map<String, Value>;
    fn result(&self, step: StepIndex) -> Lookup<'_>;
    /// The arguments of a step as people saw them.
    fn step_input(&self, step: StepIndex) -> Lookup<'_>;
    fn fact(&self, name: Fact) -> Option<Value>;
}

/// The arguments of one step, for people and for the tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resolved {
    /// What people, gates and the journal see: a command with its values filled in.
    pub shown: Map<String, Value>,
    /// What the tool gets: a command with expansions in place of values.
    pub call: Map<String, Value>,
    /// The variables those expansions name.
    pub environment: Vec<(String, String)>,
    /// The secrets the arguments name. With any, `call` and `environment` hold placeholders: see [`fill_args`].
    pub secrets: BTreeSet<String>,
}

/// What the tool gets, with secrets in their places. Nothing of it is to be kept or shown.
#[derive(Clone, Default, PartialEq)]
pub struct Filled {
    pub call: Map<String, Value>,
    pub environment: Vec<(String, String)>,
}

impl std::fmt::Debug for Filled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Filled(***)")
    }
}

/// Why arguments could not be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// A plain reference names a skipped step, which skips this one too.
    #[error("step {step} was skipped")]
    Skipped { step: StepIndex },
    #[error("{message}")]
    Failed { message: String },
}

pub(super) fn failed(message: impl Into<String>) -> Unresolved {
    Unresolved::Failed { message: message.into() }
}

/// The arguments of a step with every template filled in, secrets as placeholders.
pub fn resolve_args(step: &Step, tool: &ToolDeclaration, values: &dyn Values) -> Result<Resolved, Unresolved> {
    let resolver = Resolver::new(values, step.index, Secrets::Placeholders);
    let mut resolved = Resolved::default();
    for (name, value) in &step.args {
        let (shown, call) = match value {
            value if tool.is_raw(name) => (value.clone(), value.clone()),
            Value::String(command) if tool.is_shell(name) => {
                let command = resolver.command(command, &mut resolved.environment)?;
                (Value::String(command.shown), Value::String(command.call))
            }
            value => {
                let value = resolver.value(value)?;
                (value.clone(), value)
            }
        };
        resolved.shown.insert(name.clone(), shown);
        resolved.call.insert(name.clone(), call);
    }
    resolved.secrets = resolver.named.into_inner();
    Ok(resolved)
}

/// The same arguments for one call of the tool, with the values of these secrets.
pub fn fill_args(
    step: &Step,
    tool: &ToolDeclaration,
    values: &dyn Values,
    secrets: &BTreeMap<String, String>,
) -> Result<Filled, Unresolved> {
    let resolver = Resolver::new(values, step.index, Secrets::Values(secrets));
    let mut filled = Filled::default();
    for (name, value) in &step.args {
        let value = match value {
            value if tool.is_raw(name) => value.clone(),
            Value::String(command) if tool.is_shell(name) => {
                Value::String(resolver.command(command, &mut filled.environment)?.call)
            }
            value => resolver.value(value)?,
        };
        filled.call.insert(name.clone(), value);
    }
    Ok(filled)
}

/// A goal with its inputs and facts filled in. No step has run yet, so none can be named.
pub fn resolve_goal(template: &str, values: &dyn Values) -> Result<String, Unresolved> {
    let resolver = Resolver::new(values, StepIndex(0), Secrets::Placeholders);
    resolver.embedded(&parse(template, Dialect::Plan, Syntax::Text))
}

/// What stands for a secret.
#[derive(Clone, Copy)]
enum Secrets<'a> {
    /// `{{secrets.NAME}}`. It is text like any other: nothing fills it in later.
    Placeholders,
    Values(&'a BTreeMap<String, String>),
}

pub(super) struct Resolver<'a> {
    values: &'a dyn Values,
    here: StepIndex,
    secrets: Secrets<'a>,
    /// The secrets that were named so far.
    named: RefCell<BTreeSet<String>>,
}

impl<'a> Resolver<'a> {
    fn new(values: &'a dyn Values, here: StepIndex, secrets: Secrets<'a>) -> Self {
        Self { values, here, secrets, named: RefCell::default() }
    }

    fn value(&self, value: &Value) -> Result<Value, Unresolved> {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(elements) => {
                Ok(Value::Array(elements.iter().map(|element| self.value(element)).collect::<Result<_, _>>()?))
            }
            Value::Object(members) => Ok(Value::Object(
                members
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.value(value)?)))
                    .collect::<Result<_, Unresolved>>()?,
            )),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
        }
    }

    fn text(&self, text: &str) -> Result<Value, Unresolved> {
        let template = parse(text, Dialect::Plan, Syntax::Text);
        match template.pieces.as_slice() {
            [Piece { content: Content::Reference(reference), .. }] => Ok(self.reference(reference)?.into_owned()),
            [Piece { content: Content::Expression(source), range }] => {
                self.expression(*source, &text[range.clone()], &template.names())
            }
            _ => Ok(Value::String(self.embedded(&template)?)),
        }
    }

    fn embedded(&self, template: &Template<'_>) -> Result<String, Unresolved> {
        if template.is_script() {
            return self.script(template);
        }
        let mut out = String::new();
        for piece in &template.pieces {
            match &piece.content {
                Content::Text(text) => out.push_str(text),
                _ => out.push_str(&self.piece(template, piece)?),
            }
        }
        Ok(out)
    }

    /// The text of a piece that stands for a value.
    pub(super) fn piece(&self, template: &Template<'_>, piece: &Piece<'_>) -> Result<String, Unresolved> {
        let written = &template.text[piece.range.clone()];
        match &piece.content {
            Content::Text(text) => Ok((*text).to_owned()),
            Content::Reference(reference) => text_of(self.reference(reference)?.as_ref(), written),
            Content::Expression(source) | Content::RawShell(source) => {
                let alone = Template { pieces: vec![piece.clone()], ..template.clone() };
                text_of(&self.expression(*source, written, &alone.names())?, written)
            }
            Content::Statement => Err(failed(format!("`{written}` is no part of a command"))),
            Content::Fault(fault) => Err(failed(format!("`{written}` is not a reference: {}", fault.reason))),
        }
    }

    /// The value of an expression. Where it works a secret into something else, it is shown as it is written.
    fn expression(&self, source: Source<'_>, written: &str, names: &Names) -> Result<Value, Unresolved> {
        let context = self.context(names)?;
        let outcome = evaluate(source.source, &context);
        if let Some(secrets) = self.placeholders(names) {
            let keeps_all = |value: &Value| secrets.iter().all(|secret| value.to_string().contains(secret));
            return Ok(outcome.ok().filter(keeps_all).unwrap_or_else(|| Value::from(written)));
        }
        outcome.map_err(|failure| self.explain(&failure, written, names, &[]))
    }

    /// A text with statements.
    fn script(&self, template: &Template<'_>) -> Result<String, Unresolved> {
        let names = template.names();
        let script = Script::of(template);
        let mut unresolved = Vec::new();
        let mut references = Vec::new();
        for reference in &script.references {
            let value = self.reference(reference);
            references.push(value.as_deref().map(seen).map_err(ToString::to_string));
            unresolved.push(value.err());
        }
        let context = self.context(&names)?.with_references(references);
        let outcome = render(&script.source, &context);
        if let Some(secrets) = self.placeholders(&names) {
            let keeps_all = |text: &String| secrets.iter().all(|secret| text.contains(secret));
            return Ok(outcome.ok().filter(keeps_all).unwrap_or_else(|| template.text.to_owned()));
        }
        outcome.map_err(|failure| self.explain(&failure, short(template.text), &names, &unresolved))
    }

    fn context(&self, names: &Names) -> Result<Context, Unresolved> {
        context(names, self.values, self.here, |name| self.secret(name))
    }

    /// What stands for a secret.
    fn secret(&self, name: &str) -> Result<String, Unresolved> {
        self.named.borrow_mut().insert(name.to_owned());
        match self.secrets {
            Secrets::Placeholders => Ok(placeholder(name)),
            Secrets::Values(values) => values.get(name).cloned().ok_or_else(|| {
                failed(format!(
                    "this machine has no secret `{name}`: set WEIR_SECRET_{name} or add it to secrets.toml, and start \
                     the worker again"
                ))
            }),
        }
    }

    /// The placeholders that this must show, where placeholders stand for secrets and it names any.
    fn placeholders(&self, names: &Names) -> Option<Vec<String>> {
        let Secrets::Placeholders = self.secrets else { return None };
        let secrets: Vec<String> = names
            .named
            .iter()
            .filter_map(|named| match &named.reference.root {
                Root::Secret(name) => Some(placeholder(name)),
                _ => None,
            })
            .collect();
        (!secrets.is_empty()).then_some(secrets)
    }

    /// A failure in words: what failed, and what of it is missing.
    fn explain(
        &self,
        failure: &Failure,
        written: &str,
        names: &Names,
        references: &[Option<Unresolved>],
    ) -> Unresolved {
        match failure {
            Failure::Reference(number) => references
                .get(*number)
                .and_then(Clone::clone)
                .unwrap_or_else(|| failed(format!("`{written}`: there is no such reference"))),
            Failure::Other(reason) => failed(format!("`{written}` cannot be evaluated: {reason}")),
            Failure::Undefined(reason) => {
                let missing = names.named.iter().find_map(|named| match self.reference(&named.reference) {
                    Ok(_) => None,
                    Err(Unresolved::Skipped { step }) => Some(format!("step {step} was skipped and has no result")),
                    Err(Unresolved::Failed { message }) => Some(message),
                });
                let missing = missing.unwrap_or_else(|| reason.clone());
                failed(format!(
                    "`{written}` cannot be evaluated: {missing}. `| default(…)` stands in for what may be missing"
                ))
            }
        }
    }

    pub(super) fn reference(&self, reference: &Reference) -> Result<Cow<'a, Value>, Unresolved> {
        let missing = |what: &str| failed(format!("`{{{{{reference}}}}}` cannot be resolved: {what}"));
        let lookup = match &reference.root {
            Root::Inputs => return self.input(reference).map(Cow::Borrowed),
            Root::Fact(fact) => {
                return self.values.fact(*fact).map(Cow::Owned).ok_or_else(|| missing("this run belongs to no flow"));
            }
            Root::Secret(name) => return self.secret(name).map(|secret| Cow::Owned(Value::from(secret))),
            Root::NodeResult(_) | Root::NodeInput(_) => return Err(missing("a plan counts steps, it has no nodes")),
            Root::StepResult(_) | Root::LastResult => {
                let step = step_of(reference, self.here).ok_or_else(|| missing("there is no step before the first"))?;
                (step, self.values.result(step))
            }
            Root::StepInput(step) => (*step, self.values.step_input(*step)),
        };
        match lookup {
            (_, Lookup::Value(value)) => {
                follow(value, &reference.path, &reference.root).map(Cow::Borrowed).map_err(|what| missing(&what))
            }
            (step, Lookup::Skipped) => Err(Unresolved::Skipped { step }),
            (step, Lookup::Absent) => Err(missing(&format!("step {step} has left nothing yet"))),
        }
    }

    fn input(&self, reference: &Reference) -> Result<&'a Value, Unresolved> {
        let missing = |what: String| failed(format!("`{{{{{reference}}}}}` cannot be resolved: {what}"));
        let inputs = self.values.inputs();
        let Some((Segment::Key(name) | Segment::Number(name), rest)) = reference.path.split_first() else {
            return Err(missing("it names no input".to_owned()));
        };
        let value = inputs.get(name).ok_or_else(|| {
            let given: Vec<&str> = inputs.keys().map(String::as_str).collect();
            missing(match given.as_slice() {
                [] => "the run has no inputs".to_owned(),
                given => format!("the run's inputs are {}", given.join(", ")),
            })
        })?;
        follow(value, rest, &format!("inputs.{name}")).map_err(missing)
    }
}

/// Walks a path from a value; on the way out, what was there instead.
fn follow<'v>(value: &'v Value, path: &[Segment], root: &dyn std::fmt::Display) -> Result<&'v Value, String> {
    let mut here = value;
    let mut name = root.to_string();
    for segment in path {
        let next = match (here, segment) {
            (Value::Array(elements), Segment::Number(digits)) => {
                digits.parse().ok().and_then(|at: usize| elements.get(at))
            }
            (Value::Object(members), Segment::Key(key) | Segment::Number(key)) => members.get(key),
            _ => None,
        };
        here = next.ok_or_else(|| format!("`{name}` is {}", kind(here)))?;
        name.push_str(&segment.to_string());
    }
    Ok(here)
}

/// What a value is, for one who looked for something inside it.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "true or false".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(elements) => match elements.len() {
            0 => "an empty list".to_owned(),
            1 => "a list of one element".to_owned(),
            count => format!("a list of {count} elements"),
        },
        Value::Object(members) if members.is_empty() => "an object without keys".to_owned(),
        Value::Object(members) => {
            let mut keys: Vec<&str> = members.keys().take(12).map(String::as_str).collect();
            if members.len() > keys.len() {
                keys.push("…");
            }
            format!("an object with the keys {}", keys.join(", "))
        }
    }
}

/// What stands for a secret wherever it is shown or kept.
fn placeholder(name: &str) -> String {
    format!("{{{{secrets.{name}}}}}")
}

/// A value as it stands within a text.
fn text_of(value: &Value, written: &str) -> Result<String, Unresolved> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Null => Err(failed(format!("`{written}` is null, which has no text"))),
        value => Ok(value.to_string()),
    }
}

/// The beginning of a text, for a message.
fn short(text: &str) -> &str {
    text.char_indices().nth(80).map_or(text, |(at, _)| &text[..at])
}
