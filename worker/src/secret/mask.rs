//! Values of secrets, and their usual encodings, replaced by `***`.
//!
//! It guarantees that none of a secret's forms passes, wherever the edges of pieces fall: the end of a piece that
//! could be the beginning of one is held back until more is there. It cannot know a secret that a program has turned
//! into something else (reversed, encrypted, cut in two), and documents say so.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

/// What stands in for a secret.
const HIDDEN: &str = "***";
/// A line of a secret of several lines is hidden by itself from so many bytes.
const LEAST_LINE: usize = 8;

/// Hides a set of secrets. Cheap to clone; shows nothing of them.
#[derive(Clone, Default)]
pub(crate) struct Masker(Arc<Forms>);

/// What is looked for, by its first byte, the longest first.
#[derive(Default)]
struct Forms {
    by_first: Vec<Vec<Vec<u8>>>,
}

/// How much of some bytes may pass.
enum Next {
    /// So many bytes that hold nothing, or nothing to hide begins with them.
    Plain,
    /// So many bytes are a secret.
    Hidden(usize),
    /// What is left could be the beginning of a secret.
    Unknown,
}

impl std::fmt::Debug for Masker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Masker(***)")
    }
}

impl Masker {
    /// Hides these values.
    pub(crate) fn of<'s>(values: impl Iterator<Item = &'s str>) -> Self {
        let forms: BTreeSet<Vec<u8>> = values.flat_map(forms).filter(|form| !form.is_empty()).collect();
        if forms.is_empty() {
            return Self::default();
        }
        let mut by_first = vec![Vec::new(); 256];
        for form in forms {
            by_first[usize::from(form[0])].push(form);
        }
        for forms in &mut by_first {
            forms.sort_by_key(|form: &Vec<u8>| std::cmp::Reverse(form.len()));
        }
        Self(Arc::new(Forms { by_first }))
    }

    /// Whether there is nothing to hide.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.by_first.is_empty()
    }

    /// A stream of bytes with its secrets hidden.
    pub(crate) fn stream(&self) -> Masked {
        Masked { masker: self.clone(), held: Vec::new() }
    }

    /// Bytes that are whole.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        if self.is_empty() {
            return bytes.to_vec();
        }
        let mut stream = self.stream();
        let mut out = stream.push(bytes);
        out.extend(stream.finish());
        out
    }

    /// A text that is whole.
    pub(crate) fn text(&self, text: String) -> String {
        if self.is_empty() {
            return text;
        }
        let masked = self.bytes(text.as_bytes());
        // Forms are text of their own, so what is left between them is too.
        String::from_utf8(masked).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// A value: its texts, its keys, and numbers that read like a secret.
    pub(crate) fn value(&self, value: Value) -> Value {
        if self.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.value(item)).collect()),
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(name, field)| (self.text(name), self.value(field)));
                Value::Object(fields.collect::<Map<String, Value>>())
            }
            Value::Number(number) => {
                let written = number.to_string();
                let masked = self.text(written.clone());
                if masked == written { Value::Number(number) } else { Value::String(masked) }
            }
            Value::Null | Value::Bool(_) => value,
        }
    }

    /// What the bytes begin with.
    fn next(&self, bytes: &[u8]) -> Next {
        let Some(forms) = bytes.first().and_then(|first| self.0.by_first.get(usize::from(*first))) else {
            return Next::Plain;
        };
        for form in forms {
            if bytes.starts_with(form) {
                return Next::Hidden(form.len());
            }
            // A longer form comes first: where it may still come, a shorter one has to wait.
            if form.len() > bytes.len() && form.starts_with(bytes) {
                return Next::Unknown;
            }
        }
        Next::Plain
    }
}

/// One stream, masked as it comes.
#[derive(Debug)]
pub(crate) struct Masked {
    masker: Masker,
    /// The end of what came, which could be the beginning of a secret.
    held: Vec<u8>,
}

impl Masked {
    /// Whether bytes pass as they are.
    pub(crate) fn passes(&self) -> bool {
        self.masker.is_empty()
    }

    /// What of these bytes may pass now, after what was held.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let mut out = Vec::with_capacity(self.held.len());
        let mut at = 0;
        while at < self.held.len() {
            match self.masker.next(&self.held[at..]) {
                Next::Plain => {
                    out.push(self.held[at]);
                    at += 1;
                }
                Next::Hidden(length) => {
                    out.extend_from_slice(HIDDEN.as_bytes());
                    at += length;
                }
                Next::Unknown => break,
            }
        }
        self.held.drain(..at);
        out
    }

    /// What was held: nothing follows that could make it a secret, but a shorter one may be in it.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let mut out = Vec::with_capacity(held.len());
        let mut at = 0;
        while at < held.len() {
            let rest = &held[at..];
            let forms = self.masker.0.by_first.get(usize::from(rest[0]));
            if let Some(form) = forms.into_iter().flatten().find(|form| rest.starts_with(form)) {
                out.extend_from_slice(HIDDEN.as_bytes());
                at += form.len();
            } else {
                out.push(rest[0]);
                at += 1;
            }
        }
        out
    }
}

/// The value as it is, as JSON and URLs write it, in base64 wherever it may begin within what is encoded, and each
/// long line of it.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let mut forms: Vec<String> = Vec::new();
    let lines = secret.lines().map(str::trim).filter(|line| line.len() >= LEAST_LINE);
    for part in lines.chain([secret]) {
        forms.push(part.to_owned());
        let json = Value::from(part).to_string();
        forms.push(json[1..json.len() - 1].to_owned());
        forms.extend([url(part, "%20", Case::Upper), url(part, "%20", Case::Lower), url(part, "+", Case::Upper)]);
    }
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(secret.as_bytes());
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&bytes);
            // The first and the last character may belong to what stands around the secret as well.
            let first = (before * 8).div_ceil(6);
            let last = bytes.len() * 8 / 6;
            forms.push(encoded[first..last].to_owned());
        }
    }
    forms.into_iter().map(String::into_bytes).collect()
}

#[derive(Clone, Copy)]
enum Case {
    Upper,
    Lower,
}

fn url(text: &str, space: &str, case: Case) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match (byte, case) {
            (b' ', _) => out.push_str(space),
            (byte, _) if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') => {
                out.push(char::from(byte));
            }
            (byte, Case::Upper) => {
                let _ = write!(out, "%{byte:02X}");
            }
            (byte, Case::Lower) => {
                let _ = write!(out, "%{byte:02x}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn masker(secrets: &[&str]) -> Masker {
        Masker::of(secrets.iter().copied())
    }

    #[test]
    fn a_secret_is_hidden_in_every_usual_form() {
        let secret = "p@ss \"word\"/ö";
        let masker = masker(&[secret]);
        for text in [
            secret.to_owned(),
            json!({ "x": secret }).to_string(),
            "a=p%40ss%20%22word%22%2F%C3%B6&b".to_owned(),
            "a=p%40ss+%22word%22%2F%C3%B6&b".to_owned(),
            "a=p%40ss%20%22word%22%2f%c3%b6&b".to_owned(),
            STANDARD.encode(secret),
            STANDARD.encode(format!("user:{secret}")),
            STANDARD.encode(format!("u:{secret}:x")),
            URL_SAFE_NO_PAD.encode(format!("us:{secret}")),
        ] {
            let masked = masker.text(format!("<{text}>"));
            assert!(masked.contains("***") && masked.starts_with('<') && masked.ends_with('>'), "{masked}");
            assert!(!masked.contains("word"), "{masked}");
        }
        assert_eq!(masker.text("nothing of it, but p@ss".to_owned()), "nothing of it, but p@ss");
    }

    #[test]
    fn lines_keys_and_numbers_are_hidden_too() {
        let masker = masker(&["first line of a key\nsecond line of it", "12345678"]);
        assert_eq!(masker.text("| second line of it |".to_owned()), "| *** |");
        let value = json!({ "first line of a key": [12_345_678, 1, null, "x12345678y"] });
        assert_eq!(masker.value(value), json!({ "***": ["***", 1, null, "x***y"] }));
        assert_eq!(masker.text("12345678".to_owned()), "***");
    }

    #[test]
    fn of_overlapping_secrets_the_longest_is_taken_and_the_shorter_one_still_found() {
        let masker = masker(&["abcdefgh", "abcdefghijkl"]);
        assert_eq!(masker.text("abcdefghijkl abcdefghijk".to_owned()), "*** ***ijk");
        let mut stream = masker.stream();
        assert_eq!(stream.push(b"abcdefghij"), b"");
        assert_eq!(stream.push(b"x"), b"***ijx");
        assert_eq!(stream.push(b"abcdefgh"), b"");
        assert_eq!(stream.finish(), b"***");
    }

    #[test]
    fn without_secrets_everything_passes() {
        let masker = masker(&[]);
        assert!(masker.is_empty() && masker.stream().passes());
        assert_eq!(masker.bytes(b"\xff\x00"), b"\xff\x00");
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_give_what_the_whole_gives(
            text in proptest::collection::vec(prop_oneof![
                Just("s3cret-one".to_owned()), Just("s3cret-one-two".to_owned()), Just("s3cret".to_owned()),
                Just(STANDARD.encode("s3cret-one")), "[ -~]{0,6}",
            ], 0..12),
            size in 1_usize..9,
        ) {
            let masker = masker(&["s3cret-one", "s3cret-one-two"]);
            let text = text.concat();
            let whole = masker.text(text.clone());
            prop_assert!(!whole.contains("s3cret-one"));
            let mut stream = masker.stream();
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                out.extend(stream.push(piece));
            }
            out.extend(stream.finish());
            prop_assert_eq!(String::from_utf8(out).unwrap(), whole);
        }
    }
}
