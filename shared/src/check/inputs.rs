//! The input schema: an object at its root, references within the file, patterns in linear time, defaults that fit.

use serde_json::{Value, json};

use super::ground::Ground;
use crate::finding::Code;
use crate::found::Found;
use crate::pointer::Pointer;
use crate::schema::{check_schema, validate};

pub(super) fn inputs(ground: &Ground<'_>) -> Vec<Found> {
    let Some(schema) = &ground.flow.inputs else { return Vec::new() };
    let root = Pointer::root().key("inputs");
    let bad = |pointer: &Pointer, problem: &str| {
        Found::new(Code::BadInputSchema, pointer, json!({ "path": pointer.to_path(), "problem": problem }))
    };
    if schema.get("type") != Some(&Value::from("object")) {
        return vec![bad(&root, "inputs are an object, so its `type` is \"object\"")];
    }
    let problems = check_schema(schema);
    if !problems.is_empty() {
        let place = |pointer: &Pointer| pointer.steps().fold(root.clone(), |at, step| at.key(&step));
        return problems.iter().map(|it| bad(&place(&it.pointer), &it.problem)).collect();
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut found = Vec::new();
    for (name, property) in properties.into_iter().flatten() {
        if let Some(default) = property.get("default") {
            let alone =
                json!({ "allOf": [property], "$defs": schema.get("$defs"), "definitions": schema.get("definitions") });
            if let Some(fault) = validate(&alone, default, name).first() {
                let at = root.key("properties").key(name).key("default");
                found.push(bad(&at, &format!("the default is not valid itself: {}", fault.message)));
            }
        }
    }
    found
}
