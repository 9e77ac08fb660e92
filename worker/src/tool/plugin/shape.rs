//! The closed objects of `plugin.json`: every key that is none of theirs is named, with its path and the nearest one.

use serde_json::Value;
use weir_shared::nearest::nearest;
use weir_shared::pointer::Pointer;

/// What may stand somewhere, as far as keys go. Types are asked about later.
pub(super) enum Shape {
    /// Anything: a schema, an example, a plain value.
    Free,
    /// An object with these keys alone.
    Closed(&'static [(&'static str, Shape)]),
    List(&'static Shape),
    /// A shape that is written elsewhere.
    Is(&'static Shape),
}

use Shape::{Closed, Free, Is, List};

/// The whole manifest.
pub(super) static MANIFEST: Shape = Closed(&[
    ("schema", Free),
    ("id", Free),
    ("name", Free),
    ("version", Free),
    ("tools", List(&TOOL)),
    ("hooks", Free),
    ("permissions", Free),
]);

static TOOL: Shape = Closed(&[
    ("name", Free),
    ("title", Free),
    ("description", Free),
    ("effect", Free),
    ("idempotent", Closed(&[("when", Free)])),
    ("group", Free),
    ("ports", Free),
    ("inputSchema", Free),
    ("outputSchema", Free),
    ("timeoutSeconds", Free),
    ("node", Is(&NODE)),
    ("run", Is(&RUN)),
]);

static RUN: Shape = Closed(&[
    ("command", Free),
    ("input", Free),
    ("output", Free),
    ("timeoutSeconds", Free),
    ("env", Free),
    ("limits", Closed(&[("memoryMb", Free), ("processes", Free), ("fileMb", Free)])),
]);

static NODE: Shape = Closed(&[
    ("label", Free),
    ("category", Free),
    ("kind", Free),
    ("color", Free),
    ("icon", Free),
    ("help", Free),
    ("docsUrl", Free),
    ("inputs", List(&INPUT)),
    ("outputs", List(&OUTPUT)),
]);

static INPUT: Shape = Closed(&[
    ("name", Free),
    ("widget", Free),
    ("title", Free),
    ("description", Free),
    ("help", Free),
    ("placeholder", Free),
    ("examples", Free),
    ("advanced", Free),
    ("options", Free),
]);

static OUTPUT: Shape = Closed(&[
    ("name", Free),
    ("title", Free),
    ("type", Free),
    ("description", Free),
    ("examples", Free),
    ("properties", List(&OUTPUT)),
    ("items", Is(&OUTPUT)),
]);

/// A key that is none of its object's.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownKey {
    pub(super) path: String,
    pub(super) key: String,
    pub(super) nearest: Option<&'static str>,
}

impl Shape {
    /// Every unknown key of a value.
    pub(super) fn unknown_keys(&self, value: &Value) -> Vec<UnknownKey> {
        let mut unknown = Vec::new();
        self.look(value, &Pointer::root(), &mut unknown);
        unknown
    }

    fn look(&self, value: &Value, at: &Pointer, unknown: &mut Vec<UnknownKey>) {
        match (self, value) {
            (Is(shape), value) => shape.look(value, at, unknown),
            (List(shape), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    shape.look(item, &at.index(index), unknown);
                }
            }
            (Closed(keys), Value::Object(fields)) => {
                for (key, value) in fields {
                    match keys.iter().find(|(known, _)| known == key) {
                        Some((_, shape)) => shape.look(value, &at.key(key), unknown),
                        None => unknown.push(UnknownKey {
                            path: at.key(key).to_path(),
                            key: key.clone(),
                            nearest: nearest(key, keys.iter().map(|(known, _)| *known)),
                        }),
                    }
                }
            }
            // Free, or of a wrong type, which reading it says better.
            (Free | List(_) | Closed(_), _) => {}
        }
    }
}
