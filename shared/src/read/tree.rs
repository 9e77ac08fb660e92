//! Bytes to a tree of JSON values that know where they stand.
//!
//! Guarantees: `serde_json` accepts the same bytes; nesting is bounded before anything recurses; a key twice in one
//! object and a number that cannot be kept are reported wherever they stand; every value has a position.

use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::{Map, Number, Value, json};

use super::Spans;
use crate::finding::Code;
use crate::found::{At, Found};
use crate::limits::{FLOW_FILE_BYTES, JSON_DEPTH};
use crate::pointer::Pointer;

/// A value and the byte offset at which it begins.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) at: usize,
    pub(super) value: Tree,
}

/// A JSON value whose parts know where they stand.
#[derive(Debug)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Located>),
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) value: Located,
}

impl Located {
    /// The plain value; of a doubled key the first.
    pub(super) fn to_value(&self) -> Value {
        match &self.value {
            Tree::Null => Value::Null,
            Tree::Bool(value) => Value::Bool(*value),
            Tree::Number(number) => Value::Number(number.clone()),
            Tree::Text(text) => Value::String(text.clone()),
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
        map.entry(member.key.clone()).or_insert_with(|| member.value.to_value());
    }
    map
}

/// Reads the whole text. A tree comes back whenever there is one, also beside findings.
pub(super) fn parse(bytes: &[u8]) -> (Option<Located>, Vec<Found>, Spans) {
    let text = match decode(bytes) {
        Ok(text) => text,
        Err(found) => return (None, vec![found], Spans::of(readable_start(bytes))),
    };
    let mut spans = Spans::of(text);
    if let Err(found) = check_syntax(text, &spans) {
        return (None, vec![found], spans);
    }
    match parse_to_ast(text, &CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false }, &STRICT) {
        Ok(parsed) => {
            let mut found = Vec::new();
            let tree = parsed
                .value
                .map(|value| Converter { found: &mut found, spans: &mut spans }.convert(value, &Pointer::root()));
            (tree, found, spans)
        }
        Err(error) => {
            let refused = unreadable("syntax", &error.kind().to_string(), error.range().start);
            (None, vec![refused], spans)
        }
    }
}

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

fn unreadable(reason: &str, detail: &str, at: usize) -> Found {
    Found::new(Code::UnreadableFile, &Pointer::root(), json!({ "reason": reason, "detail": detail })).at(At::Byte(at))
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

/// Depth first, since it protects what comes after it; then the judgement of `serde_json`.
fn check_syntax(text: &str, spans: &Spans) -> Result<(), Found> {
    if let Some(at) = too_deep(text) {
        let detail = format!("lists and objects stand in one another more than {JSON_DEPTH} deep");
        return Err(unreadable("too_deep", &detail, at));
    }
    let Some(error) = refusal(text) else {
        return Ok(());
    };
    let line_start = spans.line_start(error.line());
    let at = (line_start + error.column().saturating_sub(1)).min(text.len());
    let said = error.to_string();
    let detail = said.split(" at line ").next().unwrap_or(&said);
    Err(unreadable("syntax", detail, at))
}

/// What `serde_json` has against the text. The grammar is judged over the whole text; numbers out of range and depth
/// are left to this reader, which names each with its path.
fn refusal(text: &str) -> Option<serde_json::Error> {
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        return Some(error);
    }
    let error = serde_json::from_str::<Value>(text).err()?;
    let said = error.to_string();
    let ours = said.starts_with("number out of range") || said.starts_with("recursion limit exceeded");
    (!ours).then_some(error)
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

struct Converter<'a> {
    found: &'a mut Vec<Found>,
    spans: &'a mut Spans,
}

impl Converter<'_> {
    fn convert(&mut self, value: ast::Value<'_>, pointer: &Pointer) -> Located {
        let at = value.start();
        self.spans.record(pointer, at);
        let value = match value {
            ast::Value::NullKeyword(_) => Tree::Null,
            ast::Value::BooleanLit(literal) => Tree::Bool(literal.value),
            ast::Value::NumberLit(literal) => Tree::Number(self.number(literal.value, at, pointer)),
            ast::Value::StringLit(literal) => Tree::Text(literal.value.into_owned()),
            ast::Value::Array(array) => Tree::List(
                array.elements.into_iter().enumerate().map(|(i, it)| self.convert(it, &pointer.index(i))).collect(),
            ),
            ast::Value::Object(object) => Tree::Object(self.members(object, pointer)),
        };
        Located { at, value }
    }

    fn members(&mut self, object: ast::Object<'_>, pointer: &Pointer) -> Vec<Member> {
        let mut members: Vec<Member> = Vec::with_capacity(object.properties.len());
        let mut seen = std::collections::HashSet::new();
        for property in object.properties {
            let key_at = match &property.name {
                ObjectPropName::String(literal) => literal.range.start,
                ObjectPropName::Word(word) => word.range.start,
            };
            let key = property.name.into_string();
            let here = pointer.key(&key);
            if !seen.insert(key.clone()) {
                let params = json!({ "path": here.to_path(), "key": key });
                self.found.push(Found::new(Code::DuplicateKey, &here, params).at(At::Byte(key_at)));
            }
            self.spans.record_key(&here, key_at);
            let value = self.convert(property.value, &here);
            members.push(Member { key, value });
        }
        members
    }

    /// Kept by value. What neither an integer of 64 bits nor a double holds is reported, never rounded.
    fn number(&mut self, literal: &str, at: usize, pointer: &Pointer) -> Number {
        let is_integer = !literal.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
        let read = serde_json::from_str::<Number>(literal).ok();
        match read {
            Some(number) if !is_integer || !number.is_f64() || literal == "-0" => number,
            _ => {
                let params = json!({ "path": pointer.to_path(), "number": literal });
                self.found.push(Found::new(Code::NumberOutOfRange, pointer, params).at(At::Byte(at)));
                Number::from(0)
            }
        }
    }
}
