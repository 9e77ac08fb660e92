//! Bytes to a tree of JSON values that know where they stand.
//!
//! Guarantees: `serde_json` accepts the same bytes; nesting that is read by recursion is bounded; a key twice in one
//! object and a number that cannot be kept are reported wherever they stand; every value has a position.
//!
//! `serde_json` judges the grammar of the whole text first and decodes strings and numbers; what is done here is to
//! walk a text that is known to be JSON and to note where things stand. A parser crate with positions would judge the
//! text once more, by its own rules, and costs several times what all the rest of reading does.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Number, Value, json};

use super::Spans;
use crate::finding::Code;
use crate::found::{At, Found};
use crate::limits::{FLOW_FILE_BYTES, JSON_DEPTH};
use crate::pointer::Path;

/// A value and the byte offset at which it begins.
#[derive(Debug)]
pub(super) struct Located<'t> {
    pub(super) at: usize,
    pub(super) value: Tree<'t>,
}

/// A JSON value whose parts know where they stand.
#[derive(Debug)]
pub(super) enum Tree<'t> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'t, str>),
    List(Vec<Located<'t>>),
    Object(Vec<Member<'t>>),
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member<'t> {
    pub(super) key: Cow<'t, str>,
    pub(super) value: Located<'t>,
}

impl Located<'_> {
    /// The plain value; of a doubled key the first.
    pub(super) fn to_value(&self) -> Value {
        match &self.value {
            Tree::Null => Value::Null,
            Tree::Bool(value) => Value::Bool(*value),
            Tree::Number(number) => Value::Number(number.clone()),
            Tree::Text(text) => Value::String(text.as_ref().to_owned()),
            Tree::List(elements) => Value::Array(elements.iter().map(Located::to_value).collect()),
            Tree::Object(members) => Value::Object(to_map(members)),
        }
    }

    /// What kind of value it is, for a message.
    pub(super) fn kind(&self) -> &'static str {
        match &self.value {
            Tree::Null => "null",
            Tree::Bool(_) => "true or false",
            Tree::Number(_) => "a number",
            Tree::Text(_) => "a text",
            Tree::List(_) => "a list",
            Tree::Object(_) => "an object",
        }
    }
}

/// The members as a plain map, in their order.
pub(super) fn to_map(members: &[Member]) -> Map<String, Value> {
    let mut map = Map::new();
    for member in members {
        map.entry(member.key.as_ref()).or_insert_with(|| member.value.to_value());
    }
    map
}

/// Reads the whole text. A tree comes back whenever there is one, also beside findings.
pub(super) fn parse(bytes: &[u8]) -> (Option<Located<'_>>, Vec<Found>, Spans) {
    let text = match decode(bytes) {
        Ok(text) => text,
        Err(found) => return (None, vec![found], Spans::of(readable_start(bytes))),
    };
    let spans = Spans::of(text);
    if let Err(found) = check_syntax(text, &spans) {
        return (None, vec![found], spans);
    }
    let mut reader = Reader { text, at: 0, found: Vec::new(), depth: 0, refused: None, spans };
    let tree = reader.value(&Path::ROOT);
    match reader.refused {
        None => (Some(tree), reader.found, reader.spans),
        Some(refused) => (None, vec![refused], reader.spans),
    }
}

fn unreadable(reason: &str, detail: &str, at: usize) -> Found {
    Found::new(Code::UnreadableFile, &Path::ROOT, json!({ "reason": reason, "detail": detail })).at(At::Byte(at))
}

fn decode(bytes: &[u8]) -> Result<&str, Found> {
    if bytes.len() > FLOW_FILE_BYTES {
        let detail = format!("{} bytes, and at most {FLOW_FILE_BYTES} are read", bytes.len());
        return Err(unreadable("too_large", &detail, 0));
    }
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        return Err(unreadable("byte_order_mark", "", 0));
    }
    std::str::from_utf8(bytes).map_err(|error| unreadable("encoding", "", error.valid_up_to()))
}

/// As much of the bytes, from the first, as is text: what positions are counted in when the rest is not.
fn readable_start(bytes: &[u8]) -> &str {
    let head = &bytes[..bytes.len().min(FLOW_FILE_BYTES)];
    match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// The judgement of `serde_json` on the grammar, for which no nesting is too deep; of a text that is no JSON and too
/// deep, depth is told. Numbers are left to this reader, which names each that cannot be kept with its path.
fn check_syntax(text: &str, spans: &Spans) -> Result<(), Found> {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(too_deep(text).map_or_else(
            || {
                let line_start = spans.line_start(error.line());
                refusal(&error, (line_start + error.column().saturating_sub(1)).min(text.len()))
            },
            too_deep_at,
        )),
    }
}

fn too_deep_at(at: usize) -> Found {
    let detail = format!("lists and objects stand in one another more than {JSON_DEPTH} deep");
    unreadable("too_deep", &detail, at)
}

/// What `serde_json` has against the text at this byte.
fn refusal(error: &serde_json::Error, at: usize) -> Found {
    let said = error.to_string();
    unreadable("syntax", said.split(" at line ").next().unwrap_or(&said), at)
}

/// The byte at which nesting passes the limit. Counts brackets outside strings; whether they match is not its affair.
fn too_deep(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => in_string = false,
            (false, b'"') => in_string = true,
            (false, b'{' | b'[') => {
                depth += 1;
                if depth > JSON_DEPTH {
                    return Some(at);
                }
            }
            (false, b'}' | b']') => depth = depth.saturating_sub(1),
            (true | false, _) => {}
        }
    }
    None
}

/// Members up to which a doubled key is looked for among those before it.
const FEW: usize = 16;

/// Walks a text whose grammar has been judged. Where the judgement would be wrong, it ends early; it never panics.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    found: Vec<Found>,
    /// Lists and objects that are open.
    depth: usize,
    /// What makes the text no JSON after all: an escape that names no character, or too much depth.
    refused: Option<Found>,
    spans: Spans,
}

impl<'t> Reader<'t> {
    /// The next byte that is no white space, which stays; 0 at the end.
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    fn value(&mut self, path: &Path<'_>) -> Located<'t> {
        let opening = self.peek();
        let at = self.at;
        let entry = self.spans.enter(at);
        let value = match opening {
            b'{' | b'[' if self.depth == JSON_DEPTH => self.give_up(at),
            b'{' => Tree::Object(self.members(path)),
            b'[' => Tree::List(self.elements(path)),
            b'"' => Tree::Text(self.string()),
            b'n' => self.word(Tree::Null),
            b't' => self.word(Tree::Bool(true)),
            b'f' => self.word(Tree::Bool(false)),
            _ => Tree::Number(self.number(path)),
        };
        self.spans.leave(entry);
        Located { at, value }
    }

    /// Ends the walk at nesting that is too deep.
    fn give_up(&mut self, at: usize) -> Tree<'t> {
        self.refused.get_or_insert_with(|| too_deep_at(at));
        self.at = self.text.len();
        Tree::Null
    }

    fn word(&mut self, value: Tree<'t>) -> Tree<'t> {
        self.take_while(|byte| byte.is_ascii_lowercase());
        value
    }

    fn elements(&mut self, path: &Path<'_>) -> Vec<Located<'t>> {
        let mut elements = Vec::new();
        self.depth += 1;
        self.at += 1;
        loop {
            match self.peek() {
                b']' | 0 => break,
                b',' => self.at += 1,
                _ => {
                    let element = self.value(&path.index(elements.len()));
                    elements.push(element);
                }
            }
        }
        self.at += 1;
        self.depth -= 1;
        elements
    }

    fn members(&mut self, path: &Path<'_>) -> Vec<Member<'t>> {
        let mut members: Vec<Member<'t>> = Vec::new();
        let mut many: HashSet<Cow<'t, str>> = HashSet::new();
        self.depth += 1;
        self.at += 1;
        loop {
            match self.peek() {
                b'}' | 0 => break,
                b',' => self.at += 1,
                _ => {
                    let member = self.member(path, |key| {
                        if members.len() < FEW {
                            return members.iter().any(|member| member.key == *key);
                        }
                        if many.is_empty() {
                            many.extend(members.iter().map(|member| member.key.clone()));
                        }
                        !many.insert(key.clone())
                    });
                    members.push(member);
                }
            }
        }
        self.at += 1;
        self.depth -= 1;
        members
    }

    fn member(&mut self, path: &Path<'_>, is_double: impl FnOnce(&Cow<'t, str>) -> bool) -> Member<'t> {
        let key_at = self.at;
        let key = self.string();
        let key_end = self.at;
        let here = path.key(&key);
        if is_double(&key) {
            let params = json!({ "path": here.to_path(), "key": key });
            self.found.push(Found::new(Code::DuplicateKey, &here, params).at(At::Byte(key_at)));
        }
        if self.peek() == b':' {
            self.at += 1;
        }
        self.spans.name_next(key_at..key_end);
        let value = self.value(&here);
        Member { key, value }
    }

    /// The string that begins here, its quotes left out. Most hold no escape and are taken from the text as they are.
    fn string(&mut self) -> Cow<'t, str> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        let mut is_plain = true;
        loop {
            match bytes.get(end) {
                Some(b'\\') => {
                    is_plain = false;
                    end += 2;
                }
                Some(b'"') | None => break,
                Some(_) => end += 1,
            }
        }
        self.at = end + 1;
        if is_plain {
            return Cow::Borrowed(self.text.get(start + 1..end).unwrap_or_default());
        }
        match serde_json::from_str(self.text.get(start..=end).unwrap_or_default()) {
            Ok(text) => Cow::Owned(text),
            Err(error) => {
                let at = start + error.column().saturating_sub(1);
                self.refused.get_or_insert_with(|| refusal(&error, at));
                Cow::Borrowed("")
            }
        }
    }

    /// Kept by value. What neither an integer of 64 bits nor a double holds is reported, never rounded.
    fn number(&mut self, path: &Path<'_>) -> Number {
        let at = self.at;
        self.take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
        if self.at == at {
            // Nothing that a JSON text has here: stepped over, so that whoever calls makes headway.
            self.at += 1;
        }
        let literal = self.text.get(at..self.at).unwrap_or_default();
        let is_integer = !literal.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
        let read = serde_json::from_str::<Number>(literal).ok();
        match read {
            Some(number) if !is_integer || !number.is_f64() || literal == "-0" => number,
            _ => {
                let params = json!({ "path": path.to_path(), "number": literal });
                self.found.push(Found::new(Code::NumberOutOfRange, path, params).at(At::Byte(at)));
                Number::from(0)
            }
        }
    }

    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|byte| !belongs(*byte)).unwrap_or(rest.len());
    }
}
