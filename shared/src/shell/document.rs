//! Here-documents: their bodies begin at the line after the one that asks for them, and end at their delimiter.

use super::reader::{Reader, unreadable};
use super::source::{Mark, Symbol};
use super::tree::{Part, Quotes, Word};
use super::trouble::{Enclosure, Unreadable};

/// A here-document whose body is still to come.
#[derive(Debug)]
pub(super) struct Pending {
    /// Where `<<` stands.
    at: usize,
    delimiter: String,
    is_quoted: bool,
    /// `<<-`: tabs at the beginning of its lines are left out.
    strips_tabs: bool,
    /// The number of its body.
    number: usize,
}

impl Reader {
    /// What follows `<<` or `<<-`: the delimiter. The body's number is given.
    pub(super) fn ask_for_document(&mut self, at: usize, operator: &str) -> Result<usize, Unreadable> {
        let word = self.enclosed(Enclosure::Delimiter, Reader::word)?;
        let Some(delimiter) = word.text().filter(|text| !word.parts.is_empty() && !text.contains('\n')) else {
            let reason = if word.parts.is_empty() {
                "a here-document has no delimiter"
            } else {
                "the delimiter of a here-document is no plain word"
            };
            return Err(unreadable(at, reason, "Write a fixed word such as EOF after `<<`."));
        };
        let is_quoted = word.parts.iter().any(|part| matches!(part, Part::Text { is_quoted: true, .. }));
        let number = self.documents.len();
        self.documents.push(Word::default());
        let strips_tabs = operator == "<<-";
        self.pending.push(Pending { at, delimiter, is_quoted, strips_tabs, number });
        Ok(number)
    }

    /// The bodies that begin here, after the end of a line.
    pub(super) fn read_documents(&mut self) -> Result<(), Unreadable> {
        for pending in std::mem::take(&mut self.pending) {
            let body = self.body(&pending)?;
            self.body_end = self.at;
            let word = if pending.is_quoted {
                self.enclosed(Enclosure::QuotedDocument, |reader| {
                    reader.aside(body, |reader| Ok(reader.quoted_body()))
                })?
            } else {
                self.aside(body, Reader::expanded_body)?
            };
            self.documents[pending.number] = word;
        }
        Ok(())
    }

    /// A here-document must have its body before what it stands in ends.
    pub(super) fn no_document_pending(&self) -> Result<(), Unreadable> {
        match self.pending.first() {
            None => Ok(()),
            Some(pending) => Err(never_ended(pending)),
        }
    }

    /// The lines up to the delimiter.
    fn body(&mut self, pending: &Pending) -> Result<Vec<Symbol>, Unreadable> {
        let mut body = Vec::new();
        let mut joined = Vec::new();
        loop {
            if self.at == self.symbols.len() {
                return Err(never_ended(pending));
            }
            if pending.strips_tabs && joined.is_empty() {
                while self.take("\t") {}
            }
            let start = self.at;
            while self.peek().is_some_and(|mark| mark != Mark::Char('\n')) {
                self.at += 1;
            }
            let line = self.symbols[start..self.at].to_vec();
            let end = self.symbols.get(self.at).copied();
            self.at += usize::from(end.is_some());
            let is_joined = !joined.is_empty();
            let is_delimiter = is_text(&line, &pending.delimiter);
            joined.extend_from_slice(&line);
            let goes_on = !pending.is_quoted && backslashes_at_end(&line) % 2 == 1;
            if is_joined && (is_delimiter || is_text(&without_joints(&joined), &pending.delimiter)) {
                return Err(unreadable(
                    line.first().map_or(pending.at, |symbol| symbol.at),
                    "the delimiter of a here-document stands in a line that a backslash joins to the one before",
                    "Put the delimiter on a line of its own.",
                ));
            }
            if is_delimiter {
                return Ok(body);
            }
            joined.extend(end);
            if !goes_on {
                body.append(&mut joined);
            }
        }
    }

    fn quoted_body(&mut self) -> Word {
        let mut word = Word::default();
        while let Some(mark) = self.next() {
            match mark {
                Mark::Char(c) => word.push(c, true),
                Mark::Opaque => word.parts.push(Part::Opaque),
                Mark::Value(value) => {
                    self.stand_unsafe(value, Enclosure::QuotedDocument);
                    word.parts.push(Part::Value(value));
                }
            }
        }
        word
    }

    fn expanded_body(&mut self) -> Result<Word, Unreadable> {
        let mut word = Word::default();
        while let Some(mark) = self.peek() {
            self.expanding(mark, Quotes::Document, &mut word)?;
        }
        Ok(word)
    }
}

fn is_text(line: &[Symbol], text: &str) -> bool {
    let mut chars = text.chars();
    line.iter().all(|symbol| chars.next().is_some_and(|c| symbol.mark == Mark::Char(c))) && chars.next().is_none()
}

fn backslashes_at_end(line: &[Symbol]) -> usize {
    line.iter().rev().take_while(|symbol| symbol.mark == Mark::Char('\\')).count()
}

/// Lines that are joined, without what joins them.
fn without_joints(lines: &[Symbol]) -> Vec<Symbol> {
    let mut text: Vec<Symbol> = Vec::with_capacity(lines.len());
    for symbol in lines {
        if symbol.mark == Mark::Char('\n') {
            text.pop();
        } else {
            text.push(*symbol);
        }
    }
    text
}

fn never_ended(pending: &Pending) -> Unreadable {
    unreadable(
        pending.at,
        format!("no line with the delimiter `{}` ends the here-document", pending.delimiter),
        "Put the delimiter on a line of its own, without anything before or after it.",
    )
}
