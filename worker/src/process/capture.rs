//! What a stream said: a bounded head and tail in memory, more of it in a file, the rest counted.
//!
//! It guarantees a bound on memory and on the file whatever the child writes, and that a full disk never stops the
//! child: what cannot be kept is counted and said. It knows no process and no pipe.

use std::collections::VecDeque;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::spec::OutputLimits;

/// The most bytes a character takes in UTF-8; a bound on characters times this is a bound on bytes.
const BYTES_PER_CHAR: usize = 4;

/// One stream of one attempt, as it comes.
#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    head_limit: usize,
    tail: VecDeque<u8>,
    tail_limit: usize,
    limits: OutputLimits,
    seen: u64,
    spill: Spill,
}

/// A stream after its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Captured {
    /// At most the asked number of characters, a mark in place of what is left out included. Bytes that are not
    /// UTF-8 are replaced.
    pub(crate) text: String,
    pub(crate) truncated: bool,
    /// Bytes the process wrote.
    pub(crate) bytes: u64,
    /// Bytes that are in no file.
    pub(crate) dropped: u64,
    /// Why the file is not whole.
    pub(crate) error: Option<String>,
}

#[derive(Debug)]
struct Spill {
    path: PathBuf,
    file: SpillFile,
    written: u64,
}

#[derive(Debug)]
enum SpillFile {
    /// No byte came yet, so there is no file: most commands are silent on at least one stream.
    Unopened,
    Open(File),
    Failed(String),
}

impl Capture {
    /// A stream that goes to this file once it says something.
    pub(super) fn new(limits: OutputLimits, path: PathBuf) -> Self {
        let head_chars = limits.memory_chars / 4 * 3 + limits.memory_chars % 4;
        let tail_chars = limits.memory_chars - head_chars;
        Self {
            head: Vec::new(),
            head_limit: head_chars * BYTES_PER_CHAR,
            tail: VecDeque::new(),
            // Three more, so that a character cut at the front is not among those that are kept.
            tail_limit: tail_chars * BYTES_PER_CHAR + 3,
            limits,
            seen: 0,
            spill: Spill { path, file: SpillFile::Unopened, written: 0 },
        }
    }

    /// Bytes so far.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        self.spill.write(bytes, self.limits.file_bytes);
        let room = (self.head_limit - self.head.len()).min(bytes.len());
        let (to_head, to_tail) = bytes.split_at(room);
        self.head.extend_from_slice(to_head);
        let to_tail = &to_tail[to_tail.len().saturating_sub(self.tail_limit)..];
        let overflow = (self.tail.len() + to_tail.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..overflow);
        self.tail.extend(to_tail);
    }

    /// What the stream said.
    pub(super) fn finish(mut self) -> Captured {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let most = self.limits.memory_chars;
        let dropped = self.seen - self.spill.written;
        let error = match self.spill.file {
            SpillFile::Failed(error) => Some(error),
            SpillFile::Unopened | SpillFile::Open(_) => None,
        };
        let (text, truncated) = if kept == self.seen {
            self.head.extend(self.tail);
            let text = String::from_utf8_lossy(&self.head).into_owned();
            if text.len() <= most || text.chars().count() <= most {
                (text, false)
            } else {
                (shorten(&text, &text, most), true)
            }
        } else {
            let tail: Vec<u8> = self.tail.into();
            (shorten(&String::from_utf8_lossy(&self.head), &String::from_utf8_lossy(&tail), most), true)
        };
        Captured { text, truncated, bytes: self.seen, dropped, error }
    }
}

/// The first three quarters of the room from `head`, a mark, the rest from the end of `tail`.
fn shorten(head: &str, tail: &str, most: usize) -> String {
    const MARK: &str = "\n[… output cut here; the run keeps more of it …]\n";
    let mark = if most >= MARK.chars().count() * 4 { MARK } else { "" };
    let room = most - mark.chars().count();
    let head_chars = room / 4 * 3 + room % 4;
    let mut text: String = head.chars().take(head_chars).collect();
    text.push_str(mark);
    let tail_chars = room - head_chars;
    let from = tail.char_indices().rev().take(tail_chars).last().map_or(tail.len(), |(at, _)| at);
    text.push_str(&tail[from..]);
    text
}

impl Spill {
    fn write(&mut self, bytes: &[u8], limit: u64) {
        let room = usize::try_from(limit - self.written).unwrap_or(usize::MAX).min(bytes.len());
        if room == 0 {
            return;
        }
        if let SpillFile::Unopened = self.file {
            self.file = match open(&self.path) {
                Ok(file) => SpillFile::Open(file),
                Err(error) => SpillFile::Failed(format!("{}: {error}", self.path.display())),
            };
        }
        let SpillFile::Open(file) = &mut self.file else { return };
        match file.write_all(&bytes[..room]) {
            Ok(()) => self.written += room as u64,
            Err(error) => {
                // A full disk takes a part of the last piece.
                self.written = file.stream_position().unwrap_or(self.written);
                self.file = SpillFile::Failed(format!("{}: {error}", self.path.display()));
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let create = || OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
            }
            create()
        }
        other => other,
    }
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
