//! JSON Schema as Weir uses it: one small validator that page and worker share.
//!
//! A subset of 2020-12 of our own, since the crate `jsonschema` alone would take most of the page's download budget,
//! and since arguments of a flow hold templates, whose values are not known yet: a template counts as every value it
//! could yield. Patterns are matched in linear time. A keyword of 2020-12 that is missing here is refused by name
//! where a schema enters (`check_schema`), never passed over.
//!
//! - `types`: the seven types, sets of them, and the data types of ports
//! - `shape`: whether a value is a schema this validator understands
//! - `validate`: a value against a schema, every fault with its path
//! - `explore`: what a path into a described value would yield
//! - `format`: the formats that are checked

mod explore;
mod format;
mod shape;
mod types;
mod validate;

pub use explore::{Described, Step, describe, step_into};
pub use shape::{SchemaProblem, check_schema};
pub use types::{DataType, Types};
pub use validate::{Literal, Templates, Violation, WrongType, validate, violations};

use serde_json::Value;

/// Follows `$ref` to a place of `root`, as often as it takes; a circle of references alone ends it.
pub(crate) fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut here = schema;
    for _ in 0..32 {
        match here.get("$ref").and_then(Value::as_str).and_then(|target| target_of(root, target)) {
            Some(target) => here = target,
            None => return here,
        }
    }
    here
}

/// The place a reference such as `#/$defs/day` names.
pub(crate) fn target_of<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}
