//! English for findings: one sentence that says what is wrong and where, and a hint that says what to do next.
//!
//! Made from the code and its parameters alone, so that another language needs only another table like this one. The
//! parameters of each code are those its arm reads.

use serde_json::{Map, Value};

use crate::finding::Code;

/// The text of one finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    pub message: String,
    pub hint: Option<String>,
}

/// The parameters of a finding, as text.
struct Params<'a>(&'a Map<String, Value>);

impl Params<'_> {
    /// The parameter of this name: a text without quotes, a list joined by commas, anything else as JSON.
    fn text(&self, name: &str) -> String {
        match self.0.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::Array(items)) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
            Some(value) => plain(value),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null() && !self.text(name).is_empty())
    }

    /// `Did you mean x?`, when there is a nearest word.
    fn nearest(&self) -> Option<String> {
        self.has("nearest").then(|| format!("Did you mean `{}`?", self.text("nearest")))
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Message and hint of a finding.
pub fn words(code: Code, params: &Map<String, Value>) -> Words {
    let p = Params(params);
    let (message, hint) = match code {
        Code::UnreadableFile
        | Code::UnsupportedFormat
        | Code::UnknownKey
        | Code::DuplicateKey
        | Code::NumberOutOfRange => reading(code, &p),
        Code::UndeclaredInput
        | Code::UnknownNodeReference
        | Code::MalformedReference
        | Code::UnknownFieldReference
        | Code::TypeMismatch
        | Code::ShellContext
        | Code::RawShell
        | Code::UnknownSecret => reference(code, &p),
        Code::DanglingEdge
        | Code::DuplicateEdge
        | Code::SelfEdge
        | Code::UnknownPort
        | Code::Cycle
        | Code::Disconnected => graph(code, &p),
        Code::EmptyFlow
        | Code::BadFlowId
        | Code::BadName
        | Code::DuplicateNode
        | Code::BadNodeId
        | Code::TooManySteps
        | Code::TooLarge
        | Code::PinTooLarge
        | Code::PinContradictsSchema
        | Code::UnknownPinNode
        | Code::Pinned
        | Code::BadInputSchema
        | Code::BadSchedule
        | Code::BadConcurrency => flow(code, &p),
        Code::BadRetry
        | Code::BadStop
        | Code::BadTimeout
        | Code::UnavailableTool
        | Code::UntrustedTool
        | Code::MissingArgument
        | Code::InvalidArguments
        | Code::UnsafeRetry
        | Code::NestedWorkflow => step(code, &p),
    };
    Words { message, hint }
}

type Pair = (String, Option<String>);

#[expect(clippy::unnecessary_wraps, reason = "it stands beside hints that may be absent")]
fn hint(text: impl Into<String>) -> Option<String> {
    Some(text.into())
}

fn reading(code: Code, p: &Params<'_>) -> Pair {
    match code {
        Code::UnreadableFile => match p.text("reason").as_str() {
            "byte_order_mark" => (
                "the file begins with a byte-order mark".to_owned(),
                hint("Save it as UTF-8 without a byte-order mark."),
            ),
            "encoding" => ("the file is not UTF-8 text".to_owned(), hint("Save it as UTF-8.")),
            "too_large" => (format!("the file is too large: {}", p.text("detail")), hint("Split the flow.")),
            "not_read" => {
                (format!("the file is not read: {}", p.text("detail")), hint("Put the file itself into the directory."))
            }
            "name" => (format!("`{}`: {}", p.text("path"), p.text("detail")), None),
            "too_deep" => (p.text("detail"), hint("Flatten the value.")),
            "missing_key" => (
                format!("`{}` is missing: {} is required here", p.text("path"), p.text("expected")),
                hint(format!("Add `{}`.", p.text("key"))),
            ),
            "shape" => {
                let place = if p.has("path") { format!("`{}`", p.text("path")) } else { "the file".to_owned() };
                (
                    format!("{place} must be {}, not {}", p.text("expected"), p.text("found")),
                    hint(format!("Write {}.", p.text("expected"))),
                )
            }
            _ => (
                format!("the file is not JSON: {}", p.text("detail")),
                hint("Mend the JSON at this place; comments and trailing commas are not allowed."),
            ),
        },
        Code::UnsupportedFormat => (
            format!("the file has format {}, and this Weir reads format {}", p.text("format"), p.text("supported")),
            hint("Update Weir to edit or run it; until then it opens read-only."),
        ),
        Code::UnknownKey => {
            let known = format!("Known here: {}; a key of your own begins with `x-`.", p.text("known"));
            let advice = match p.nearest() {
                Some(near) => format!("{near} {known}"),
                None if p.has("belongsTo") => {
                    format!("`{}` belongs to {}. {known}", p.text("key"), p.text("belongsTo"))
                }
                None => known,
            };
            (format!("unknown key `{}`", p.text("path")), hint(advice))
        }
        Code::DuplicateKey => {
            (format!("the key `{}` stands twice in one object", p.text("path")), hint("Keep one of the two."))
        }
        _ => (
            format!("the number {} at `{}` cannot be kept exactly", p.text("number"), p.text("path")),
            hint("Use an integer of 64 bits or a double, or write it as a text in quotes."),
        ),
    }
}

fn reference(code: Code, p: &Params<'_>) -> Pair {
    match code {
        Code::UndeclaredInput => {
            let advice = p.nearest().unwrap_or_else(|| match p.text("declared").as_str() {
                "" => "Declare it under `inputs`.".to_owned(),
                declared => format!("Declare it under `inputs`, or use one of: {declared}."),
            });
            (
                format!(
                    "`{{{{{}}}}}` names the input `{}`, which the flow does not declare",
                    p.text("reference"),
                    p.text("input")
                ),
                hint(advice),
            )
        }
        Code::UnknownNodeReference => (
            format!(
                "`{{{{{}}}}}` names the node `{}`, which the flow does not have",
                p.text("reference"),
                p.text("node")
            ),
            hint(p.nearest().unwrap_or_else(|| "Refer to the id of a node of this flow.".to_owned())),
        ),
        Code::MalformedReference => (
            format!("`{}` is not a reference: {}", p.text("reference"), p.text("reason")),
            hint("Write {{inputs.name}} or {{node.id.result.key}}; braces that are plain text are written {{ '{{' }}."),
        ),
        Code::UnknownFieldReference => (
            format!(
                "`{{{{{}}}}}` asks for `{}`, which `{}` does not declare",
                p.text("reference"),
                p.text("field"),
                p.text("tool")
            ),
            hint(p.nearest().unwrap_or_else(|| format!("It declares: {}.", p.text("known")))),
        ),
        Code::TypeMismatch => (
            format!(
                "`{{{{{}}}}}` yields {}, and `{}` takes {}",
                p.text("reference"),
                p.text("found"),
                p.text("argument"),
                p.text("expected")
            ),
            hint("Refer to a value of that type, or embed the reference in a text."),
        ),
        Code::ShellContext => (
            format!("`{}` stands {}, where no value is safe", p.text("reference"), p.text("context")),
            hint(p.text("instead")),
        ),
        Code::RawShell => (
            "`| shell` pastes a value into the command as shell text".to_owned(),
            hint("Leave it out, so that the value stays one word; with it every run asks first."),
        ),
        _ => (
            format!("this machine has no secret named `{}`", p.text("name")),
            hint(format!("Set WEIR_SECRET_{} or add it to secrets.toml before running the flow.", p.text("name"))),
        ),
    }
}

fn graph(code: Code, p: &Params<'_>) -> Pair {
    match code {
        Code::DanglingEdge => (
            format!(
                "the edge from `{}` to `{}` has an end that is no node of the flow: {}",
                p.text("source"),
                p.text("target"),
                p.text("missing")
            ),
            hint(p.nearest().unwrap_or_else(|| "Remove the edge, or add the node.".to_owned())),
        ),
        Code::DuplicateEdge => (
            format!("`{}` and `{}` are joined twice", p.text("source"), p.text("target")),
            hint("Keep one of the two edges; one without a port follows every branch."),
        ),
        Code::SelfEdge => (format!("the edge of `{}` leads back to itself", p.text("node")), hint("Remove the edge.")),
        Code::UnknownPort => (
            format!("`{}` has no branch `{}`", p.text("source"), p.text("port")),
            hint(match p.text("ports").as_str() {
                "" => format!("`{}` has no branches: leave `port` out.", p.text("tool")),
                ports => p.nearest().unwrap_or_else(|| format!("Its branches are: {ports}.")),
            }),
        ),
        Code::Cycle => (
            format!(
                "these nodes wait for one another: {}",
                p.0.get("nodes").and_then(Value::as_array).map_or_else(String::new, |nodes| nodes
                    .iter()
                    .map(plain)
                    .collect::<Vec<_>>()
                    .join(" → "),)
            ),
            hint("Remove an edge or a reference of the circle; a reference counts like an edge."),
        ),
        _ => (
            format!("the flow begins in several places, which run in parallel: {}", p.text("roots")),
            hint("Draw an edge if one is meant to wait for another."),
        ),
    }
}

fn flow(code: Code, p: &Params<'_>) -> Pair {
    match code {
        Code::EmptyFlow => ("the flow has no step yet".to_owned(), hint("Add a node.")),
        Code::BadFlowId => (
            format!("`{}` cannot be a flow's id", p.text("id")),
            hint(
                "Use 1 to 64 lower-case letters, digits and hyphens, beginning with a letter or digit, and no reserved word (events, check).",
            ),
        ),
        Code::BadName => (
            format!("the name has {} characters after trimming", p.text("characters")),
            hint(format!("Use 1 to {} characters.", p.text("most"))),
        ),
        Code::DuplicateNode => {
            (format!("two nodes have the id `{}`", p.text("id")), hint("Give one of them another id."))
        }
        Code::BadNodeId => (
            format!("`{}` cannot be a node's id", p.text("id")),
            hint("Use 1 to 64 letters, digits, hyphens and underscores, beginning with a letter."),
        ),
        Code::TooManySteps => (
            format!("the flow has {} steps, and at most {} are allowed", p.text("given"), p.text("most")),
            hint("Split the flow, or raise `limits.flowSteps` in the settings."),
        ),
        Code::TooLarge => (
            format!("the flow has {} {}, and at most {} are allowed", p.text("given"), p.text("what"), p.text("most")),
            hint("Make it smaller, or split the flow."),
        ),
        Code::PinTooLarge => (
            format!(
                "the pin of `{}` has {} bytes, and at most {} are allowed",
                p.text("node"),
                p.text("bytes"),
                p.text("most")
            ),
            hint("Pin a smaller value."),
        ),
        Code::PinContradictsSchema => (
            format!("the pin of `{}` is nothing its tool could return: {}", p.text("node"), p.text("problem")),
            hint("Change the pinned value, or unpin the node."),
        ),
        Code::UnknownPinNode => (
            format!("a value is pinned to `{}`, which the flow does not have", p.text("node")),
            hint(p.nearest().unwrap_or_else(|| "Remove the pin.".to_owned())),
        ),
        Code::Pinned => (
            format!("`{}` serves a pinned value instead of calling its tool", p.text("node")),
            hint("Publishing leaves pins out. Unpin it to call the tool."),
        ),
        Code::BadInputSchema => (
            format!("`{}` is not a schema that inputs can be checked with: {}", p.text("path"), p.text("problem")),
            hint("Write JSON Schema (2020-12) with `\"type\": \"object\"` at its root and references to `#/…` only."),
        ),
        Code::BadSchedule => (
            format!("the schedule `{}` is not right: {}", p.text("schedule"), p.text("problem")),
            hint(p.text("instead")),
        ),
        _ => (
            format!("`concurrency.limit` is {}", p.text("given")),
            hint("Use a whole number from 1, or leave `concurrency` out."),
        ),
    }
}

fn step(code: Code, p: &Params<'_>) -> Pair {
    match code {
        Code::BadRetry => (
            format!("`{}` is {}", p.text("key"), p.text("given")),
            hint(format!("Use a whole number from {} to {}.", p.text("least"), p.text("most"))),
        ),
        Code::BadStop => (
            format!("`stop.graceSeconds` is {}", p.text("given")),
            hint(format!("Use a whole number from 0 to {}.", p.text("most"))),
        ),
        Code::BadTimeout => (
            format!("`timeoutSeconds` is {}", p.text("given")),
            hint(format!("Use a whole number from 1 to {}.", p.text("most"))),
        ),
        Code::UnavailableTool => (
            format!("no tool is named `{}`", p.text("tool")),
            hint(
                p.nearest().unwrap_or_else(|| "Use a tool of `weir tools`, or add the plugin that has it.".to_owned()),
            ),
        ),
        Code::UntrustedTool => (
            format!(
                "`{}` comes from the plugin `{}`, which is not trusted on this machine",
                p.text("tool"),
                p.text("source")
            ),
            hint(format!("Look at its files, then trust it: weir trust {}", p.text("source"))),
        ),
        Code::MissingArgument => (
            format!("`{}` needs the argument `{}`", p.text("tool"), p.text("argument")),
            hint(format!("Set `args.{}`.", p.text("argument"))),
        ),
        Code::InvalidArguments => (
            format!("`{}` does not take this: {}", p.text("tool"), p.text("problem")),
            p.nearest().or_else(|| hint(format!("Change `{}`.", p.text("path")))),
        ),
        Code::UnsafeRetry => (
            format!(
                "`{}` may do harm when it is called again, and {} attempts are asked for",
                p.text("tool"),
                p.text("attempts")
            ),
            hint("Set `idempotent: true` on the node if repeating this call is safe, else `retry.maxAttempts: 1`."),
        ),
        _ => (
            format!("a saved flow cannot call `{}`", p.text("tool")),
            hint("Put the steps of the other flow into this one."),
        ),
    }
}
