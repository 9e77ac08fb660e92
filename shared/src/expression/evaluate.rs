//! Source and context to a value or a text, within the bounds of `environment`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::machinery::{parse, parse_expr};
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error, ErrorKind};
use serde_json::Value as Json;

use super::environment::{FUEL, OUTPUT_BYTES, environment, reference_function, syntax};
use super::filters::json;
use super::soften::soften;
use super::walk;

/// What an expression can see.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    names: BTreeMap<String, Value>,
    references: Vec<Result<Value, String>>,
    /// The first plain reference that was asked for and is an error.
    asked: Arc<Mutex<Option<usize>>>,
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The plain reference of this number cannot be resolved.
    Reference(usize),
    /// Something is undefined; how that showed.
    Undefined(String),
    /// Why, as a fragment of a sentence.
    Other(String),
}

impl Context {
    /// Makes a name known.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.names.insert(name.to_owned(), value);
    }

    /// Plain references by number, each with its value or why it has none.
    pub(crate) fn with_references(mut self, references: Vec<Result<Value, String>>) -> Self {
        self.references = references;
        self
    }

    fn root(&self) -> Value {
        let mut names = self.names.clone();
        if !self.references.is_empty() {
            let (references, asked) = (self.references.clone(), self.asked.clone());
            let answer = move |number: usize| match references.get(number) {
                Some(Ok(value)) => Ok(value.clone()),
                Some(Err(reason)) => {
                    *asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(number);
                    Err(Error::new(ErrorKind::InvalidOperation, reason.clone()))
                }
                None => Err(Error::new(ErrorKind::InvalidOperation, "there is no such reference")),
            };
            names.insert(reference_function().to_owned(), Value::from_function(answer));
        }
        Value::from_pairs(names)
    }

    fn failure(&self, error: &Error) -> Failure {
        if let Some(number) = *self.asked.lock().unwrap_or_else(PoisonError::into_inner) {
            return Failure::Reference(number);
        }
        let reason = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        match error.kind() {
            ErrorKind::UndefinedError => Failure::Undefined(reason),
            ErrorKind::InvalidOperation if reason.contains("undefined") => Failure::Undefined(reason),
            ErrorKind::OutOfFuel => Failure::Other(format!(
                "it takes more than {FUEL} units of work: do less in one expression, or work it out in a command"
            )),
            ErrorKind::WriteFailure => Failure::Other(too_long()),
            _ => Failure::Other(reason),
        }
    }
}

fn too_long() -> String {
    format!("it yields more than {} KiB: cut it down, or go through a file of the run's directory", OUTPUT_BYTES / 1024)
}

/// The value of one expression.
pub(crate) fn evaluate(source: &str, context: &Context) -> Result<Json, Failure> {
    let failure = |error: Error| context.failure(&error);
    let tree = parse_expr(source).map_err(failure)?;
    let soft = soften(source, |visit| walk::expression(&tree, visit));
    let compiled = environment().compile_expression_owned(soft).map_err(failure)?;
    let value = compiled.eval(context.root()).map_err(failure)?;
    let value = json(&value).map_err(failure)?;
    let mut bounded = Bounded { out: None, left: OUTPUT_BYTES };
    serde_json::to_writer(&mut bounded, &value).map_err(|_| Failure::Other(too_long()))?;
    Ok(value)
}

/// A text with statements, filled in.
pub(crate) fn render(source: &str, context: &Context) -> Result<String, Failure> {
    let failure = |error: Error| context.failure(&error);
    let tree = parse(source, "<text>", syntax()).map_err(failure)?;
    let soft = soften(source, |visit| walk::statement(&tree, visit));
    let environment: &Environment<'_> = environment();
    let template = environment.template_from_str(&soft).map_err(failure)?;
    let mut bounded = Bounded { out: Some(Vec::new()), left: OUTPUT_BYTES };
    template.render_captured_to(context.root(), &mut bounded).map_err(failure)?;
    String::from_utf8(bounded.out.unwrap_or_default()).map_err(|error| Failure::Other(error.to_string()))
}

/// The value of an expression over `input`.
pub fn query(expression: &str, input: &Json) -> Result<Json, String> {
    evaluate(expression, &over_input(input)).map_err(|failure| words(&failure))
}

/// A template that sees `input`, filled in.
pub fn template(template: &str, input: &Json) -> Result<String, String> {
    render(template, &over_input(input)).map_err(|failure| words(&failure))
}

fn over_input(input: &Json) -> Context {
    let mut context = Context::default();
    context.set("input", seen(input));
    context
}

fn words(failure: &Failure) -> String {
    match failure {
        Failure::Reference(_) => "there is no such reference".to_owned(),
        Failure::Undefined(reason) => {
            format!("{reason}: only `input` is known here, and `| default(…)` stands in for what may be missing")
        }
        Failure::Other(reason) => reason.clone(),
    }
}

/// A value of JSON as expressions see it.
pub(crate) fn seen(value: &Json) -> Value {
    Value::from(Serde(value))
}

/// Takes so many bytes and no more.
struct Bounded {
    /// None: they are only counted.
    out: Option<Vec<u8>>,
    left: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("over the limit"))?;
        if let Some(out) = &mut self.out {
            out.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
