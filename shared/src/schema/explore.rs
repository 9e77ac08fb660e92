//! What a path into a value would yield, told from the value's schema alone.

use serde_json::Value;

use super::resolve;
use super::types::Types;
use crate::reference::Segment;

/// What is known about a place that a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Described {
    /// Values of these types; anything when nothing is declared.
    As(Types),
    /// The schema declares what is there, and this is none of it.
    Undeclared {
        /// How many steps of the path are fine.
        depth: usize,
        /// The keys that are declared instead; empty when the place has none.
        known: Vec<String>,
    },
}

/// Where a path leads in values of this schema.
pub fn describe(schema: &Value, path: &[Segment]) -> Described {
    let mut here = resolve(schema, schema);
    for (depth, segment) in path.iter().enumerate() {
        match step_into(schema, here, segment) {
            Step::Into(next) => here = next,
            Step::Anything => return Described::As(Types::ANY),
            Step::Nowhere { known } => return Described::Undeclared { depth, known },
        }
    }
    Described::As(types_of(here))
}

/// Where one step of a path leads.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<'s> {
    Into(&'s Value),
    /// Nothing is declared about it.
    Anything,
    Nowhere {
        known: Vec<String>,
    },
}

/// One step from `here`, a place of `root`.
pub fn step_into<'s>(root: &'s Value, here: &'s Value, segment: &Segment) -> Step<'s> {
    let is_combined = ["anyOf", "oneOf", "allOf", "if"].iter().any(|keyword| here.get(keyword).is_some());
    let types = types_of(here);
    let key = match segment {
        Segment::Key(key) | Segment::Number(key) => key,
    };
    if let (Segment::Number(digits), true) = (segment, types.meets(Types::ARRAY)) {
        let at: Option<usize> = digits.parse().ok();
        let prefix = here.get("prefixItems").and_then(Value::as_array);
        let element = at.and_then(|at| prefix?.get(at)).or_else(|| here.get("items"));
        return element.map_or(Step::Anything, |schema| Step::Into(resolve(root, schema)));
    }
    if !types.meets(Types::OBJECT) {
        let is_index = types.meets(Types::ARRAY);
        return if is_combined || is_index && matches!(segment, Segment::Number(_)) {
            Step::Anything
        } else {
            Step::Nowhere { known: Vec::new() }
        };
    }
    let Some(properties) = here.get("properties").and_then(Value::as_object) else { return Step::Anything };
    if let Some(schema) = properties.get(key) {
        return Step::Into(resolve(root, schema));
    }
    let says_more = match here.get("additionalProperties") {
        None | Some(Value::Bool(false)) => here.get("patternProperties").is_some(),
        Some(_) => true,
    };
    if is_combined || says_more {
        Step::Anything
    } else {
        Step::Nowhere { known: properties.keys().cloned().collect() }
    }
}

/// The types a schema leaves open.
fn types_of(schema: &Value) -> Types {
    let declared = schema.get("type").and_then(Types::of_keyword);
    let listed = schema
        .get("enum")
        .and_then(Value::as_array)
        .map(|options| options.iter().map(Types::of).fold(Types::NONE, |all, one| all | one));
    let only = schema.get("const").map(Types::of);
    declared.or(listed).or(only).unwrap_or(Types::ANY)
}
