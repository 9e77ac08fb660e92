//! The cursor over a command, and what is kept while it is read.
//!
//! It goes forward only; what is read a second time (the body of a here-document, the inside of backticks) is shorter
//! than what it came from and one level deeper, and levels are bounded. So reading always ends.

use super::document::Pending;
use super::places::Place;
use super::source::{Mark, Symbol};
use super::tree::{Tree, Word};
use super::trouble::{Enclosure, Standing, Unreadable};

/// How deep commands, quotes and expansions may be nested.
const MOST_LEVELS: usize = 40;

/// What is known after reading.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) tree: Tree,
    /// Of each value. None: the text ended before it.
    pub(super) standings: Vec<Option<Standing>>,
}

/// Reads a whole command with this many values.
pub(super) fn read(symbols: Vec<Symbol>, values: usize) -> Result<Reading, Unreadable> {
    let end = symbols.last().map_or(0, |last| last.at + 1);
    let mut reader = Reader {
        symbols,
        at: 0,
        end,
        standings: vec![None; values],
        within: None,
        pending: Vec::new(),
        documents: Vec::new(),
        body_end: 0,
        levels: 0,
    };
    let list = reader.whole()?;
    let Reader { standings, documents, .. } = reader;
    Ok(Reading { tree: Tree { list, documents }, standings })
}

pub(super) struct Reader {
    pub(super) symbols: Vec<Symbol>,
    /// The next symbol.
    pub(super) at: usize,
    /// The byte after the last symbol, for what is missed at the end.
    pub(super) end: usize,
    standings: Vec<Option<Standing>>,
    /// The outermost thing around here in which no value is safe.
    pub(super) within: Option<Enclosure>,
    /// Here-documents whose bodies begin at the next line.
    pub(super) pending: Vec<Pending>,
    pub(super) documents: Vec<Word>,
    /// The symbol after the last body that was read.
    pub(super) body_end: usize,
    levels: usize,
}

impl Reader {
    pub(super) fn mark_at(&self, at: usize) -> Option<Mark> {
        self.symbols.get(at).map(|symbol| symbol.mark)
    }

    pub(super) fn peek(&self) -> Option<Mark> {
        self.mark_at(self.at)
    }

    pub(super) fn next(&mut self) -> Option<Mark> {
        let mark = self.peek();
        self.at += usize::from(mark.is_some());
        mark
    }

    /// The byte of the command that the next symbol stands at.
    pub(super) fn place(&self) -> usize {
        self.symbols.get(self.at).map_or(self.end, |symbol| symbol.at)
    }

    pub(super) fn is_char_at(&self, at: usize, c: char) -> bool {
        self.mark_at(at) == Some(Mark::Char(c))
    }

    pub(super) fn is_char(&self, c: char) -> bool {
        self.is_char_at(self.at, c)
    }

    pub(super) fn is_text_at(&self, at: usize, text: &str) -> bool {
        text.chars().enumerate().all(|(offset, c)| self.is_char_at(at + offset, c))
    }

    /// Whether this text comes next.
    pub(super) fn is_text(&self, text: &str) -> bool {
        self.is_text_at(self.at, text)
    }

    /// Takes this text, if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let is_next = self.is_text(text);
        if is_next {
            self.at += text.chars().count();
        }
        is_next
    }

    /// A backslash at the end of a line joins it to the next one.
    pub(super) fn skip_joints(&mut self) {
        while self.take("\\\n") {}
    }

    /// A value stands here.
    pub(super) fn stand(&mut self, value: usize, place: Place) {
        self.record(
            value,
            match self.within {
                Some(within) => Standing::Unsafe(within.trouble()),
                None => Standing::At(place),
            },
        );
    }

    /// A value stands where it is unsafe by what is right before it.
    pub(super) fn stand_unsafe(&mut self, value: usize, enclosure: Enclosure) {
        self.record(value, Standing::Unsafe(self.within.unwrap_or(enclosure).trouble()));
    }

    /// A value stands in a comment, where nothing is read.
    pub(super) fn stand_unread(&mut self, value: usize) {
        self.record(value, Standing::At(Place::Comment));
    }

    fn record(&mut self, value: usize, standing: Standing) {
        if let Some(kept) = self.standings.get_mut(value) {
            *kept = Some(standing);
        }
    }

    /// Reads what this encloses.
    pub(super) fn enclosed<T>(
        &mut self,
        enclosure: Enclosure,
        read: impl FnOnce(&mut Self) -> Result<T, Unreadable>,
    ) -> Result<T, Unreadable> {
        let outer = self.within;
        self.within = outer.or(Some(enclosure));
        let read = read(self);
        self.within = outer;
        read
    }

    /// Reads one level deeper.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Unreadable>) -> Result<T, Unreadable> {
        if self.levels == MOST_LEVELS {
            let reason = format!("it is nested deeper than {MOST_LEVELS} levels");
            return Err(self.unreadable(reason, "Put a part of it into a script file or a step of its own."));
        }
        self.levels += 1;
        let read = read(self);
        self.levels -= 1;
        read
    }

    /// Reads these symbols in place of the rest.
    pub(super) fn aside<T>(
        &mut self,
        symbols: Vec<Symbol>,
        read: impl FnOnce(&mut Self) -> Result<T, Unreadable>,
    ) -> Result<T, Unreadable> {
        let end = symbols.last().map_or(self.end, |last| last.at + 1);
        let outer = (
            std::mem::replace(&mut self.symbols, symbols),
            std::mem::replace(&mut self.at, 0),
            std::mem::replace(&mut self.end, end),
            std::mem::take(&mut self.pending),
            self.body_end,
        );
        let read = self.deeper(read);
        (self.symbols, self.at, self.end, self.pending, self.body_end) = outer;
        read
    }

    /// The text cannot be read on from here.
    pub(super) fn unreadable(&self, reason: impl Into<String>, instead: &'static str) -> Unreadable {
        unreadable(self.place(), reason, instead)
    }
}

pub(super) fn unreadable(at: usize, reason: impl Into<String>, instead: &'static str) -> Unreadable {
    Unreadable { at, reason: reason.into(), instead }
}
