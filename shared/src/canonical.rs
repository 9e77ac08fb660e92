//! The one way a flow is printed, made for reading in `git diff`.
//!
//! Guarantees: printing what was read from canonical text gives the same bytes; moving a node changes one line. Two
//! spaces, LF, a final newline; keys in the order of the format, `x-` keys after them; each edge, note and place, and
//! `retry`, `stop` and `concurrency`, on one line; `args`, `inputs` and `pins` in the author's order; places sorted by
//! id, those of absent nodes left out.

use std::borrow::Cow;
use std::fmt::Write;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::flow::{Flow, Node, START};

/// The flow's canonical text.
pub fn print(flow: &Flow) -> String {
    let mut out = String::new();
    object(&mut out, 0, flow_entries(flow));
    out.push('\n');
    out
}

/// How a member's value is laid out.
enum Layout<'f> {
    /// A text, as most values are: printed from where it stands.
    Text(&'f str),
    /// Every key and element on a line of its own.
    Tall(Cow<'f, Value>),
    /// The same for the members of an object.
    TallMembers(&'f Map<String, Value>),
    /// All of it on one line.
    Flat(Value),
    /// Elements one a line, each of them flat.
    FlatElements(Vec<Value>),
    /// Members one a line, each of them flat.
    FlatMembers(Vec<(&'f str, Value)>),
    /// Elements that are laid out themselves.
    Objects(Vec<Vec<Entry<'f>>>),
}

type Entry<'f> = (&'f str, Layout<'f>);

/// Collects the members an object has, in order.
#[derive(Default)]
struct Entries<'f>(Vec<Entry<'f>>);

impl<'f> Entries<'f> {
    fn put(&mut self, key: &'f str, layout: Layout<'f>) {
        self.0.push((key, layout));
    }

    fn text(&mut self, key: &'f str, text: Option<&'f String>) {
        if let Some(text) = text {
            self.put(key, Layout::Text(text));
        }
    }

    fn tall<T: Serialize>(&mut self, key: &'f str, value: Option<&T>) {
        if let Some(value) = value {
            self.put(key, Layout::Tall(Cow::Owned(as_value(value))));
        }
    }

    fn flat<T: Serialize>(&mut self, key: &'f str, value: Option<&T>) {
        if let Some(value) = value {
            self.put(key, Layout::Flat(as_value(value)));
        }
    }

    fn extensions(mut self, extensions: &'f Map<String, Value>) -> Vec<Entry<'f>> {
        for (key, value) in extensions {
            self.put(key, Layout::Tall(Cow::Borrowed(value)));
        }
        self.0
    }
}

/// The value a type of the flow serialises to. These types hold only text keys and finite numbers, so it cannot fail.
fn as_value<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn flow_entries(flow: &Flow) -> Vec<Entry<'_>> {
    let mut entries = Entries::default();
    entries.text("$schema", flow.schema.as_ref());
    entries.tall("format", Some(&flow.format));
    entries.text("name", Some(&flow.name));
    entries.text("description", flow.description.as_ref());
    entries.text("goal", flow.goal.as_ref());
    if let Some(inputs) = &flow.inputs {
        entries.put("inputs", Layout::Tall(Cow::Borrowed(inputs)));
    }
    entries.tall("onFailure", flow.on_failure.as_ref());
    entries.flat("concurrency", flow.concurrency.as_ref());
    entries.tall("schedules", flow.schedules.as_ref());
    entries.put("nodes", Layout::Objects(flow.nodes.iter().map(node_entries).collect()));
    entries.put("edges", Layout::FlatElements(flow.edges.iter().map(as_value).collect()));
    if !flow.notes.is_empty() {
        entries.put("notes", Layout::FlatElements(flow.notes.iter().map(as_value).collect()));
    }
    if !flow.pins.is_empty() {
        entries.put("pins", Layout::TallMembers(&flow.pins));
    }
    let places: Vec<(&str, Value)> = flow
        .layout
        .iter()
        .filter(|(id, _)| id.as_str() == START || flow.node(id).is_some())
        .map(|(id, place)| (id.as_str(), as_value(place)))
        .collect();
    if !places.is_empty() {
        entries.put("layout", Layout::FlatMembers(places));
    }
    entries.extensions(&flow.extensions)
}

fn node_entries(node: &Node) -> Vec<Entry<'_>> {
    let mut entries = Entries::default();
    entries.text("id", Some(&node.id));
    entries.text("tool", Some(&node.tool));
    entries.text("title", node.title.as_ref());
    entries.text("description", node.description.as_ref());
    entries.tall("disabled", node.disabled.as_ref());
    entries.tall("approval", node.approval.as_ref());
    entries.tall("idempotent", node.idempotent.as_ref());
    entries.flat("retry", node.retry.as_ref());
    entries.tall("timeoutSeconds", node.timeout_seconds.as_ref());
    entries.flat("stop", node.stop.as_ref());
    if let Some(args) = &node.args {
        entries.put("args", Layout::TallMembers(args));
    }
    entries.extensions(&node.extensions)
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Writes `open`, each item on a line of its own, and `close`; an empty one without a break.
fn block<T>(
    out: &mut String,
    depth: usize,
    brackets: (char, char),
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    out.push(brackets.0);
    let mut is_empty = true;
    for item in items {
        if !is_empty {
            out.push(',');
        }
        is_empty = false;
        line(out, depth + 1);
        write(out, item);
    }
    if !is_empty {
        line(out, depth);
    }
    out.push(brackets.1);
}

const BRACES: (char, char) = ('{', '}');
const SQUARE: (char, char) = ('[', ']');

fn object(out: &mut String, depth: usize, entries: Vec<Entry<'_>>) {
    block(out, depth, BRACES, entries, |out, (key, layout)| {
        member_key(out, key);
        match layout {
            Layout::Text(value) => text(out, value),
            Layout::Tall(value) => tall(out, depth + 1, &value),
            Layout::TallMembers(members) => tall_members(out, depth + 1, members),
            Layout::Flat(value) => flat(out, &value),
            Layout::FlatElements(values) => block(out, depth + 1, SQUARE, values, |out, value| flat(out, &value)),
            Layout::FlatMembers(members) => block(out, depth + 1, BRACES, members, |out, (key, value)| {
                member_key(out, key);
                flat(out, &value);
            }),
            Layout::Objects(objects) => {
                block(out, depth + 1, SQUARE, objects, |out, entries| object(out, depth + 2, entries));
            }
        }
    });
}

fn member_key(out: &mut String, key: &str) {
    text(out, key);
    out.push_str(": ");
}

/// Escaped as `serde_json` does it; what needs no escape, as nearly every text, is copied.
fn text(out: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}

/// Numbers as `serde_json` prints them.
fn scalar(out: &mut String, value: &Value) {
    match value {
        Value::String(value) => text(out, value),
        other => {
            // Writing to a text cannot fail.
            let _ = write!(out, "{other}");
        }
    }
}

fn tall_members(out: &mut String, depth: usize, members: &Map<String, Value>) {
    block(out, depth, BRACES, members, |out, (key, value)| {
        member_key(out, key);
        tall(out, depth + 1, value);
    });
}

fn tall(out: &mut String, depth: usize, value: &Value) {
    match value {
        Value::Array(elements) => {
            block(out, depth, SQUARE, elements, |out, element| tall(out, depth + 1, element));
        }
        Value::Object(members) => tall_members(out, depth, members),
        _ => scalar(out, value),
    }
}

fn flat(out: &mut String, value: &Value) {
    match value {
        Value::Array(elements) if !elements.is_empty() => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at == 0 { " " } else { ", " });
                flat(out, element);
            }
            out.push_str(" ]");
        }
        Value::Object(members) if !members.is_empty() => {
            out.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                out.push_str(if at == 0 { " " } else { ", " });
                member_key(out, key);
                flat(out, value);
            }
            out.push_str(" }");
        }
        _ => scalar(out, value),
    }
}
