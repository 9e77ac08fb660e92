//! The output of one attempt, put together from the pieces of the stream.
//!
//! Pieces come in order within a connection; after a reconnection some come again and some may be missing. A piece
//! that is known is dropped, a hole is remembered until the whole is read from the worker. Only the end is kept.

/// Characters kept of one output; the whole stays with the worker.
const KEPT: usize = 200_000;

/// One output so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capture {
    text: String,
    /// Bytes of the output before the end of `text`.
    end: u64,
    /// Something before the end is not in `text`.
    pub incomplete: bool,
}

impl Capture {
    /// What is there.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Bytes seen so far, kept or not.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    /// Takes a piece that begins at `offset`.
    pub fn add(&mut self, offset: u64, piece: &str) {
        // A byte that is not UTF-8 arrives as three; the offsets of the worker count it as one.
        let replaced = piece.matches('\u{fffd}').count() as u64 * 2;
        let end = offset + (piece.len() as u64).saturating_sub(replaced);
        if end <= self.end {
            return;
        }
        let known = usize::try_from(self.end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let fresh = (known..=piece.len()).find_map(|at| piece.get(at..)).unwrap_or_default();
        if offset > self.end {
            self.incomplete = true;
            if !self.text.is_empty() {
                self.text.push_str("\n…\n");
            }
        }
        self.text.push_str(fresh);
        self.end = end;
        self.trim();
    }

    /// Takes the whole output as it is kept by the worker.
    pub fn replace(&mut self, whole: String) {
        self.end = self.end.max(whole.len() as u64);
        self.text = whole;
        self.incomplete = false;
        self.trim();
    }

    fn trim(&mut self) {
        if self.text.len() > KEPT {
            let cut = self.text.len() - KEPT;
            let cut = (cut..=self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(cut);
            self.text.drain(..cut);
            self.incomplete = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_is_dropped_and_overlaps_are_cut() {
        let mut capture = Capture::default();
        capture.add(0, "one ");
        capture.add(4, "two ");
        capture.add(0, "one two ");
        capture.add(4, "two three");
        assert_eq!((capture.text(), capture.bytes(), capture.incomplete), ("one two three", 13, false));
    }

    #[test]
    fn a_hole_is_seen_and_the_whole_fills_it() {
        let mut capture = Capture::default();
        capture.add(0, "a");
        capture.add(10, "z");
        assert!(capture.incomplete);
        capture.replace("a12345678_z".to_owned());
        assert_eq!((capture.text(), capture.incomplete), ("a12345678_z", false));
    }

    #[test]
    fn an_overlap_inside_a_letter_loses_no_later_text() {
        let mut capture = Capture::default();
        capture.add(0, "ab");
        capture.add(1, "ü!");
        assert!(capture.text().ends_with('!'));
    }

    #[test]
    fn only_the_end_is_kept() {
        let mut capture = Capture::default();
        capture.add(0, &"x".repeat(KEPT));
        capture.add(KEPT as u64, "end");
        assert_eq!(capture.text().len(), KEPT);
        assert!(capture.text().ends_with("end") && capture.incomplete);
    }
}
