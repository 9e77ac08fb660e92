//! Where each value of a text stands, by JSON pointer, as lines and columns for people.

use std::ops::Range;

use crate::pointer::Pointer;

/// Positions in one text. What reading leaves behind is one small entry a value, in the order of the text; pointers are
/// followed through them, and lines and columns counted, only when a place is asked for.
#[derive(Debug, Clone, Default)]
pub struct Spans {
    text: String,
    /// Byte offsets at which lines begin.
    lines: Vec<u32>,
    /// Every value, each before those it holds; empty for a text that is no JSON.
    entries: Vec<Entry>,
    /// The key of the value that is entered next.
    next_key: Option<Range<u32>>,
}

/// One value of the text.
#[derive(Debug, Clone)]
struct Entry {
    /// The bytes of its key, quotes included; nothing for an element and for the whole text.
    key: Option<Range<u32>>,
    /// The byte at which it begins.
    at: u32,
    /// The entry after it and all it holds.
    next: u32,
}

impl Spans {
    pub(super) fn of(text: &str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| small(at + 1))).collect();
        Self { text: text.to_owned(), lines, ..Self::default() }
    }

    /// Says where the key of the value stands that is entered next.
    pub(super) fn name_next(&mut self, key: Range<usize>) {
        self.next_key = Some(small(key.start)..small(key.end));
    }

    /// Notes a value that begins at this byte. What is entered before it is left stands in it.
    pub(super) fn enter(&mut self, at: usize) -> usize {
        let key = self.next_key.take();
        self.entries.push(Entry { key, at: small(at), next: 0 });
        self.entries.len() - 1
    }

    /// Notes the end of a value.
    pub(super) fn leave(&mut self, entry: usize) {
        let next = small(self.entries.len());
        if let Some(entry) = self.entries.get_mut(entry) {
            entry.next = next;
        }
    }

    /// What stands in this value, in order.
    fn parts(&self, of: usize) -> impl Iterator<Item = usize> {
        let end = self.entries.get(of).map_or(0, |entry| entry.next as usize);
        std::iter::successors(Some(of + 1), |at| self.entries.get(*at).map(|entry| entry.next as usize))
            .take_while(move |at| *at < end)
    }

    /// The part that one unescaped step of a pointer leads to; of a doubled key the first.
    fn part(&self, of: usize, step: &str) -> Option<usize> {
        let is_object = self.entries.get(of + 1).is_some_and(|first| first.key.is_some());
        if is_object {
            self.parts(of).find(|at| self.has_key(*at, step))
        } else {
            self.parts(of).nth(step.parse().ok()?)
        }
    }

    fn has_key(&self, at: usize, wanted: &str) -> bool {
        let Some(key) = self.entries.get(at).and_then(|entry| entry.key.as_ref()) else { return false };
        let literal = self.text.get(key.start as usize..key.end as usize).unwrap_or_default();
        if literal.contains('\\') {
            serde_json::from_str::<String>(literal).is_ok_and(|key| key == wanted)
        } else {
            literal.get(1..literal.len().saturating_sub(1)) == Some(wanted)
        }
    }

    /// The value at this pointer, or the nearest one around it that the text has, and whether it is the former.
    fn follow(&self, pointer: &Pointer) -> Option<(&Entry, bool)> {
        let mut here = 0;
        for step in pointer.steps() {
            match self.part(here, &step) {
                Some(part) => here = part,
                None => return self.entries.get(here).map(|entry| (entry, false)),
            }
        }
        self.entries.get(here).map(|entry| (entry, true))
    }

    fn exactly(&self, pointer: &Pointer) -> Option<&Entry> {
        self.follow(pointer).filter(|(_, is_exact)| *is_exact).map(|(entry, _)| entry)
    }

    /// The byte at which a line begins; lines count from 1.
    pub(super) fn line_start(&self, line: usize) -> usize {
        self.lines.get(line.saturating_sub(1)).map_or(self.text.len(), |at| *at as usize)
    }

    /// Line and column, both from 1, the column in characters, of a byte offset.
    pub(crate) fn position(&self, at: usize) -> (u32, u32) {
        let at = at.min(self.text.len());
        let line = self.lines.partition_point(|start| *start as usize <= at).max(1);
        let start = self.lines.get(line - 1).map_or(0, |at| *at as usize);
        let column = self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1;
        (small(line), small(column))
    }

    /// Line and column of the value at this JSON pointer.
    pub fn at(&self, pointer: &str) -> Option<(u32, u32)> {
        self.exactly(&pointer.into()).map(|entry| self.position(entry.at as usize))
    }

    /// Line and column of the key at this pointer.
    pub(crate) fn key(&self, pointer: &Pointer) -> Option<(u32, u32)> {
        let key = self.exactly(pointer)?.key.as_ref()?;
        Some(self.position(key.start as usize))
    }

    /// Line and column of the value at this pointer, or of the nearest thing around it that the text has.
    pub fn near(&self, pointer: &Pointer) -> Option<(u32, u32)> {
        self.follow(pointer).map(|(entry, _)| self.position(entry.at as usize))
    }

    /// Line and column of a place inside the string at this pointer: `offset` counts bytes of the string's value, so
    /// escapes in the text are stepped over.
    pub fn inside(&self, pointer: &Pointer, offset: usize) -> Option<(u32, u32)> {
        let start = self.exactly(pointer)?.at as usize;
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
