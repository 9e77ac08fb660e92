//! Where each value of a text stands, by JSON pointer, as lines and columns for people.

use std::collections::HashMap;

use crate::pointer::Pointer;

/// Positions in one text.
#[derive(Debug, Clone, Default)]
pub struct Spans {
    text: String,
    /// Byte offsets at which lines begin.
    lines: Vec<usize>,
    /// Pointer → byte offset of the value.
    values: HashMap<String, usize>,
    /// Pointer → byte offset of the key.
    keys: HashMap<String, usize>,
}

impl Spans {
    pub(super) fn of(text: &str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text: text.to_owned(), lines, ..Self::default() }
    }

    pub(super) fn record(&mut self, pointer: &Pointer, at: usize) {
        self.values.entry(pointer.as_str().to_owned()).or_insert(at);
    }

    pub(super) fn record_key(&mut self, pointer: &Pointer, at: usize) {
        self.keys.entry(pointer.as_str().to_owned()).or_insert(at);
    }

    /// The byte at which a line begins; lines count from 1.
    pub(super) fn line_start(&self, line: usize) -> usize {
        self.lines.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len())
    }

    /// Line and column, both from 1, the column in characters, of a byte offset.
    pub(crate) fn position(&self, at: usize) -> (u32, u32) {
        let at = at.min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= at).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1;
        (small(line), small(column))
    }

    /// Line and column of the value at this JSON pointer.
    pub fn at(&self, pointer: &str) -> Option<(u32, u32)> {
        self.values.get(pointer).map(|at| self.position(*at))
    }

    /// Line and column of the key at this pointer.
    pub(crate) fn key(&self, pointer: &Pointer) -> Option<(u32, u32)> {
        self.keys.get(pointer.as_str()).map(|at| self.position(*at))
    }

    /// Line and column of the value at this pointer, or of the nearest thing around it that the text has.
    pub fn near(&self, pointer: &Pointer) -> Option<(u32, u32)> {
        let mut here = Some(pointer.clone());
        while let Some(pointer) = here {
            if let Some(place) = self.at(pointer.as_str()) {
                return Some(place);
            }
            here = pointer.parent();
        }
        None
    }

    /// Line and column of a place inside the string at this pointer: `offset` counts bytes of the string's value, so
    /// escapes in the text are stepped over.
    pub fn inside(&self, pointer: &Pointer, offset: usize) -> Option<(u32, u32)> {
        let start = *self.values.get(pointer.as_str())?;
        let literal = self.text.get(start..)?.strip_prefix('"')?;
        let mut value = 0;
        let mut chars = literal.char_indices();
        while let Some((at, c)) = chars.next() {
            if value >= offset || c == '"' {
                return Some(self.position(start + 1 + at));
            }
            if c != '\\' {
                value += c.len_utf8();
                continue;
            }
            match chars.next() {
                Some((_, 'u')) => {
                    let unit = literal.get(at + 2..at + 6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                    chars.nth(3);
                    // A pair of surrogates is one character of four bytes: two for each half.
                    value += unit.map_or(1, |unit| char::from_u32(unit).map_or(2, char::len_utf8));
                }
                _ => value += 1,
            }
        }
        None
    }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
