//! Values, moments and sizes as people read them, and JSON cut into pieces that can be coloured.
//!
//! Plain functions: `now` is given, and nothing here knows the page.

use serde_json::Value;
use weir_shared::ids::Timestamp;

/// A duration: `4 ms`, `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`.
pub fn duration(millis: u64) -> String {
    match millis {
        0..100 => format!("{millis} ms"),
        100..10_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        10_000..60_000 => format!("{} s", millis / 1000),
        60_000..3_600_000 => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1000),
        _ => format!("{} h {} min", millis / 3_600_000, millis % 3_600_000 / 60_000),
    }
}

/// How long ago a moment was: `just now`, `5 min ago`, `3 h ago`, `2 d ago`.
pub fn age(moment: Timestamp, now: Timestamp) -> String {
    match now.millis_since(moment) / 1000 {
        0..10 => "just now".to_owned(),
        seconds @ 10..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} d ago", seconds / 86_400),
    }
}

/// A number of bytes: `512 B`, `2.1 KB`, `64 MB`.
pub fn bytes(count: u64) -> String {
    const STEP: u64 = 1024;
    match count {
        0..STEP => format!("{count} B"),
        n if n < 10 * STEP => format!("{}.{} KB", n / STEP, n % STEP * 10 / STEP),
        n if n < STEP * STEP => format!("{} KB", n / STEP),
        n if n < 10 * STEP * STEP => format!("{}.{} MB", n / (STEP * STEP), n % (STEP * STEP) * 10 / (STEP * STEP)),
        n => format!("{} MB", n / (STEP * STEP)),
    }
}

/// `1 step`, `2 steps`.
pub fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// One piece of a JSON text, by what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    Key,
    Text,
    Number,
    Word,
    Mark,
}

impl Piece {
    /// The class that colours it.
    pub fn class(self) -> &'static str {
        match self {
            Piece::Key => "j-key",
            Piece::Text => "j-text",
            Piece::Number => "j-number",
            Piece::Word => "j-word",
            Piece::Mark => "j-mark",
        }
    }
}

/// Cuts printed JSON into pieces; joined again they are the text.
pub fn pieces(text: &str) -> Vec<(Piece, &str)> {
    let bytes = text.as_bytes();
    let mut out: Vec<(Piece, &str)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let piece = match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                if text[at..].trim_start().starts_with(':') { Piece::Key } else { Piece::Text }
            }
            b'-' | b'0'..=b'9' => {
                while at < bytes.len() && matches!(bytes[at], b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') {
                    at += 1;
                }
                Piece::Number
            }
            b'a'..=b'z' => {
                while at < bytes.len() && bytes[at].is_ascii_lowercase() {
                    at += 1;
                }
                Piece::Word
            }
            _ => {
                while at < bytes.len() && !matches!(bytes[at], b'"' | b'-' | b'0'..=b'9' | b'a'..=b'z') {
                    at += 1;
                }
                Piece::Mark
            }
        };
        out.push((piece, &text[start..at]));
    }
    out
}

/// Why a text is not JSON, in words a person can act on.
pub fn fault(text: &str) -> Option<String> {
    serde_json::from_str::<Value>(text).err().map(|error| {
        let full = error.to_string();
        let what = full.split(" at line ").next().unwrap_or(&full);
        format!("Not JSON yet, line {}, column {}: {what}.", error.line(), error.column())
    })
}

/// A value over several lines.
pub fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_keep_two_figures_of_meaning() {
        let said: Vec<String> = [0, 99, 412, 9_999, 12_300, 185_000, 7_800_000].into_iter().map(duration).collect();
        assert_eq!(said, ["0 ms", "99 ms", "0.4 s", "9.9 s", "12 s", "3 min 5 s", "2 h 10 min"]);
    }

    #[test]
    fn an_age_never_runs_backwards() {
        let now = Timestamp(1_000_000_000);
        let said: Vec<String> = [-5_000, 3_000, 45_000, 300_000, 7_200_000, 200_000_000]
            .into_iter()
            .map(|ago| age(Timestamp(now.0 - ago), now))
            .collect();
        assert_eq!(said, ["just now", "just now", "45 s ago", "5 min ago", "2 h ago", "2 d ago"]);
    }

    #[test]
    fn sizes_are_short() {
        let said: Vec<String> = [12, 2_150, 70_000, 5_400_000].into_iter().map(bytes).collect();
        assert_eq!(said, ["12 B", "2.0 KB", "68 KB", "5.1 MB"]);
    }

    #[test]
    fn pieces_tell_keys_from_texts_and_lose_nothing() {
        let text = "{\n  \"a \\\" b\": [-1.5e3, true, null, \"ü: x\"]\n}";
        let cut = pieces(text);
        assert_eq!(cut.iter().map(|(_, part)| *part).collect::<String>(), text);
        let named: Vec<(Piece, &str)> = cut.into_iter().filter(|(piece, _)| *piece != Piece::Mark).collect();
        assert_eq!(
            named,
            [
                (Piece::Key, "\"a \\\" b\""),
                (Piece::Number, "-1.5e3"),
                (Piece::Word, "true"),
                (Piece::Word, "null"),
                (Piece::Text, "\"ü: x\""),
            ]
        );
    }

    #[test]
    fn a_fault_names_the_place_and_not_the_library() {
        assert_eq!(fault("{\"a\": 1}"), None);
        let said = fault("{\n  \"a\": }").expect("not JSON");
        assert_eq!(said, "Not JSON yet, line 2, column 8: expected value.");
    }
}
