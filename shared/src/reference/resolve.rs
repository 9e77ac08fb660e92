//! Pieces and values to arguments.
//!
//! A text that is exactly one reference takes over the value with its type. Within a text, a string goes in as it is
//! and anything else as compact JSON; null has no text and fails. What is missing is named, with what was there
//! instead. In a shell command values travel beside the command, as environment variables (`shell::places`).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::grammar::{Fact, Reference, Root, Segment};
use super::parse::{Content, Dialect, Syntax, Template, TemplateFault, parse};
use super::walk::step_of;
use crate::ids::StepIndex;
use crate::limits::ENVIRONMENT_STRING_BYTES;
use crate::plan::Step;
use crate::shell::{Place, places};
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

fn failed(message: impl Into<String>) -> Unresolved {
    Unresolved::Failed { message: message.into() }
}

/// The arguments of a step with every template filled in.
pub fn resolve_args(step: &Step, tool: &ToolDeclaration, values: &dyn Values) -> Result<Resolved, Unresolved> {
    let resolver = Resolver { values, here: step.index };
    let mut resolved = Resolved::default();
    for (name, value) in &step.args {
        let (shown, call) = match value {
            value if tool.is_raw(name) => (value.clone(), value.clone()),
            Value::String(command) if tool.is_shell(name) => {
                let (shown, call) = resolver.command(command, &mut resolved.environment)?;
                (Value::String(shown), Value::String(call))
            }
            value => {
                let value = resolver.value(value)?;
                (value.clone(), value)
            }
        };
        resolved.shown.insert(name.clone(), shown);
        resolved.call.insert(name.clone(), call);
    }
    Ok(resolved)
}

/// A goal with its inputs and facts filled in. No step has run yet, so none can be named.
pub fn resolve_goal(template: &str, values: &dyn Values) -> Result<String, Unresolved> {
    let resolver = Resolver { values, here: StepIndex(0) };
    resolver.embedded(&parse(template, Dialect::Plan, Syntax::Text))
}

struct Resolver<'a> {
    values: &'a dyn Values,
    here: StepIndex,
}

impl<'a> Resolver<'a> {
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
        match template.exact() {
            Some(reference) => Ok(self.reference(reference)?.into_owned()),
            None => Ok(Value::String(self.embedded(&template)?)),
        }
    }

    fn embedded(&self, template: &Template<'_>) -> Result<String, Unresolved> {
        let mut out = String::new();
        for piece in &template.pieces {
            match &piece.content {
                Content::Text(text) => out.push_str(text),
                Content::Reference(reference) => out.push_str(&self.as_text(reference)?),
                Content::Fault(fault) => return Err(refused(&template.text[piece.range.clone()], fault)),
            }
        }
        Ok(out)
    }

    /// The command for people, and the command for the shell with its variables added to `environment`.
    fn command(&self, command: &str, environment: &mut Vec<(String, String)>) -> Result<(String, String), Unresolved> {
        let template = parse(command, Dialect::Plan, Syntax::Shell);
        let places = places(&template).map_err(|refusals| {
            let first = refusals.into_iter().next();
            failed(first.map_or_else(
                || "the command has no safe place for a value".to_owned(),
                |it| format!("`{}` stands {}, where no value is safe. {}", &command[it.range], it.context, it.instead),
            ))
        })?;
        let mut places = places.into_iter();
        let mut names: Vec<(&Reference, String)> = Vec::new();
        let (mut shown, mut call) = (String::new(), String::new());
        for piece in &template.pieces {
            match &piece.content {
                Content::Text(text) => {
                    shown.push_str(text);
                    call.push_str(text);
                }
                Content::Fault(fault) => return Err(refused(&command[piece.range.clone()], fault)),
                Content::Reference(reference) => {
                    let value = self.as_text(reference)?;
                    let place = places.next().unwrap_or(Place::Comment);
                    shown.push_str(&value);
                    if place == Place::Comment {
                        continue;
                    }
                    let known = names.iter().find(|(known, _)| *known == reference).map(|(_, name)| name.clone());
                    let name = if let Some(name) = known {
                        name
                    } else {
                        let name = format!("WEIR_{}", environment.len() + 1);
                        environment.push((name.clone(), fit_for_environment(reference, &name, value)?));
                        names.push((reference, name.clone()));
                        name
                    };
                    call.push_str(&place.expansion(&name));
                }
            }
        }
        Ok((shown, call))
    }

    /// The value as it stands within a text.
    fn as_text(&self, reference: &Reference) -> Result<String, Unresolved> {
        match self.reference(reference)?.as_ref() {
            Value::String(text) => Ok(text.clone()),
            Value::Null => Err(failed(format!("`{{{{{reference}}}}}` is null, which has no text"))),
            value => Ok(value.to_string()),
        }
    }

    fn reference(&self, reference: &Reference) -> Result<Cow<'a, Value>, Unresolved> {
        let missing = |what: &str| failed(format!("`{{{{{reference}}}}}` cannot be resolved: {what}"));
        let lookup = match &reference.root {
            Root::Inputs => return self.input(reference).map(Cow::Borrowed),
            Root::Fact(fact) => {
                return self.values.fact(*fact).map(Cow::Owned).ok_or_else(|| missing("this run belongs to no flow"));
            }
            Root::Secret(_) => return Err(missing("this version does not fill in secrets")),
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

fn refused(text: &str, fault: &TemplateFault) -> Unresolved {
    failed(match fault {
        TemplateFault::Malformed { reason } => format!("`{text}` is not a reference: {reason}"),
        TemplateFault::Expression { .. } => {
            format!("`{text}` is an expression, and this version resolves plain references only")
        }
    })
}

/// An environment string holds no NUL, and Linux bounds it with its name and its terminator.
fn fit_for_environment(reference: &Reference, name: &str, value: String) -> Result<String, Unresolved> {
    if value.contains('\0') {
        return Err(failed(format!("`{{{{{reference}}}}}` holds a NUL character, which no command can be given")));
    }
    if name.len() + 1 + value.len() + 1 > ENVIRONMENT_STRING_BYTES {
        return Err(failed(format!(
            "`{{{{{reference}}}}}` has {} bytes, and a command can be given {ENVIRONMENT_STRING_BYTES} at most: write it \
             to a file in the run directory ($WEIR_RUN_DIR) in a step before, and name the file here",
            value.len()
        )));
    }
    Ok(value)
}
