//! Whether a value is a schema that the validator understands, keyword by keyword.

use serde_json::{Map, Value};

use super::types::Types;
use super::{resolve, target_of};
use crate::pointer::{Path, Pointer};

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
    check.schema(schema, &Path::ROOT);
    check.problems
}

struct Check<'s> {
    root: &'s Value,
    problems: Vec<SchemaProblem>,
}

impl Check<'_> {
    fn problem(&mut self, pointer: &Path<'_>, problem: impl Into<String>) {
        self.problems.push(SchemaProblem { pointer: pointer.into(), problem: problem.into() });
    }

    fn schema(&mut self, schema: &Value, pointer: &Path<'_>) {
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

    fn keyword(&mut self, keyword: &str, value: &Value, at: &Path<'_>) {
        match keyword {
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
            "pattern" => match value.as_str() {
                Some(pattern) => self.pattern(pattern, at),
                None => self.problem(at, "a pattern is a text"),
            },
            "$ref" => self.reference(value, at),
            _ => {
                if let Some(problem) = plain_keyword_problem(keyword, value) {
                    self.problem(at, problem);
                }
            }
        }
    }

    fn schemas_by_name(&mut self, keyword: &str, value: &Value, at: &Path<'_>) {
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

    fn pattern(&mut self, pattern: &str, at: &Path<'_>) {
        if let Err(error) = regex_lite::Regex::new(pattern) {
            self.problem(at, format!("this pattern cannot be matched in linear time, or is none: {error}"));
        }
    }

    fn reference(&mut self, value: &Value, at: &Path<'_>) {
        let Some(target) = value.as_str() else {
            self.problem(at, "a reference is a text");
            return;
        };
        if target != "#" && !target.starts_with("#/") {
            self.problem(at, format!("`{target}` leads out of the file: references go to #/… only"));
            return;
        }
        match target_of(self.root, target) {
            None => self.problem(at, format!("`{target}` leads nowhere")),
            Some(found) if resolve(self.root, found).get("$ref").is_some() => {
                self.problem(at, format!("`{target}` leads back to itself"));
            }
            Some(_) => {}
        }
    }

    /// Bounds that no value can meet.
    fn bounds(&mut self, keywords: &Map<String, Value>, pointer: &Path<'_>) {
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

/// What is wrong with a keyword that holds no schema.
fn plain_keyword_problem(keyword: &str, value: &Value) -> Option<String> {
    let (is_right, rule) = match keyword {
        "type" => (
            Types::of_keyword(value).is_some_and(|types| !types.is_none()),
            "is one of null, boolean, integer, number, string, array, object, or a list of them",
        ),
        "required" => (is_list_of_names(value), "is a list of names"),
        "dependentRequired" => {
            (value.as_object().is_some_and(|lists| lists.values().all(is_list_of_names)), "holds lists of names")
        }
        "enum" => (value.as_array().is_some_and(|options| !options.is_empty()), "is a list of at least one value"),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
        | "maxContains" => (value.as_u64().is_some(), "is a whole number from 0"),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => (value.is_number(), "is a number"),
        "multipleOf" => (value.as_f64().is_some_and(|step| step > 0.0), "is a number above 0"),
        "uniqueItems" => (value.is_boolean(), "is true or false"),
        "format" | "title" | "description" => (value.is_string(), "is a text"),
        // Anything else is an annotation, an `x-` key, or a word of the author's own, which the standard lets pass.
        _ => (!UNSUPPORTED.contains(&keyword), "is not supported"),
    };
    (!is_right).then(|| format!("`{keyword}` {rule}"))
}

fn is_list_of_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
}
