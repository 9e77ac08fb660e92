//! A text to its pieces: plain text, references, and what is neither.
//!
//! Every piece knows the bytes it came from, so that a finding can point at it, a page can underline it and a compiler
//! can rewrite it in place. The pieces cover the text without gaps.

use std::ops::Range;

use super::grammar::{Reference, read_reference};

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
