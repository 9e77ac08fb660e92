//! Values against schemas, and schemas that cannot be used.

use serde_json::{Value, json};
use weir_shared::reference::{Syntax, references_in_flow};
use weir_shared::schema::{DataType, Described, Types, check_schema, describe, validate};

/// `path code` of each fault.
fn faults(schema: &Value, value: &Value) -> Vec<String> {
    validate(schema, value, "v").iter().map(|fault| format!("{} {}", fault.path, fault.code)).collect()
}

#[test]
fn each_keyword_takes_what_it_allows_and_names_what_it_does_not() {
    for (schema, good, bad, fault) in [
        (json!({ "type": "integer" }), json!(2.0), json!(2.5), "v type"),
        (json!({ "type": ["string", "null"] }), json!(null), json!(false), "v type"),
        (json!({ "type": "number" }), json!(1), json!("1"), "v type"),
        (json!({ "enum": [1, "a"] }), json!(1.0), json!("b"), "v enum"),
        (json!({ "const": { "a": 1, "b": 2 } }), json!({ "b": 2, "a": 1 }), json!({ "a": 1 }), "v const"),
        (json!({ "minLength": 2 }), json!("äö"), json!("ä"), "v minLength"),
        (json!({ "maxLength": 2 }), json!("äö"), json!("äöü"), "v maxLength"),
        (json!({ "pattern": "^a+$" }), json!("aa"), json!("ab"), "v pattern"),
        (json!({ "format": "date" }), json!("2026-02-28"), json!("2026-02-30"), "v format"),
        (json!({ "format": "time" }), json!("07:30:00Z"), json!("7:30"), "v format"),
        (json!({ "format": "date-time" }), json!("2026-11-30T07:30:00+01:00"), json!("2026-11-30"), "v format"),
        (json!({ "format": "weir-file" }), json!("any text"), json!(["not"]), ""),
        (json!({ "minimum": 1 }), json!(1), json!(0.5), "v minimum"),
        (json!({ "exclusiveMaximum": 1 }), json!(0.9), json!(1), "v exclusiveMaximum"),
        (json!({ "multipleOf": 0.1 }), json!(0.3), json!(0.35), "v multipleOf"),
        (json!({ "items": { "type": "string" } }), json!(["a"]), json!(["a", 1]), "v[1] type"),
        (
            json!({ "prefixItems": [true, { "const": 2 }], "items": false }),
            json!([1, 2]),
            json!([1, 2, 3]),
            "v[2] false",
        ),
        (json!({ "uniqueItems": true }), json!([1, 2]), json!([1, 2, 1.0]), "v[2] uniqueItems"),
        (json!({ "contains": { "const": 1 }, "maxContains": 1 }), json!([0, 1]), json!([1, 1]), "v contains"),
        (json!({ "required": ["a"] }), json!({ "a": null }), json!({}), "v.a required"),
        (json!({ "dependentRequired": { "a": ["b"] } }), json!({ "b": 1 }), json!({ "a": 1 }), "v.b required"),
        (json!({ "propertyNames": { "maxLength": 1 } }), json!({ "a": 1 }), json!({ "ab": 1 }), "v.ab propertyNames"),
        (
            json!({ "patternProperties": { "^x-": { "type": "string" } }, "additionalProperties": false }),
            json!({ "x-a": "1" }),
            json!({ "y": 1 }),
            "v.y undeclared",
        ),
        (json!({ "additionalProperties": { "type": "string" } }), json!({ "a": "1" }), json!({ "a": 1 }), "v.a type"),
        (json!({ "anyOf": [{ "type": "string" }, { "minimum": 5 }] }), json!(5), json!(4), "v anyOf"),
        (json!({ "oneOf": [{ "minimum": 1 }, { "maximum": 3 }] }), json!(0), json!(2), "v oneOf"),
        (json!({ "not": { "type": "string" } }), json!(1), json!("a"), "v not"),
        (json!({ "if": { "const": 1 }, "then": true, "else": { "type": "string" } }), json!(1), json!(2), "v type"),
        (
            json!({ "$defs": { "list": { "items": { "$ref": "#/$defs/list" }, "type": "array" } }, "$ref": "#/$defs/list" }),
            json!([[[]]]),
            json!([[1]]),
            "v[0][0] type",
        ),
    ] {
        assert_eq!(check_schema(&schema), [], "{schema}");
        assert_eq!(faults(&schema, &good), Vec::<String>::new(), "{schema}: {good}");
        let expected: Vec<String> = Some(fault.to_owned()).filter(|it| !it.is_empty()).into_iter().collect();
        assert_eq!(faults(&schema, &bad), expected, "{schema}: {bad}");
    }
}

#[test]
fn a_schema_that_cannot_be_used_says_where_and_why() {
    for (schema, place) in [
        (json!({ "properties": { "a": { "type": "text" } } }), "/properties/a/type"),
        (json!({ "items": [1] }), "/items"),
        (json!({ "pattern": "(a)\\1" }), "/pattern"),
        (json!({ "$ref": "https://example.org/schema" }), "/$ref"),
        (json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } }), "/$ref"),
        (json!({ "unevaluatedProperties": false }), "/unevaluatedProperties"),
        (json!({ "minLength": -1 }), "/minLength"),
        (json!({ "required": "a" }), "/required"),
        (json!({ "minItems": 3, "maxItems": 2 }), ""),
    ] {
        let problems = check_schema(&schema);
        assert_eq!(problems.first().map(|it| it.pointer.as_str()), Some(place), "{schema}: {problems:?}");
    }
    assert_eq!(check_schema(&json!({ "x-weir-auto": 1, "examples": [1], "words": "of one's own" })), []);
}

#[test]
fn a_schema_that_turns_in_a_circle_ends() {
    let schema = json!({ "allOf": [{ "$ref": "#" }] });
    assert_eq!(faults(&schema, &json!(1)), ["v $ref"]);
}

#[test]
fn a_path_into_a_described_value_yields_what_is_declared() {
    let schema = json!({
        "type": "object",
        "properties": {
            "rows": { "type": "array", "items": { "$ref": "#/$defs/row" } },
            "free": {},
            "open": { "type": "object", "properties": { "a": {} }, "additionalProperties": true },
        },
        "$defs": { "row": { "type": "object", "properties": { "n": { "type": "integer" } } } },
    });
    for (path, expected) in [
        ("rows[0].n", Described::As(Types::INTEGER)),
        ("rows", Described::As(Types::ARRAY)),
        ("free.any.thing", Described::As(Types::ANY)),
        ("open.b", Described::As(Types::ANY)),
        ("rows[0].m", Described::Undeclared { depth: 2, known: vec!["n".to_owned()] }),
        ("rows.n", Described::Undeclared { depth: 1, known: Vec::new() }),
        ("rows[0].n.x", Described::Undeclared { depth: 3, known: Vec::new() }),
    ] {
        let text = format!("{{{{inputs.{path}}}}}");
        let (_, reference) = references_in_flow(&text, Syntax::Text).remove(0);
        assert_eq!(describe(&schema, &reference.path), expected, "{path}");
    }
}

#[test]
fn data_types_fit_where_a_value_could() {
    assert_eq!(DataType::of_schema(&json!({ "type": ["integer", "null"] })), DataType::Number);
    assert_eq!(DataType::of_schema(&json!({ "type": "string", "format": "weir-file" })), DataType::File);
    assert_eq!(DataType::of_schema(&json!({ "type": ["string", "number"] })), DataType::Any);
    assert!(DataType::File.fits(DataType::String) && DataType::Any.fits(DataType::Number));
    assert!(!DataType::String.fits(DataType::Number) && !DataType::Array.fits(DataType::Object));
}
