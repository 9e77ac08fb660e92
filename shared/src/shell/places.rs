//! Where each reference of a command stands, or why the command is refused.

use std::ops::Range;

use super::judge::judge;
use super::reader::read;
use super::source::symbols;
use super::trouble::{Standing, Unreadable};
use crate::reference::{Content, Template};

/// The quoting a reference stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Bare,
    DoubleQuoted,
    SingleQuoted,
    /// In the body of a here-document whose delimiter is not quoted.
    HereDocument,
    /// After `#`: nothing there is read.
    Comment,
}

impl Place {
    /// What is written there so that the variable's value is one piece of one word.
    pub fn expansion(self, variable: &str) -> String {
        match self {
            Place::Bare => format!("\"${variable}\""),
            Place::DoubleQuoted | Place::HereDocument => format!("${{{variable}}}"),
            // The quotes are closed and opened again, since nothing is expanded within them.
            Place::SingleQuoted => format!("'\"${variable}\"'"),
            Place::Comment => String::new(),
        }
    }

    pub(super) fn is_read(self) -> bool {
        self != Place::Comment
    }
}

/// A reference that no value may be put in place of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reference's bytes in the command.
    pub range: Range<usize>,
    /// The byte to point at: the reference, or what cannot be read.
    pub place: usize,
    /// Where it stands: "in code for `sh`".
    pub context: String,
    /// What to write instead.
    pub instead: String,
}

/// The place of every reference of a command, in order; or, of each reference that cannot be placed, why. A command
/// that cannot be read is refused once, at what cannot be read in it.
pub fn places(command: &Template<'_>) -> Result<Vec<Place>, Vec<Refusal>> {
    let values: Vec<&Range<usize>> = command.values().collect();
    let Some(first) = values.first() else { return Ok(Vec::new()) };
    if let Some(at) = command.text.find('\0') {
        let nul = Unreadable { at, reason: "it holds a NUL character".to_owned(), instead: "Remove it." };
        return Err(vec![refusal_of_all(command, first, &nul)]);
    }
    let mut reading = match read(symbols(command), values.len()) {
        Ok(reading) => reading,
        // What `| shell` pastes may be what is missing: it is judged when it is known.
        Err(_) if has_unknown_text(command) => return Ok(vec![Place::Comment; values.len()]),
        Err(unreadable) => return Err(vec![refusal_of_all(command, first, &unreadable)]),
    };
    judge(&reading.tree, &mut reading.standings);
    let (mut places, mut refusals) = (Vec::new(), Vec::new());
    for (range, standing) in values.into_iter().zip(reading.standings) {
        match standing {
            Some(Standing::At(place)) => places.push(place),
            Some(Standing::Unsafe(trouble)) => refusals.push(Refusal {
                range: range.clone(),
                place: range.start,
                context: trouble.context,
                instead: trouble.instead.replace("{value}", &command.text[range.clone()]),
            }),
            // The parser reads to the end or fails, so this is a value it lost: no place is better than a wrong one.
            None => refusals.push(Refusal {
                range: range.clone(),
                place: range.start,
                context: "in a part of the command that cannot be read".to_owned(),
                instead: "Put this part into a script file and pass it the value as an argument.".to_owned(),
            }),
        }
    }
    if refusals.is_empty() { Ok(places) } else { Err(refusals) }
}

fn has_unknown_text(command: &Template<'_>) -> bool {
    command
        .pieces
        .iter()
        .any(|piece| matches!(piece.content, Content::RawShell(_) | Content::Statement | Content::Fault(_)))
}

fn refusal_of_all(command: &Template<'_>, first: &Range<usize>, unreadable: &Unreadable) -> Refusal {
    let (line, column) = line_and_column(command.text, unreadable.at);
    Refusal {
        range: first.clone(),
        place: unreadable.at.min(command.text.len()),
        context: format!("in a command that cannot be read (line {line}, column {column}: {})", unreadable.reason),
        instead: unreadable.instead.to_owned(),
    }
}

/// Line and column of a byte, counted from 1 in characters.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before: String = text.char_indices().take_while(|(offset, _)| *offset < at).map(|(_, c)| c).collect();
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}
