//! The closed walk: takes objects apart by their known keys, and reports what is missing, unknown or of another shape.
//!
//! A reader goes on after a finding with a stand-in value, so that one pass names everything; whoever called it drops
//! the result when anything was found that makes a file unreadable.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::tree::{Located, Member, Tree, to_map};
use crate::finding::Code;
use crate::flow::Extensions;
use crate::found::{At, Found};
use crate::nearest::nearest;
use crate::pointer::Path;

/// Collects what a walk finds.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) found: Vec<Found>,
}

/// The members of one closed object.
#[derive(Debug)]
pub(super) struct Fields<'t, 'p> {
    pub(super) pointer: &'p Path<'p>,
    members: &'t [Member<'t>],
}

impl<'t> Fields<'t, '_> {
    /// The member of this name, and where it is.
    pub(super) fn get<'f>(&'f self, key: &'f str) -> Option<(&'t Located<'t>, Path<'f>)> {
        self.members.iter().find(|member| member.key == key).map(|member| (&member.value, self.pointer.key(key)))
    }

    /// The keys that begin with `x-`, in the author's order.
    pub(super) fn extensions(&self) -> Extensions {
        let mut extensions = Map::new();
        for member in self.members.iter().filter(|member| member.key.starts_with("x-")) {
            extensions.entry(member.key.as_ref()).or_insert_with(|| member.value.to_value());
        }
        extensions
    }
}

impl Walk {
    /// Reports a value of the wrong shape.
    pub(super) fn wrong_shape(&mut self, located: &Located, pointer: &Path<'_>, expected: &str) {
        let found = match &located.value {
            // Where one of a few words is expected, the word that stands there says more than its type.
            Tree::Text(word) if expected.starts_with('"') && word.len() <= 40 => format!("\"{word}\""),
            _ => located.kind().to_owned(),
        };
        let params = json!({ "reason": "shape", "path": pointer.to_path(), "expected": expected, "found": found });
        self.found.push(Found::new(Code::UnreadableFile, pointer, params).at(At::Byte(located.at)));
    }

    /// Takes an object with these known keys apart; any other key that does not begin with `x-` is reported.
    pub(super) fn object<'t, 'p>(
        &mut self,
        located: &'t Located<'t>,
        pointer: &'p Path<'p>,
        known: &[&str],
    ) -> Option<Fields<'t, 'p>> {
        let Tree::Object(members) = &located.value else {
            self.wrong_shape(located, pointer, "an object");
            return None;
        };
        for member in members.iter().filter(|member| !member.key.starts_with("x-")) {
            if !known.contains(&member.key.as_ref()) {
                self.unknown_key(&member.key, pointer, known);
            }
        }
        Some(Fields { pointer, members })
    }

    /// The same for an object that keeps no `x-` keys: they would be dropped, so they are reported.
    pub(super) fn closed<'t, 'p>(
        &mut self,
        located: &'t Located<'t>,
        pointer: &'p Path<'p>,
        known: &[&str],
    ) -> Option<Fields<'t, 'p>> {
        let fields = self.object(located, pointer, known)?;
        for key in fields.extensions().keys() {
            self.unknown_key(key, pointer, known);
        }
        Some(fields)
    }

    fn unknown_key(&mut self, key: &str, parent: &Path<'_>, known: &[&str]) {
        let pointer = parent.key(key);
        let mut params = json!({ "path": pointer.to_path(), "key": key, "known": known });
        if let Some(near) = nearest(key, known.iter().copied()) {
            params["nearest"] = near.into();
        } else if let Some((_, home)) = super::shapes::HOMES.iter().find(|(keys, _)| keys.contains(&key)) {
            params["belongsTo"] = (*home).into();
        }
        self.found.push(Found::new(Code::UnknownKey, &pointer, params).at(At::Key));
    }

    /// The member of this name, reported when there is none.
    pub(super) fn required<'t, 'f>(
        &mut self,
        fields: &'f Fields<'t, '_>,
        key: &'f str,
        expected: &str,
    ) -> Option<(&'t Located<'t>, Path<'f>)> {
        let member = fields.get(key);
        if member.is_none() {
            let params = json!({
                "reason": "missing_key", "path": fields.pointer.key(key).to_path(), "key": key, "expected": expected,
            });
            self.found.push(Found::new(Code::UnreadableFile, fields.pointer, params));
        }
        member
    }

    /// A text that must be there.
    pub(super) fn required_text(&mut self, fields: &Fields<'_, '_>, key: &str) -> String {
        match self.required(fields, key, TEXT) {
            Some(_) => self.text(fields, key).unwrap_or_default(),
            None => String::new(),
        }
    }

    /// A text that may be there.
    pub(super) fn text(&mut self, fields: &Fields<'_, '_>, key: &str) -> Option<String> {
        self.optional(fields, key, TEXT, |located| match &located.value {
            Tree::Text(text) => Some(text.as_ref().to_owned()),
            _ => None,
        })
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, fields: &Fields<'_, '_>, key: &str) -> Option<bool> {
        self.optional(fields, key, "true or false", |located| match located.value {
            Tree::Bool(flag) => Some(flag),
            _ => None,
        })
    }

    /// A whole number from 0; a double without a fraction counts as one.
    pub(super) fn count(&mut self, fields: &Fields<'_, '_>, key: &str) -> Option<u64> {
        self.optional(fields, key, COUNT, as_count)
    }

    /// A canvas coordinate: any number, kept as the nearest integer, since the file holds integers only.
    pub(super) fn coordinate(&mut self, fields: &Fields<'_, '_>, key: &str) -> Option<i64> {
        self.optional(fields, key, "a number", as_coordinate)
    }

    /// A canvas coordinate that must be there.
    pub(super) fn required_coordinate(&mut self, fields: &Fields<'_, '_>, key: &str) -> i64 {
        match self.required(fields, key, "a number") {
            Some(_) => self.coordinate(fields, key).unwrap_or_default(),
            None => 0,
        }
    }

    /// One of a closed set of words.
    pub(super) fn word<T: DeserializeOwned>(
        &mut self,
        fields: &Fields<'_, '_>,
        key: &str,
        words: &[&str],
    ) -> Option<T> {
        let (located, pointer) = fields.get(key)?;
        let word = match &located.value {
            Tree::Text(text) => serde_json::from_value(Value::String(text.as_ref().to_owned())).ok(),
            _ => None,
        };
        if word.is_none() {
            self.wrong_shape(located, &pointer, &one_of(words));
        }
        word
    }

    /// A free object.
    pub(super) fn map(&mut self, fields: &Fields<'_, '_>, key: &str) -> Option<Map<String, Value>> {
        self.optional(fields, key, "an object", |located| match &located.value {
            Tree::Object(members) => Some(to_map(members)),
            _ => None,
        })
    }

    /// A list whose elements `read` takes, one after the other.
    pub(super) fn list<'t, T>(
        &mut self,
        member: Option<(&'t Located<'t>, Path<'_>)>,
        mut read: impl FnMut(&mut Self, &'t Located<'t>, &Path<'_>) -> T,
    ) -> Option<Vec<T>> {
        let (located, pointer) = member?;
        let Tree::List(elements) = &located.value else {
            self.wrong_shape(located, &pointer, "a list");
            return None;
        };
        Some(elements.iter().enumerate().map(|(at, element)| read(self, element, &pointer.index(at))).collect())
    }

    /// A member that `read` takes, or reports as not what was `expected`.
    pub(super) fn optional<T>(
        &mut self,
        fields: &Fields<'_, '_>,
        key: &str,
        expected: &str,
        read: impl FnOnce(&Located) -> Option<T>,
    ) -> Option<T> {
        let (located, pointer) = fields.get(key)?;
        let value = read(located);
        if value.is_none() {
            self.wrong_shape(located, &pointer, expected);
        }
        value
    }
}

const TEXT: &str = "a text";
const COUNT: &str = "a whole number from 0";

/// `"a", "b" or "c"`.
fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// A whole number from 0 that a double would hold exactly, too.
pub(super) fn as_count(located: &Located) -> Option<u64> {
    let Tree::Number(number) = &located.value else { return None };
    number.as_u64().or_else(|| number.as_f64().filter(|value| value.fract() == 0.0).and_then(exact))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounded to the exact integers of a double"
)]
fn exact(value: f64) -> Option<u64> {
    (0.0..=9_007_199_254_740_992.0).contains(&value).then_some(value as u64)
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for, and the cast saturates")]
fn as_coordinate(located: &Located) -> Option<i64> {
    let Tree::Number(number) = &located.value else { return None };
    number.as_i64().or_else(|| number.as_f64().map(|value| value.round() as i64))
}
