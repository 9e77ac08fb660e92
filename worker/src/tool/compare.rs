//! How the control tools compare values.
//!
//! Both sides are numbers when both are numbers or texts that hold a JSON number (what a command prints is a text,
//! often with a line end); else they are compared as text, or as values when one is a list or an object.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Whether the two are the same in this sense.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    if let (Some(left), Some(right)) = (number(left), number(right)) {
        return compare(&left, &right).is_eq();
    }
    match (text(left), text(right)) {
        (Ok(left), Ok(right)) => left == right,
        _ => left == right,
    }
}

/// Which is greater. An error when one is a list or an object.
pub(super) fn order(left: &Value, right: &Value) -> Result<Ordering, String> {
    match (number(left), number(right)) {
        (Some(left), Some(right)) => Ok(compare(&left, &right)),
        _ => Ok(text(left)?.cmp(&text(right)?)),
    }
}

/// The number that a value is, or that its text holds.
fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn compare(left: &Number, right: &Number) -> Ordering {
    // Whole numbers are exact, however large.
    if let (Some(left), Some(right)) = (left.as_i128(), right.as_i128()) {
        return left.cmp(&right);
    }
    let (left, right) = (left.as_f64().unwrap_or(f64::NAN), right.as_f64().unwrap_or(f64::NAN));
    left.partial_cmp(&right).unwrap_or(Ordering::Equal)
}

/// A value as text; null is the empty one.
pub(super) fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::Null => Ok(String::new()),
        Value::Bool(truth) => Ok(truth.to_string()),
        Value::Number(number) => Ok(number.to_string()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(_) => Err("a list cannot be compared in this way".to_owned()),
        Value::Object(_) => Err("an object cannot be compared in this way".to_owned()),
    }
}
