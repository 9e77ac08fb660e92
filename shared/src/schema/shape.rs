//! Whether a value is a schema that the validator understands, keyword by keyword.

use serde_json::{Map, Value};

use super::types::Types;
use super::{resolve, target_of};
use crate::pointer::Pointer;

/// What is wrong with a schema, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaProblem {
    pub pointer: Pointer,
    pub problem: String,
}

/// Keywords of 2020-12 that change what is valid and are not implemented.
const UNSUPPORTED: [&str; 6] =
    ["unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$dynamicAnchor", "$anchor", "$recursiveRef"];

/// Everything about this schema that keeps it from being used; empty when it can be.
pub fn check_schema(schema: &Value) -> Vec<SchemaProblem> {
    let mut check = Check { root: schema, problems: Vec::new() };
    check.schema(schema, &Pointer::root());
    check.problems
}

struct Check<'s> {
    root: &'s Value,
    problems: Vec<SchemaProblem>,
}

impl Check<'_> {
    fn problem(&mut self, pointer: &Pointer, problem: impl Into<String>) {
        self.problems.push(SchemaProblem { pointer: pointer.clone(), problem: problem.into() });
    }

    fn schema(&mut self, schema: &Value, pointer: &Pointer) {
        match schema {
            Value::Bool(_) => {}
            Value::Object(keywords) => {
                for (keyword, value) in keywords {
                    self.keyword(keyword, value, &pointer.key(keyword));
                }
                self.bounds(keywords, pointer);
            }
            _ => self.problem(pointer, "a schema is an object, true or false"),
        }
    }

    fn keyword(&mut self, keyword: &str, value: &Value, at: &Pointer) {
        match keyword {
            "type" => {
                if Types::of_keyword(value).is_none_or(Types::is_none) {
                    self.problem(
                        at,
                        "a type is one of null, boolean, integer, number, string, array, object, or a list of them",
                    );
                }
            }
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                self.schemas_by_name(keyword, value, at);
            }
            "additionalProperties" | "propertyNames" | "items" | "contains" | "not" | "if" | "then" | "else" => {
                self.schema(value, at);
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => match value.as_array().filter(|list| !list.is_empty()) {
                Some(schemas) => {
                    for (i, schema) in schemas.iter().enumerate() {
                        self.schema(schema, &at.index(i));
                    }
                }
                None => self.problem(at, format!("`{keyword}` is a list of at least one schema")),
            },
            "required" => {
                if !is_list_of_names(value) {
                    self.problem(at, "`required` is a list of names");
                }
            }
            "dependentRequired" => {
                if !value.as_object().is_some_and(|lists| lists.values().all(is_list_of_names)) {
                    self.problem(at, "`dependentRequired` holds lists of names");
                }
            }
            "enum" => {
                if value.as_array().is_none_or(Vec::is_empty) {
                    self.problem(at, "`enum` is a list of at least one value");
                }
            }
            "pattern" => match value.as_str() {
                Some(pattern) => self.pattern(pattern, at),
                None => self.problem(at, "a pattern is a text"),
            },
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
            | "maxContains" => {
                if value.as_u64().is_none() {
                    self.problem(at, format!("`{keyword}` is a whole number from 0"));
                }
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                if !value.is_number() {
                    self.problem(at, format!("`{keyword}` is a number"));
                }
            }
            "multipleOf" => {
                if value.as_f64().is_none_or(|step| step <= 0.0) {
                    self.problem(at, "`multipleOf` is a number above 0");
                }
            }
            "uniqueItems" => {
                if !value.is_boolean() {
                    self.problem(at, "`uniqueItems` is true or false");
                }
            }
            "format" | "title" | "description" => {
                if !value.is_string() {
                    self.problem(at, format!("`{keyword}` is a text"));
                }
            }
            "$ref" => self.reference(value, at),
            unsupported if UNSUPPORTED.contains(&unsupported) => {
                self.problem(at, format!("`{keyword}` is not supported"));
            }
            // Annotations, `x-` keys, and words of the author's own, which the standard lets pass.
            _ => {}
        }
    }

    fn schemas_by_name(&mut self, keyword: &str, value: &Value, at: &Pointer) {
        let Some(schemas) = value.as_object() else {
            self.problem(at, format!("`{keyword}` is an object of schemas"));
            return;
        };
        for (name, schema) in schemas {
            if keyword == "patternProperties" {
                self.pattern(name, &at.key(name));
            }
            self.schema(schema, &at.key(name));
        }
    }

    fn pattern(&mut self, pattern: &str, at: &Pointer) {
        if let Err(error) = regex_lite::Regex::new(pattern) {
            self.problem(at, format!("this pattern cannot be matched in linear time, or is none: {error}"));
        }
    }

    fn reference(&mut self, value: &Value, at: &Pointer) {
        let Some(target) = value.as_str() else {
            self.problem(at, "a reference is a text");
            return;
        };
        if !(target == "#" || target.starts_with("#/")) {
            self.problem(at, format!("`{target}` leads out of the file: references go to #/… only"));
        } else {
            match target_of(self.root, target) {
                None => self.problem(at, format!("`{target}` leads nowhere")),
                Some(found) if resolve(self.root, found).get("$ref").is_some() => {
                    self.problem(at, format!("`{target}` leads back to itself"));
                }
                Some(_) => {}
            }
        }
    }

    /// Bounds that no value can meet.
    fn bounds(&mut self, keywords: &Map<String, Value>, pointer: &Pointer) {
        for (least, most) in [
            ("minLength", "maxLength"),
            ("minItems", "maxItems"),
            ("minProperties", "maxProperties"),
            ("minimum", "maximum"),
        ] {
            let bound = |name: &str| keywords.get(name).and_then(Value::as_f64);
            if let (Some(low), Some(high)) = (bound(least), bound(most))
                && low > high
            {
                self.problem(pointer, format!("`{least}` is above `{most}`, so no value is valid"));
            }
        }
    }
}

fn is_list_of_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
}
