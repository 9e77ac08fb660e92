//! A text with statements as a source to evaluate: the same text, each plain reference as a call that asks for it.

use super::grammar::Reference;
use super::parse::{Content, Template};
use crate::expression::ask_reference;

/// The source of a text with statements.
pub(super) struct Script<'t> {
    pub(super) source: String,
    /// The plain references, by the number under which the source asks for them.
    pub(super) references: Vec<&'t Reference>,
    /// From which byte of the source on which byte of the text stands.
    turns: Vec<(usize, usize)>,
}

impl<'t> Script<'t> {
    pub(super) fn of(template: &'t Template<'_>) -> Self {
        let mut script = Self { source: String::new(), references: Vec::new(), turns: Vec::new() };
        for piece in &template.pieces {
            let written = &template.text[piece.range.clone()];
            script.turns.push((script.source.len(), piece.range.start));
            match &piece.content {
                Content::Reference(reference) => {
                    let (open, close) = (trim(written, "{{-", "{{"), trim_end(written));
                    let call = ask_reference(script.references.len());
                    script.source.extend([open, " ", &call, " ", close]);
                    script.references.push(reference);
                }
                Content::Text(_)
                | Content::Expression(_)
                | Content::RawShell(_)
                | Content::Statement
                | Content::Fault(_) => script.source.push_str(written),
            }
        }
        script
    }

    /// The byte of the text that this byte of the source comes from.
    pub(super) fn place(&self, at: usize) -> usize {
        let turn = self.turns.iter().rev().find(|(source, _)| *source <= at);
        turn.map_or(at, |(source, text)| text + (at - source))
    }
}

/// The opening mark, trimming the text before it if it did.
fn trim<'m>(written: &str, trimming: &'m str, plain: &'m str) -> &'m str {
    if written.starts_with(trimming) { trimming } else { plain }
}

fn trim_end(written: &str) -> &'static str {
    if written.ends_with("-}}") { "-}}" } else { "}}" }
}
