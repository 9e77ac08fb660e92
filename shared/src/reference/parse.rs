//! A text to its pieces: plain text, references, and what is neither.
//!
//! Every piece knows the bytes it came from, so that a finding can point at it, a page can underline it and a compiler
//! can rewrite it in place. The pieces cover the text without gaps.

use std::fmt;
use std::ops::Range;

use crate::ids::StepIndex;

/// Which roots a text may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// A flow file: `node.<id>`.
    Flow,
    /// A plan: `steps.N` and `last`.
    Plan,
}

/// What is syntax in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// `{{ }}`, `{% %}` and `{# #}`.
    Text,
    /// `{{ }}` alone: `{%` and `{#` are the shell's own.
    Shell,
}

/// A text taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template<'t> {
    pub text: &'t str,
    pub pieces: Vec<Piece<'t>>,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'t> {
    /// Its bytes in the text.
    pub range: Range<usize>,
    pub content: Content<'t>,
}

/// What a piece is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'t> {
    /// Taken as it is. Of `{{ '{{' }}` and a raw block only what is meant.
    Text(&'t str),
    Reference(Reference),
    Fault(TemplateFault),
}

/// Why a part between braces is no plain reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateFault {
    /// It looks like a reference and is none.
    Malformed { reason: String },
    /// It asks for more than a reference can say.
    Expression {
        kind: ExpressionKind,
        /// It ends in `| shell`: its value is meant as shell text.
        is_raw_shell: bool,
    },
}

/// The three kinds of template syntax beyond plain references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpressionKind {
    Expression,
    Statement,
    Comment,
}

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

impl Template<'_> {
    /// The one reference the whole text consists of: its value keeps its type.
    pub fn exact(&self) -> Option<&Reference> {
        match self.pieces.as_slice() {
            [Piece { content: Content::Reference(reference), .. }] => Some(reference),
            _ => None,
        }
    }

    /// The references in order, each with its bytes.
    pub fn references(&self) -> impl Iterator<Item = (&Range<usize>, &Reference)> {
        self.pieces.iter().filter_map(|piece| match &piece.content {
            Content::Reference(reference) => Some((&piece.range, reference)),
            Content::Text(_) | Content::Fault(_) => None,
        })
    }

    /// Whether it is plain text, whose value is known without a run.
    pub fn is_literal(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece.content, Content::Text(_)))
    }
}

/// Takes a text apart.
pub fn parse(text: &str, dialect: Dialect, syntax: Syntax) -> Template<'_> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (start, opening) = match next_opening(&text[at..], syntax) {
            Some((offset, opening)) => (at + offset, opening),
            None => (text.len(), Opening::Braces),
        };
        if start > at {
            pieces.push(Piece { range: at..start, content: Content::Text(&text[at..start]) });
        }
        if start == text.len() {
            break;
        }
        let piece = match opening {
            Opening::Braces => braces(text, start, dialect),
            Opening::Statement => statement(text, start),
            Opening::Comment => closed_by(text, start, "#}", ExpressionKind::Comment),
        };
        at = piece.range.end;
        pieces.push(piece);
    }
    Template { text, pieces }
}

#[derive(Clone, Copy)]
enum Opening {
    Braces,
    Statement,
    Comment,
}

fn next_opening(text: &str, syntax: Syntax) -> Option<(usize, Opening)> {
    text.as_bytes().windows(2).enumerate().find_map(|(at, pair)| {
        let opening = match (pair, syntax) {
            (b"{{", _) => Opening::Braces,
            (b"{%", Syntax::Text) => Opening::Statement,
            (b"{#", Syntax::Text) => Opening::Comment,
            _ => return None,
        };
        Some((at, opening))
    })
}

fn fault<'t>(range: Range<usize>, fault: TemplateFault) -> Piece<'t> {
    Piece { range, content: Content::Fault(fault) }
}

fn malformed<'t>(range: Range<usize>, reason: &str) -> Piece<'t> {
    fault(range, TemplateFault::Malformed { reason: reason.to_owned() })
}

/// `{{ … }}`: a quoted text stands for itself, anything else must be a reference.
fn braces(text: &str, start: usize, dialect: Dialect) -> Piece<'_> {
    let body = start + 2;
    let Some(length) = closing_braces(&text[body..]) else {
        return malformed(start..body, "the braces are never closed");
    };
    let range = start..body + length + 2;
    let inside = text[body..body + length].trim();
    if inside.is_empty() {
        return malformed(range, "there is nothing between the braces");
    }
    if let Some(literal) = quoted_literal(inside) {
        return Piece { range, content: Content::Text(literal) };
    }
    match read_reference(inside, dialect) {
        Ok(reference) => Piece { range, content: Content::Reference(reference) },
        Err(reason) if looks_like_a_path(inside) => malformed(range, &reason),
        Err(_) => {
            let is_raw_shell = inside.rsplit_once('|').is_some_and(|(_, filter)| filter.trim() == "shell");
            fault(range, TemplateFault::Expression { kind: ExpressionKind::Expression, is_raw_shell })
        }
    }
}

/// Bytes up to the `}}` that ends what stands between braces; braces within quotes do not count, unless a quote is
/// never closed.
fn closing_braces(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if byte == open => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'}') if text[at..].starts_with("}}") => return Some(at),
            (Some(_) | None, _) => {}
        }
    }
    text.find("}}")
}

/// The inside of one pair of quotes that holds neither quotes nor escapes.
fn quoted_literal(inside: &str) -> Option<&str> {
    let quote = inside.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let literal = inside.strip_prefix(quote)?.strip_suffix(quote)?;
    (!literal.contains([quote, '\\'])).then_some(literal)
}

/// `{% raw %}…{% endraw %}` stands for what it holds; any other statement is more than this version reads.
fn statement(text: &str, start: usize) -> Piece<'_> {
    let opening = closed_by(text, start, "%}", ExpressionKind::Statement);
    if keyword(&text[opening.range.clone()]) != Some("raw") {
        return opening;
    }
    let body = opening.range.end;
    let end = text[body..].match_indices("{%").map(|(offset, _)| body + offset).find_map(|at| {
        let range = closed_by(text, at, "%}", ExpressionKind::Statement).range;
        (keyword(&text[range.clone()]) == Some("endraw")).then_some(range)
    });
    match end {
        Some(end) => Piece { range: start..end.end, content: Content::Text(&text[body..end.start]) },
        None => malformed(start..body, "the raw block is never closed by {% endraw %}"),
    }
}

/// The inside of `{% … %}`.
fn keyword(statement: &str) -> Option<&str> {
    statement.strip_prefix("{%")?.strip_suffix("%}").map(str::trim)
}

/// From `start` to the closing mark, or only the opening when there is none.
fn closed_by<'t>(text: &str, start: usize, mark: &str, kind: ExpressionKind) -> Piece<'t> {
    let end = text[start + 2..].find(mark).map_or(start + 2, |length| start + 2 + length + mark.len());
    fault(start..end, TemplateFault::Expression { kind, is_raw_shell: false })
}

/// Whether it could only have been meant as a reference: a word, and then nothing that an expression would need.
fn looks_like_a_path(inside: &str) -> bool {
    let mut quote = None;
    inside.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$'))
        && inside.chars().all(|c| match quote {
            Some(open) => {
                if c == open {
                    quote = None;
                }
                true
            }
            None if matches!(c, '\'' | '"') => {
                quote = Some(c);
                true
            }
            None => c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '[' | ']' | '$'),
        })
        && !matches!(inside, "true" | "false" | "none" | "True" | "False" | "None")
}

fn is_name(text: &str) -> bool {
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
