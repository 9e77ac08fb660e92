//! A command as the shell parser reads it: characters, and the values that stand among them.
//!
//! Whatever the braces held is one symbol here, so no value and no reference can be mistaken for shell text. What
//! `| shell` pastes, and what is faulty, is opaque: nothing is known of it.

use crate::reference::{Content, Template};

/// One symbol, with the byte of the command it stands at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Symbol {
    pub(super) mark: Mark,
    pub(super) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Char(char),
    /// A value, by its number among the values of the command.
    Value(usize),
    Opaque,
}

/// The symbols of a command.
pub(super) fn symbols(command: &Template<'_>) -> Vec<Symbol> {
    let mut symbols = Vec::with_capacity(command.text.len());
    let mut values = 0;
    for piece in &command.pieces {
        let start = piece.range.start;
        match &piece.content {
            Content::Text(text) => {
                // A quoted text between braces, or one that was pasted, stands where its braces begin.
                let is_verbatim = command.text.get(piece.range.clone()) == Some(*text);
                symbols.extend(text.char_indices().map(|(offset, c)| Symbol {
                    mark: Mark::Char(c),
                    at: if is_verbatim { start + offset } else { start },
                }));
            }
            Content::Reference(_) | Content::Expression(_) => {
                symbols.push(Symbol { mark: Mark::Value(values), at: start });
                values += 1;
            }
            Content::RawShell(_) | Content::Statement | Content::Fault(_) => {
                symbols.push(Symbol { mark: Mark::Opaque, at: start });
            }
        }
    }
    symbols
}
