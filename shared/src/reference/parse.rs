//! A text to its pieces: plain text, references, expressions, statements.
//!
//! Every piece knows the bytes it came from, so that a finding can point at it, a page can underline it and a compiler
//! can rewrite it in place. The pieces cover the text without gaps. What expressions mean is not known here.

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
    pub dialect: Dialect,
    pub syntax: Syntax,
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
    /// Resolved by a walker of our own.
    Reference(Reference),
    /// Braces around anything else.
    Expression(Source<'t>),
    /// In a command: an expression that ends in `| shell`, which is left out of the source. Its value is shell text.
    RawShell(Source<'t>),
    /// `{% … %}` or `{# … #}`: the text is evaluated as a whole.
    Statement,
    Fault(TemplateFault<'t>),
}

/// An expression as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source<'t> {
    pub source: &'t str,
    /// Where it begins in the text.
    pub at: usize,
}

/// It looks like a reference and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateFault<'t> {
    pub reason: String,
    /// What stands between the braces, where it is closed and not empty.
    source: Option<Source<'t>>,
}

impl Template<'_> {
    /// The one reference the whole text consists of: its value keeps its type.
    pub fn exact(&self) -> Option<&Reference> {
        match self.pieces.as_slice() {
            [Piece { content: Content::Reference(reference), .. }] => Some(reference),
            _ => None,
        }
    }

    /// The one expression the whole text consists of: its value keeps its type too.
    pub fn exact_expression(&self) -> Option<Source<'_>> {
        match self.pieces.as_slice() {
            [Piece { content: Content::Expression(source), .. }] => Some(*source),
            _ => None,
        }
    }

    /// The plain references in order, each with its bytes.
    pub fn references(&self) -> impl Iterator<Item = (&Range<usize>, &Reference)> {
        self.pieces.iter().filter_map(|piece| match &piece.content {
            Content::Reference(reference) => Some((&piece.range, reference)),
            _ => None,
        })
    }

    /// The bytes of every piece that stands for a value.
    pub fn values(&self) -> impl Iterator<Item = &Range<usize>> {
        let is_value = |piece: &&Piece<'_>| matches!(piece.content, Content::Reference(_) | Content::Expression(_));
        self.pieces.iter().filter(is_value).map(|piece| &piece.range)
    }

    /// Whether it has to be evaluated as a whole: it holds statements or comments, or marks that trim the text around
    /// them.
    pub fn is_script(&self) -> bool {
        let trims = |piece: &Piece<'_>| match piece.content {
            Content::Reference(_) | Content::Expression(_) => {
                let written = &self.text[piece.range.clone()];
                written.starts_with("{{-") || written.ends_with("-}}")
            }
            _ => false,
        };
        self.syntax == Syntax::Text
            && (self.pieces.iter().any(|piece| piece.content == Content::Statement)
                || self.pieces.len() > 1 && self.pieces.iter().any(trims))
    }

    /// Whether it is plain text, whose value is known without a run.
    pub fn is_literal(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece.content, Content::Text(_)))
    }
}

/// Takes a text apart.
pub fn parse(text: &str, dialect: Dialect, syntax: Syntax) -> Template<'_> {
    let mut template = Template { text, dialect, syntax, pieces: Vec::new() };
    let mut at = 0;
    while at < text.len() {
        let (start, opening) = match next_opening(&text[at..], syntax) {
            Some((offset, opening)) => (at + offset, opening),
            None => (text.len(), Opening::Braces),
        };
        if start > at {
            template.pieces.push(Piece { range: at..start, content: Content::Text(&text[at..start]) });
        }
        if start == text.len() {
            break;
        }
        let piece = match opening {
            Opening::Braces => braces(text, start, dialect, syntax),
            Opening::Statement => statement(text, start),
            Opening::Comment => closed_by(text, start, "#}"),
        };
        at = piece.range.end;
        template.pieces.push(piece);
    }
    if template.is_script() {
        template.pieces.iter_mut().for_each(name_of_a_loop);
    }
    template
}

/// In a text with statements, what is no reference may be a name that a statement gives: `{{ item.name }}`.
fn name_of_a_loop(piece: &mut Piece<'_>) {
    if let Content::Fault(TemplateFault { source: Some(source), .. }) = piece.content {
        piece.content = Content::Expression(source);
    }
}

#[derive(Clone, Copy)]
enum Opening {
    Braces,
    Statement,
    Comment,
}

fn next_opening(text: &str, syntax: Syntax) -> Option<(usize, Opening)> {
    // Found by their first brace, which is a quick search: most texts have none.
    text.match_indices('{').find_map(|(at, _)| {
        let opening = match (text.as_bytes().get(at + 1)?, syntax) {
            (b'{', _) => Opening::Braces,
            (b'%', Syntax::Text) => Opening::Statement,
            (b'#', Syntax::Text) => Opening::Comment,
            _ => return None,
        };
        Some((at, opening))
    })
}

fn malformed<'t>(range: Range<usize>, reason: &str, source: Option<Source<'t>>) -> Piece<'t> {
    Piece { range, content: Content::Fault(TemplateFault { reason: reason.to_owned(), source }) }
}

/// `{{ … }}`: a quoted text stands for itself, a reference for what it leads to, and anything else is an expression.
fn braces(text: &str, start: usize, dialect: Dialect, syntax: Syntax) -> Piece<'_> {
    let body = start + 2;
    let Some(length) = closing_braces(&text[body..]) else {
        return malformed(start..body, "the braces are never closed", None);
    };
    let range = start..body + length + 2;
    let source = inside(text, body..body + length, syntax);
    if source.source.is_empty() {
        return malformed(range, "there is nothing between the braces", None);
    }
    if let Some(literal) = quoted_literal(source.source) {
        return Piece { range, content: Content::Text(literal) };
    }
    let content = match read_reference(source.source, dialect) {
        Ok(reference) => Content::Reference(reference),
        Err(reason) if looks_like_a_path(source.source) => return malformed(range, &reason, Some(source)),
        Err(_) => match raw_shell(source).filter(|_| syntax == Syntax::Shell) {
            Some(source) => Content::RawShell(source),
            None => Content::Expression(source),
        },
    };
    Piece { range, content }
}

/// What stands between braces, without space, and without the marks that trim the text around them.
fn inside(text: &str, body: Range<usize>, syntax: Syntax) -> Source<'_> {
    let mut source = &text[body.clone()];
    if syntax == Syntax::Text {
        source = source.strip_prefix(['-', '+']).unwrap_or(source);
        source = source.strip_suffix('-').unwrap_or(source);
    }
    let trimmed = source.trim();
    // Nothing was taken away before it but one mark and space.
    let at = text[body.clone()].find(trimmed).map_or(body.start, |offset| body.start + offset);
    Source { source: trimmed, at }
}

/// The expression before `| shell`.
fn raw_shell(whole: Source<'_>) -> Option<Source<'_>> {
    let (before, filter) = whole.source.rsplit_once('|')?;
    (filter.trim() == "shell").then_some(Source { source: before.trim_end(), ..whole })
}

/// Bytes up to the `}}` that ends what stands between braces; braces within quotes and those of a map do not count,
/// unless a quote or a map is never closed.
fn closing_braces(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(end), _) if byte == end => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'{') => open += 1,
            (None, b'}') if open > 0 => open -= 1,
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

/// `{% raw %}…{% endraw %}` stands for what it holds.
fn statement(text: &str, start: usize) -> Piece<'_> {
    let opening = closed_by(text, start, "%}");
    if keyword(&text[opening.range.clone()]) != Some("raw") {
        return opening;
    }
    let body = opening.range.end;
    let end = text[body..].match_indices("{%").map(|(offset, _)| body + offset).find_map(|at| {
        let range = closed_by(text, at, "%}").range;
        (keyword(&text[range.clone()]) == Some("endraw")).then_some(range)
    });
    match end {
        Some(end) => Piece { range: start..end.end, content: Content::Text(&text[body..end.start]) },
        None => malformed(start..body, "the raw block is never closed by {% endraw %}", None),
    }
}

/// The inside of `{% … %}`.
fn keyword(statement: &str) -> Option<&str> {
    statement.strip_prefix("{%")?.strip_suffix("%}").map(str::trim)
}

/// From `start` to the closing mark.
fn closed_by<'t>(text: &str, start: usize, mark: &str) -> Piece<'t> {
    match text[start + 2..].find(mark) {
        Some(length) => Piece { range: start..start + 2 + length + mark.len(), content: Content::Statement },
        None => malformed(start..start + 2, &format!("it is never closed by {mark}"), None),
    }
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
        // `node['my-id']` and `steps[0]` are how an expression writes it.
        && !inside.starts_with("node[")
        && !inside.starts_with("steps[")
        && !matches!(inside, "true" | "false" | "none" | "True" | "False" | "None")
}
