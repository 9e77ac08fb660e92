//! A value against a schema: every fault with its path, none of them twice.
//!
//! A template in the value counts as every value it could yield: it breaks a schema only where no value of its types
//! could keep it. A schema that is broken itself lets pass what it cannot judge; `check_schema` has reported it.

use serde_json::{Map, Value};

use super::types::Types;
use super::{format, target_of};
use crate::finding::Fault;
use crate::nearest::nearest;
use crate::pointer::{Path, Pointer, path_of};

/// Which strings of a value are templates.
pub trait Templates {
    /// What the template can yield; nothing when the string at this place is only itself.
    fn yields(&self, path: &Path<'_>, text: &str) -> Option<Types>;
}

/// A value whose strings are what they say.
#[derive(Debug, Clone, Copy)]
pub struct Literal;

impl Templates for Literal {
    fn yields(&self, _: &Path<'_>, _: &str) -> Option<Types> {
        None
    }
}

/// Where a value breaks its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub pointer: Pointer,
    /// The keyword that is broken; `undeclared` for a key that `additionalProperties: false` refuses.
    pub keyword: &'static str,
    pub message: String,
    /// What the keyword `type` has against it.
    pub wrong_type: Option<WrongType>,
    /// A key that was probably meant.
    pub nearest: Option<String>,
    /// The value is a template.
    pub is_template: bool,
}

/// Two sets of types with nothing in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongType {
    pub allowed: Types,
    pub given: Types,
}

/// Every fault of a value, with paths that begin with `root_name`.
pub fn validate(schema: &Value, value: &Value, root_name: &str) -> Vec<Fault> {
    violations(schema, value, &Literal)
        .into_iter()
        .map(|violation| Fault {
            path: path_of(std::iter::once(root_name.to_owned()).chain(violation.pointer.steps())),
            code: violation.keyword.to_owned(),
            message: violation.message,
        })
        .collect()
}

/// Every place at which a value breaks its schema.
pub fn violations(schema: &Value, value: &Value, templates: &dyn Templates) -> Vec<Violation> {
    let mut walk = Walk { root: schema, templates, depth: 0, found: Vec::new() };
    walk.check(schema, value, &Path::ROOT);
    walk.found
}

/// Keywords that put schemas together.
const COMBINATIONS: [&str; 5] = ["allOf", "anyOf", "oneOf", "not", "if"];

/// Steps from schema to schema without one into the value: only a circle of references gets this far.
const MOST_DEPTH: usize = 512;

struct Walk<'a> {
    root: &'a Value,
    templates: &'a dyn Templates,
    depth: usize,
    found: Vec<Violation>,
}

impl Walk<'_> {
    fn add(&mut self, pointer: &Path<'_>, keyword: &'static str, message: impl Into<String>) {
        self.found.push(Violation {
            pointer: pointer.into(),
            keyword,
            message: message.into(),
            wrong_type: None,
            nearest: None,
            is_template: false,
        });
    }

    fn check(&mut self, schema: &Value, value: &Value, pointer: &Path<'_>) {
        let keywords = match schema {
            Value::Bool(false) => return self.add(pointer, "false", "nothing is allowed here"),
            Value::Object(keywords) => keywords,
            _ => return,
        };
        if self.depth > MOST_DEPTH {
            return self.add(pointer, "$ref", "the schema refers to itself without end");
        }
        self.depth += 1;
        if let Some(target) = keywords.get("$ref").and_then(Value::as_str).and_then(|it| target_of(self.root, it)) {
            self.check(target, value, pointer);
        }
        let yielded = match value {
            Value::String(text) => self.templates.yields(pointer, text),
            _ => None,
        };
        match yielded {
            Some(types) => self.template(keywords, types, pointer),
            None => self.literal(keywords, value, pointer),
        }
        if COMBINATIONS.iter().any(|keyword| keywords.contains_key(*keyword)) {
            self.combinations(keywords, value, pointer);
        }
        self.depth -= 1;
    }

    fn template(&mut self, keywords: &Map<String, Value>, types: Types, pointer: &Path<'_>) {
        let allowed = allowed_types(keywords);
        if !types.meets(allowed) {
            self.wrong_type(pointer, allowed, types);
            if let Some(last) = self.found.last_mut() {
                last.is_template = true;
            }
        }
    }

    fn wrong_type(&mut self, pointer: &Path<'_>, allowed: Types, given: Types) {
        self.add(pointer, "type", format!("{allowed} is expected here, not {given}"));
        if let Some(last) = self.found.last_mut() {
            last.wrong_type = Some(WrongType { allowed, given });
        }
    }

    fn literal(&mut self, keywords: &Map<String, Value>, value: &Value, pointer: &Path<'_>) {
        if let Some(allowed) = keywords.get("type").and_then(Types::of_keyword)
            && !Types::of(value).meets(allowed)
        {
            self.wrong_type(pointer, allowed, Types::of(value));
            return;
        }
        let is_listed = keywords.contains_key("enum") || keywords.contains_key("const");
        if is_listed && !self.holds_template(value, pointer) {
            if let Some(options) = keywords.get("enum").and_then(Value::as_array)
                && !options.iter().any(|option| equal(option, value))
            {
                let options: Vec<String> = options.iter().map(Value::to_string).collect();
                self.add(pointer, "enum", format!("{} is none of {}", short(value), options.join(", ")));
            }
            if let Some(only) = keywords.get("const")
                && !equal(only, value)
            {
                self.add(pointer, "const", format!("{only} is expected here, not {}", short(value)));
            }
        }
        match value {
            Value::String(text) => self.text(keywords, text, pointer),
            Value::Number(_) => self.number(keywords, value.as_f64().unwrap_or_default(), pointer),
            Value::Array(elements) => self.list(keywords, elements, pointer),
            Value::Object(members) => self.object(keywords, members, pointer),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn text(&mut self, keywords: &Map<String, Value>, text: &str, pointer: &Path<'_>) {
        let length = text.chars().count() as u64;
        if let Some(least) = bound(keywords, "minLength").filter(|least| length < *least) {
            let message = if least == 1 { "it is empty".to_owned() } else { format!("at least {least} characters") };
            self.add(pointer, "minLength", message);
        }
        if let Some(most) = bound(keywords, "maxLength").filter(|most| length > *most) {
            self.add(pointer, "maxLength", format!("at most {most} characters, and it has {length}"));
        }
        if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str)
            && regex_lite::Regex::new(pattern).is_ok_and(|regex| !regex.is_match(text))
        {
            self.add(pointer, "pattern", format!("it does not match the pattern {pattern}"));
        }
        if let Some(wanted) = keywords.get("format").and_then(Value::as_str).and_then(|it| format::fault(it, text)) {
            self.add(pointer, "format", format!("{wanted} is expected here"));
        }
    }

    fn number(&mut self, keywords: &Map<String, Value>, value: f64, pointer: &Path<'_>) {
        let limit = |name: &str| keywords.get(name).and_then(Value::as_f64);
        if let Some(least) = limit("minimum").filter(|least| value < *least) {
            self.add(pointer, "minimum", format!("{value} is below {least}"));
        }
        if let Some(most) = limit("maximum").filter(|most| value > *most) {
            self.add(pointer, "maximum", format!("{value} is above {most}"));
        }
        if let Some(least) = limit("exclusiveMinimum").filter(|least| value <= *least) {
            self.add(pointer, "exclusiveMinimum", format!("{value} is not above {least}"));
        }
        if let Some(most) = limit("exclusiveMaximum").filter(|most| value >= *most) {
            self.add(pointer, "exclusiveMaximum", format!("{value} is not below {most}"));
        }
        if let Some(step) = limit("multipleOf").filter(|step| *step > 0.0) {
            let ratio = value / step;
            if (ratio - ratio.round()).abs() > 1e-9 * ratio.abs().max(1.0) {
                self.add(pointer, "multipleOf", format!("{value} is no multiple of {step}"));
            }
        }
    }

    fn list(&mut self, keywords: &Map<String, Value>, elements: &[Value], pointer: &Path<'_>) {
        let length = elements.len() as u64;
        if let Some(least) = bound(keywords, "minItems").filter(|least| length < *least) {
            self.add(pointer, "minItems", format!("at least {least} elements, and it has {length}"));
        }
        if let Some(most) = bound(keywords, "maxItems").filter(|most| length > *most) {
            self.add(pointer, "maxItems", format!("at most {most} elements, and it has {length}"));
        }
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            let is_known = |at: usize| !self.holds_template(&elements[at], &pointer.index(at));
            let double = (0..elements.len())
                .find(|at| is_known(*at) && elements[..*at].iter().any(|before| equal(before, &elements[*at])));
            if let Some(at) = double {
                self.add(&pointer.index(at), "uniqueItems", "the same element stands in the list before");
            }
        }
        let prefix = keywords.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (at, element) in elements.iter().enumerate() {
            if let Some(schema) = prefix.get(at).or_else(|| keywords.get("items")) {
                self.check(schema, element, &pointer.index(at));
            }
        }
        if let Some(schema) = keywords.get("contains") {
            let matching =
                elements.iter().enumerate().filter(|(at, it)| self.allows(schema, it, &pointer.index(*at))).count()
                    as u64;
            let least = bound(keywords, "minContains").unwrap_or(1);
            let most = bound(keywords, "maxContains").unwrap_or(u64::MAX);
            if matching < least || matching > most {
                self.add(pointer, "contains", format!("{matching} elements are of the kind it must contain"));
            }
        }
    }

    fn object(&mut self, keywords: &Map<String, Value>, members: &Map<String, Value>, pointer: &Path<'_>) {
        let count = members.len() as u64;
        if let Some(least) = bound(keywords, "minProperties").filter(|least| count < *least) {
            self.add(pointer, "minProperties", format!("at least {least} keys, and it has {count}"));
        }
        if let Some(most) = bound(keywords, "maxProperties").filter(|most| count > *most) {
            self.add(pointer, "maxProperties", format!("at most {most} keys, and it has {count}"));
        }
        for name in names(keywords.get("required")).filter(|name| !members.contains_key(*name)) {
            self.add(&pointer.key(name), "required", format!("`{name}` is required"));
        }
        for (name, needed) in keywords.get("dependentRequired").and_then(Value::as_object).into_iter().flatten() {
            if members.contains_key(name) {
                for missing in names(Some(needed)).filter(|it| !members.contains_key(*it)) {
                    self.add(&pointer.key(missing), "required", format!("`{missing}` is required beside `{name}`"));
                }
            }
        }
        for (name, schema) in keywords.get("dependentSchemas").and_then(Value::as_object).into_iter().flatten() {
            if members.contains_key(name) {
                self.check(schema, &Value::Object(members.clone()), pointer);
            }
        }
        for (name, value) in members {
            self.member(keywords, name, value, &pointer.key(name));
        }
    }

    fn member(&mut self, keywords: &Map<String, Value>, name: &str, value: &Value, at: &Path<'_>) {
        if let Some(schema) = keywords.get("propertyNames") {
            let key = Value::String(name.to_owned());
            if !violations_of(self.root, schema, &key).is_empty() {
                self.add(at, "propertyNames", format!("`{name}` is no allowed key"));
            }
        }
        let properties = keywords.get("properties").and_then(Value::as_object);
        let mut is_declared = false;
        if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
            is_declared = true;
            self.check(schema, value, at);
        }
        for (pattern, schema) in keywords.get("patternProperties").and_then(Value::as_object).into_iter().flatten() {
            if regex_lite::Regex::new(pattern).is_ok_and(|regex| regex.is_match(name)) {
                is_declared = true;
                self.check(schema, value, at);
            }
        }
        match keywords.get("additionalProperties") {
            Some(Value::Bool(false)) if !is_declared => {
                let known: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                self.add(at, "undeclared", format!("`{name}` is not known here; known are {}", known.join(", ")));
                if let Some(last) = self.found.last_mut() {
                    last.nearest = nearest(name, known.iter().copied()).map(str::to_owned);
                }
            }
            Some(schema) if !is_declared => self.check(schema, value, at),
            _ => {}
        }
    }

    fn combinations(&mut self, keywords: &Map<String, Value>, value: &Value, pointer: &Path<'_>) {
        let schemas = |name: &str| keywords.get(name).and_then(Value::as_array);
        for schema in schemas("allOf").into_iter().flatten() {
            self.check(schema, value, pointer);
        }
        if let Some(options) = schemas("anyOf")
            && !options.iter().any(|schema| self.allows(schema, value, pointer))
        {
            self.add(pointer, "anyOf", format!("{} is of none of the allowed kinds", short(value)));
        }
        let is_open = self.holds_template(value, pointer);
        if let Some(options) = schemas("oneOf") {
            let matching = options.iter().filter(|schema| self.allows(schema, value, pointer)).count();
            if matching == 0 {
                self.add(pointer, "oneOf", format!("{} is of none of the allowed kinds", short(value)));
            } else if matching > 1 && !is_open {
                self.add(pointer, "oneOf", format!("{} is of several kinds of which only one may fit", short(value)));
            }
        }
        if is_open {
            return;
        }
        if keywords.get("not").is_some_and(|schema| self.allows(schema, value, pointer)) {
            self.add(pointer, "not", format!("{} is of a kind that is not allowed", short(value)));
        }
        if let Some(condition) = keywords.get("if") {
            let branch = if self.allows(condition, value, pointer) { "then" } else { "else" };
            if let Some(schema) = keywords.get(branch) {
                self.check(schema, value, pointer);
            }
        }
    }

    /// Whether the value, or some value its templates yield, keeps this schema.
    fn allows(&self, schema: &Value, value: &Value, pointer: &Path<'_>) -> bool {
        let mut walk = Walk { root: self.root, templates: self.templates, depth: self.depth, found: Vec::new() };
        walk.check(schema, value, pointer);
        walk.found.is_empty()
    }

    fn holds_template(&self, value: &Value, pointer: &Path<'_>) -> bool {
        match value {
            Value::String(text) => self.templates.yields(pointer, text).is_some(),
            Value::Array(elements) => {
                elements.iter().enumerate().any(|(at, element)| self.holds_template(element, &pointer.index(at)))
            }
            Value::Object(members) => {
                members.iter().any(|(name, value)| self.holds_template(value, &pointer.key(name)))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

fn violations_of(root: &Value, schema: &Value, value: &Value) -> Vec<Violation> {
    let mut walk = Walk { root, templates: &Literal, depth: 0, found: Vec::new() };
    walk.check(schema, value, &Path::ROOT);
    walk.found
}

/// The types that `type`, `enum` and `const` leave.
fn allowed_types(keywords: &Map<String, Value>) -> Types {
    let mut allowed = keywords.get("type").and_then(Types::of_keyword).unwrap_or(Types::ANY);
    if let Some(options) = keywords.get("enum").and_then(Value::as_array) {
        allowed = allowed & options.iter().map(Types::of).fold(Types::NONE, |all, one| all | one);
    }
    if let Some(only) = keywords.get("const") {
        allowed = allowed & Types::of(only);
    }
    allowed
}

fn bound(keywords: &Map<String, Value>, name: &str) -> Option<u64> {
    keywords.get(name).and_then(Value::as_u64)
}

fn names(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Equal as JSON Schema has it: 1 and 1.0 are the same number, order of keys does not count.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => a == b,
    }
}

/// The value as JSON, cut for a message.
fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 {
        return text;
    }
    text.chars().take(57).chain("...".chars()).collect()
}
