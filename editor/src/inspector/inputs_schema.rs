//! The flow's inputs as rows, and rows written back into their schema.
//!
//! A row shows what the page models of one property. Writing a field changes the keys of that field and nothing
//! else, so annotations this page knows nothing of stay as their author wrote them.

use serde_json::{Map, Value, json};

use crate::form::schema::{data_type, spoken};

/// The kinds of input one chooses from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    Text,
    LongText,
    Number,
    Whole,
    YesNo,
    Choice,
    Date,
    List,
    Object,
    /// What none of these says; its schema stays as it is.
    Other,
}

impl InputKind {
    /// Every kind that can be chosen.
    pub const ALL: [InputKind; 9] = [
        InputKind::Text,
        InputKind::LongText,
        InputKind::Number,
        InputKind::Whole,
        InputKind::YesNo,
        InputKind::Choice,
        InputKind::Date,
        InputKind::List,
        InputKind::Object,
    ];

    /// What a person reads; also its value in a list.
    pub fn words(self) -> &'static str {
        match self {
            InputKind::Text => "Text",
            InputKind::LongText => "Long text",
            InputKind::Number => "Number",
            InputKind::Whole => "Whole number",
            InputKind::YesNo => "Yes or no",
            InputKind::Choice => "Choice",
            InputKind::Date => "Date",
            InputKind::List => "List of texts",
            InputKind::Object => "Object",
            InputKind::Other => "By schema",
        }
    }

    /// The kind with these words.
    pub fn of_words(words: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.words() == words)
    }

    /// The kind of a property.
    fn of(property: &Value) -> Self {
        let text = |key: &str| property.get(key).and_then(Value::as_str);
        if property.get("enum").is_some_and(Value::is_array) {
            return InputKind::Choice;
        }
        match data_type(property).as_str() {
            "string" if text("format") == Some("date") => InputKind::Date,
            "string" if property.get("x-weir-multiline") == Some(&Value::Bool(true)) => InputKind::LongText,
            "string" => InputKind::Text,
            "number" => InputKind::Number,
            "integer" => InputKind::Whole,
            "boolean" => InputKind::YesNo,
            "array" => InputKind::List,
            "object" => InputKind::Object,
            _ => InputKind::Other,
        }
    }

    /// Makes a property of this kind: the keys that say the kind are set, those of another kind are removed.
    fn write(self, property: &mut Map<String, Value>) {
        let date = property.get("format") == Some(&json!("date"));
        if date {
            property.shift_remove("format");
        }
        property.shift_remove("x-weir-multiline");
        if self != InputKind::Choice {
            property.shift_remove("enum");
        }
        let data_type = match self {
            InputKind::Text | InputKind::LongText | InputKind::Date | InputKind::Choice => "string",
            InputKind::Number => "number",
            InputKind::Whole => "integer",
            InputKind::YesNo => "boolean",
            InputKind::List => "array",
            InputKind::Object => "object",
            InputKind::Other => return,
        };
        if property.get("type") != Some(&json!(data_type)) {
            // A default or an example of another type would be a fault nobody meant.
            property.shift_remove("default");
            property.shift_remove("examples");
        }
        property.insert("type".to_owned(), json!(data_type));
        match self {
            InputKind::LongText => {
                property.insert("x-weir-multiline".to_owned(), Value::Bool(true));
            }
            InputKind::Date => {
                property.insert("format".to_owned(), json!("date"));
            }
            InputKind::Choice if !property.contains_key("enum") => {
                property.insert("enum".to_owned(), json!(["first", "second"]));
            }
            InputKind::List if !property.contains_key("items") => {
                property.insert("items".to_owned(), json!({"type": "string"}));
            }
            InputKind::Text
            | InputKind::Number
            | InputKind::Whole
            | InputKind::YesNo
            | InputKind::Choice
            | InputKind::List
            | InputKind::Object
            | InputKind::Other => {}
        }
    }
}

/// One input as a row.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRow {
    pub name: String,
    pub title: String,
    pub help: String,
    pub kind: InputKind,
    pub data_type: String,
    pub required: bool,
    pub default: Option<Value>,
    pub options: Vec<Value>,
    pub example: Option<Value>,
    pub sensitive: bool,
}

/// A change of one row.
#[derive(Debug, Clone, PartialEq)]
pub enum RowChange {
    Title(String),
    Help(String),
    Kind(InputKind),
    Required(bool),
    Default(Option<Value>),
    /// As written, one a line.
    Options(Vec<String>),
    Example(Option<Value>),
    Sensitive(bool),
}

/// The rows of a schema, in its order.
pub fn rows(schema: Option<&Value>) -> Vec<InputRow> {
    let Some(schema) = schema else { return Vec::new() };
    let required = |name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|known| known == name))
    };
    let text = |property: &Value, key: &str| property.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, property)| InputRow {
            name: name.clone(),
            title: text(property, "title"),
            help: text(property, "description"),
            kind: InputKind::of(property),
            data_type: data_type(property),
            required: required(name),
            default: property.get("default").cloned(),
            options: property.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
            example: property.get("examples").and_then(|examples| examples.get(0)).cloned(),
            sensitive: property.get("x-weir-sensitive") == Some(&Value::Bool(true)),
        })
        .collect()
}

/// Why a name cannot be given to an input; `None` when it can. `own` is the row's present name.
pub fn name_fault(schema: Option<&Value>, own: Option<&str>, name: &str) -> Option<String> {
    let plain =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if !plain {
        return Some("Use letters, digits, _ and -, so that a reference can name it.".to_owned());
    }
    let taken = own != Some(name) && rows(schema).iter().any(|row| row.name == name);
    taken.then(|| format!("There is an input named {name} already."))
}

/// The schema with one more input, and its name.
pub fn add(schema: Option<&Value>) -> (Value, String) {
    let taken = rows(schema);
    let free = (1..=u32::MAX).map(|n| format!("input_{n}")).find(|name| !taken.iter().any(|row| row.name == *name));
    let name = free.unwrap_or_else(|| "input".to_owned());
    let mut schema = root(schema);
    properties(&mut schema).insert(name.clone(), json!({"type": "string"}));
    (Value::Object(schema), name)
}

/// The schema without this input; `None` when nothing would be left that says anything.
pub fn remove(schema: Option<&Value>, name: &str) -> Option<Value> {
    let mut schema = root(schema);
    properties(&mut schema).shift_remove(name);
    require(&mut schema, name, false);
    let bare = schema.iter().all(|(key, value)| match key.as_str() {
        "type" => value == "object",
        "properties" => value.as_object().is_some_and(Map::is_empty),
        _ => false,
    });
    (!bare).then_some(Value::Object(schema))
}

/// The schema with an input under another name, in its old place.
pub fn rename(schema: Option<&Value>, from: &str, to: &str) -> Value {
    let mut schema = root(schema);
    let old = std::mem::take(properties(&mut schema));
    *properties(&mut schema) =
        old.into_iter().map(|(name, property)| (if name == from { to.to_owned() } else { name }, property)).collect();
    if let Some(names) = schema.get_mut("required").and_then(Value::as_array_mut) {
        for name in names.iter_mut().filter(|name| **name == from) {
            *name = json!(to);
        }
    }
    Value::Object(schema)
}

/// The schema with an input moved by `by` places.
pub fn shift(schema: Option<&Value>, name: &str, by: isize) -> Value {
    let mut schema = root(schema);
    let mut list: Vec<(String, Value)> = std::mem::take(properties(&mut schema)).into_iter().collect();
    if let Some(at) = list.iter().position(|(known, _)| known == name) {
        let to = at.saturating_add_signed(by).min(list.len() - 1);
        let row = list.remove(at);
        list.insert(to, row);
    }
    *properties(&mut schema) = list.into_iter().collect();
    Value::Object(schema)
}

/// The schema with one field of an input changed.
pub fn change(schema: Option<&Value>, name: &str, change: RowChange) -> Value {
    let mut schema = root(schema);
    if let RowChange::Required(required) = change {
        require(&mut schema, name, required);
        return Value::Object(schema);
    }
    let Some(property) = properties(&mut schema).get_mut(name).and_then(Value::as_object_mut) else {
        return Value::Object(schema);
    };
    match change {
        RowChange::Title(title) => put(property, "title", (!title.is_empty()).then(|| json!(title))),
        RowChange::Help(help) => put(property, "description", (!help.is_empty()).then(|| json!(help))),
        RowChange::Kind(kind) => kind.write(property),
        RowChange::Default(default) => put(property, "default", default),
        RowChange::Example(example) => put(property, "examples", example.map(|example| json!([example]))),
        RowChange::Sensitive(on) => put(property, "x-weir-sensitive", on.then_some(Value::Bool(true))),
        RowChange::Options(options) => {
            let data_type = data_type(&Value::Object(property.clone()));
            let values = options
                .iter()
                .map(|option| option.trim())
                .filter(|option| !option.is_empty())
                .filter_map(|option| crate::form::text::to_value(&data_type, option))
                .collect();
            put(property, "enum", Some(Value::Array(values)));
        }
        RowChange::Required(_) => {}
    }
    Value::Object(schema)
}

/// What an input is called where it is shown.
pub fn label(row: &InputRow) -> String {
    if row.title.is_empty() { spoken(&row.name) } else { row.title.clone() }
}

fn root(schema: Option<&Value>) -> Map<String, Value> {
    match schema {
        Some(Value::Object(schema)) => schema.clone(),
        Some(_) | None => Map::from_iter([("type".to_owned(), json!("object"))]),
    }
}

fn properties(schema: &mut Map<String, Value>) -> &mut Map<String, Value> {
    let slot = schema.entry("properties").or_insert_with(|| json!({}));
    if !slot.is_object() {
        *slot = json!({});
    }
    match slot {
        Value::Object(properties) => properties,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            unreachable!("it was made an object just above")
        }
    }
}

fn require(schema: &mut Map<String, Value>, name: &str, required: bool) {
    let mut names = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    names.retain(|known| known != name);
    if required {
        names.push(json!(name));
    }
    put(schema, "required", (!names.is_empty()).then_some(Value::Array(names)));
}

fn put(object: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    match value {
        Some(value) => {
            object.insert(key.to_owned(), value);
        }
        None => {
            object.shift_remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({"type": "object", "$comment": "kept", "properties": {
            "day": {"type": "string", "format": "date", "x-mine": 1},
            "limit": {"type": "number", "default": 5, "examples": [7]}
        }, "required": ["day"]})
    }

    #[test]
    fn rows_show_what_the_schema_says() {
        let rows = rows(Some(&schema()));
        let said: Vec<(&str, InputKind, bool)> =
            rows.iter().map(|row| (row.name.as_str(), row.kind, row.required)).collect();
        assert_eq!(said, [("day", InputKind::Date, true), ("limit", InputKind::Number, false)]);
        assert_eq!((rows[1].default.clone(), rows[1].example.clone()), (Some(json!(5)), Some(json!(7))));
    }

    #[test]
    fn a_change_touches_its_own_keys_only() {
        let titled = change(Some(&schema()), "day", RowChange::Title("Day".to_owned()));
        assert_eq!(
            titled["properties"]["day"],
            json!({"type": "string", "format": "date", "x-mine": 1, "title": "Day"})
        );
        assert_eq!(titled["$comment"], "kept");
        assert_eq!(change(Some(&titled), "day", RowChange::Title(String::new())), schema());
    }

    #[test]
    fn every_kind_is_read_back_as_it_was_written() {
        for kind in InputKind::ALL {
            let written = change(Some(&schema()), "day", RowChange::Kind(kind));
            assert_eq!(rows(Some(&written))[0].kind, kind);
            assert_eq!(written["properties"]["day"]["x-mine"], 1, "{kind:?}");
        }
    }

    #[test]
    fn another_type_drops_a_default_that_would_not_fit() {
        let written = change(Some(&schema()), "limit", RowChange::Kind(InputKind::Text));
        assert_eq!(written["properties"]["limit"], json!({"type": "string"}));
        let same = change(Some(&schema()), "limit", RowChange::Kind(InputKind::Number));
        assert_eq!(same, schema());
    }

    #[test]
    fn a_rename_keeps_place_and_requirement() {
        let renamed = rename(Some(&schema()), "day", "date");
        let names: Vec<String> = rows(Some(&renamed)).into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["date", "limit"]);
        assert_eq!(renamed["required"], json!(["date"]));
    }

    #[test]
    fn the_last_input_takes_an_empty_schema_with_it() {
        let (one, name) = add(None);
        assert_eq!(
            (one.clone(), name.as_str()),
            (json!({"type": "object", "properties": {"input_1": {"type": "string"}}}), "input_1")
        );
        assert_eq!(remove(Some(&one), "input_1"), None);
        let kept = remove(remove(Some(&schema()), "day").as_ref(), "limit").expect("the comment stays");
        assert_eq!(kept, json!({"type": "object", "$comment": "kept", "properties": {}}));
    }

    #[test]
    fn order_is_changed_within_bounds() {
        let names = |schema: &Value| rows(Some(schema)).into_iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(names(&shift(Some(&schema()), "limit", -1)), ["limit", "day"]);
        assert_eq!(names(&shift(Some(&schema()), "limit", 4)), ["day", "limit"]);
    }

    #[test]
    fn a_name_must_be_one_a_reference_can_say() {
        assert!(name_fault(Some(&schema()), Some("day"), "limit").is_some());
        assert!(name_fault(Some(&schema()), Some("day"), "a b").is_some());
        assert_eq!(name_fault(Some(&schema()), Some("day"), "day"), None);
    }
}
