//! The grammar of a plain reference, which is resolved by a walker of our own: a root, and a path from it.
//!
//! Hyphens belong to names here, so `node.my-id.result` is a reference and no subtraction. What does not match is told
//! why; whether it was meant as a reference at all is the caller's question.

use std::fmt;

use super::parse::Dialect;
use crate::ids::StepIndex;

/// A root and the way from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    pub root: Root,
    /// Of an input, its name comes first.
    pub path: Vec<Segment>,
}

/// What a reference begins with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Root {
    Inputs,
    NodeResult(String),
    NodeInput(String),
    StepResult(StepIndex),
    StepInput(StepIndex),
    /// The result of the step before.
    LastResult,
    Fact(Fact),
    Secret(String),
}

/// Something every run knows about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    RunId,
    RunStartedAt,
    FlowId,
    FlowRevision,
}

impl Fact {
    /// Every fact.
    pub const ALL: [Fact; 4] = [Fact::RunId, Fact::RunStartedAt, Fact::FlowId, Fact::FlowRevision];

    /// As it is written: `run.startedAt`.
    pub fn name(self) -> &'static str {
        match self {
            Fact::RunId => "run.id",
            Fact::RunStartedAt => "run.startedAt",
            Fact::FlowId => "flow.id",
            Fact::FlowRevision => "flow.revision",
        }
    }
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Segment {
    Key(String),
    /// Digits: an index of a list, a key of an object.
    Number(String),
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Key(key) if is_name(key) && !is_digits(key) => write!(f, ".{key}"),
            Segment::Key(key) => write!(f, "['{}']", key.replace('\\', "\\\\").replace('\'', "\\'")),
            Segment::Number(digits) => write!(f, "[{digits}]"),
        }
    }
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Root::Inputs => f.write_str("inputs"),
            Root::NodeResult(id) => write!(f, "node.{id}.result"),
            Root::NodeInput(id) => write!(f, "node.{id}.input"),
            Root::StepResult(index) => write!(f, "steps.{index}.result"),
            Root::StepInput(index) => write!(f, "steps.{index}.input"),
            Root::LastResult => f.write_str("last.result"),
            Root::Fact(fact) => f.write_str(fact.name()),
            Root::Secret(name) => write!(f, "secrets.{name}"),
        }
    }
}

impl fmt::Display for Reference {
    /// The inside of the braces, in one spelling for every way it can be written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(f)?;
        self.path.iter().try_for_each(|segment| segment.fmt(f))
    }
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The trimmed inside of braces as a reference, or why it is none.
pub(super) fn read_reference(inside: &str, dialect: Dialect) -> Result<Reference, String> {
    let (word, rest) = split_name(inside);
    let (root, rest) = match word {
        "inputs" => (Root::Inputs, rest),
        "node" => of_node(rest, dialect)?,
        "steps" => of_steps(rest, dialect)?,
        "last" => of_last(rest, dialect)?,
        "run" | "flow" => {
            let fact = Fact::ALL.into_iter().find(|fact| fact.name() == inside);
            (Root::Fact(fact.ok_or("there are run.id, run.startedAt, flow.id and flow.revision")?), "")
        }
        "secrets" => {
            let name = rest.strip_prefix('.').filter(|name| is_name(name)).ok_or("write secrets.NAME")?;
            (Root::Secret(name.to_owned()), "")
        }
        _ => {
            return Err(match dialect {
                Dialect::Flow => "a reference begins with inputs, node, run, flow or secrets",
                Dialect::Plan => "a reference begins with inputs, steps, last, run, flow or secrets",
            }
            .to_owned());
        }
    };
    let path = read_path(rest)?;
    if root == Root::Inputs && path.is_empty() {
        return Err("write inputs.NAME".to_owned());
    }
    Ok(Reference { root, path })
}

/// The longest name at the start, and what follows.
fn split_name(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')));
    text.split_at(end.unwrap_or(text.len()))
}

fn of_node(rest: &str, dialect: Dialect) -> Result<(Root, &str), String> {
    if dialect == Dialect::Plan {
        return Err("a plan has no nodes: write steps.N.result".to_owned());
    }
    let (id, rest) = rest.strip_prefix('.').map(split_name).unwrap_or_default();
    if id.is_empty() {
        return Err("write node.ID.result or node.ID.input".to_owned());
    }
    let (id_of, rest) = result_or_input(rest).ok_or_else(|| format!("write node.{id}.result or node.{id}.input"))?;
    let root = match id_of {
        Half::Result => Root::NodeResult(id.to_owned()),
        Half::Input => Root::NodeInput(id.to_owned()),
    };
    Ok((root, rest))
}

fn of_steps(rest: &str, dialect: Dialect) -> Result<(Root, &str), String> {
    if dialect == Dialect::Flow {
        return Err("steps are counted in plans only: write node.ID.result".to_owned());
    }
    let (digits, rest) = rest.strip_prefix('.').map(split_name).unwrap_or_default();
    let index = digits.parse().ok().filter(|_| is_digits(digits)).map(StepIndex);
    let index = index.ok_or("write steps.N.result or steps.N.input, counted from 0")?;
    let (half, rest) =
        result_or_input(rest).ok_or_else(|| format!("write steps.{index}.result or steps.{index}.input"))?;
    let root = match half {
        Half::Result => Root::StepResult(index),
        Half::Input => Root::StepInput(index),
    };
    Ok((root, rest))
}

fn of_last(rest: &str, dialect: Dialect) -> Result<(Root, &str), String> {
    if dialect == Dialect::Flow {
        return Err("`last` exists in plans only: write node.ID.result".to_owned());
    }
    match result_or_input(rest) {
        Some((Half::Result, rest)) => Ok((Root::LastResult, rest)),
        Some((Half::Input, _)) | None => Err("write last.result".to_owned()),
    }
}

enum Half {
    Result,
    Input,
}

fn result_or_input(rest: &str) -> Option<(Half, &str)> {
    match rest.strip_prefix('.').map(split_name)? {
        ("result", rest) => Some((Half::Result, rest)),
        ("input", rest) => Some((Half::Input, rest)),
        _ => None,
    }
}

fn read_path(mut rest: &str) -> Result<Vec<Segment>, String> {
    let mut path = Vec::new();
    while let Some(opening) = rest.chars().next() {
        let (segment, after) = match opening {
            '.' => {
                let (name, after) = split_name(&rest[1..]);
                if name.is_empty() {
                    return Err("a dot is followed by a key of letters, digits, `_` and `-`".to_owned());
                }
                let segment =
                    if is_digits(name) { Segment::Number(name.to_owned()) } else { Segment::Key(name.to_owned()) };
                (segment, after)
            }
            '[' => bracketed(&rest[1..])?,
            _ => return Err(format!("`{rest}` is no path: go on with .key, ['any key'] or [0]")),
        };
        path.push(segment);
        rest = after;
    }
    Ok(path)
}

/// `'any key']` or `0]`, and what follows. Within quotes a backslash takes the next character as it is.
fn bracketed(text: &str) -> Result<(Segment, &str), String> {
    let wrong = "within brackets stands a key in quotes or an index: ['any key'] or [0]";
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        let (digits, after) = split_name(text);
        let after = after.strip_prefix(']').filter(|_| is_digits(digits)).ok_or(wrong)?;
        return Ok((Segment::Number(digits.to_owned()), after));
    };
    let mut key = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == quote {
            let after = text[at + 1..].strip_prefix(']').ok_or(wrong)?;
            return Ok((Segment::Key(key), after));
        }
        if c == '\\' {
            key.extend(chars.next().map(|(_, escaped)| escaped));
        } else {
            key.push(c);
        }
    }
    Err("a quote within brackets is never closed".to_owned())
}
