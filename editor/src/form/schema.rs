//! A JSON Schema as a list of fields.
//!
//! Types, required and defaults come from the schema alone; a tool's display adds words, widgets and order.

use serde_json::{Map, Value};
use weir_shared::tool::{InputDisplay, ToolDeclaration, Widget};

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a mark of its own in the schema")]
pub struct FieldSpec {
    pub name: String,
    pub title: String,
    pub help: String,
    /// `string`, `number`, `integer`, `boolean`, `object`, `array`, or `any` when the schema allows several.
    pub data_type: String,
    pub required: bool,
    pub default: Option<Value>,
    pub widget: Widget,
    /// What can be chosen, when the schema or the display says so.
    pub options: Vec<Value>,
    pub placeholder: String,
    /// Shown after the others, under a heading of its own.
    pub advanced: bool,
    /// Strings in it are taken as they are: no references.
    pub raw: bool,
    /// A shell command.
    pub shell: bool,
    /// Not shown while it is typed.
    pub sensitive: bool,
    pub schema: Value,
}

/// The fields of an object schema, in its own order.
pub fn of_schema(schema: &Value) -> Vec<FieldSpec> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    properties.iter().map(|(name, property)| field(name, property, is_required(schema, name), None)).collect()
}

/// The fields of a tool's arguments: those its display names, in that order, then the others; advanced ones last.
pub fn of_tool(tool: &ToolDeclaration) -> Vec<FieldSpec> {
    let nothing = Map::new();
    let properties = tool.input_schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let displays = tool.node.as_ref().map(|node| node.inputs.as_slice()).unwrap_or_default();
    let displayed = displays
        .iter()
        .filter_map(|display| Some((display.name.as_str(), properties.get(&display.name)?, Some(display))));
    let others = properties
        .iter()
        .filter(|(name, _)| !displays.iter().any(|display| display.name == **name))
        .map(|(name, property)| (name.as_str(), property, None));
    let mut fields: Vec<FieldSpec> = displayed
        .chain(others)
        .map(|(name, property, display)| field(name, property, is_required(&tool.input_schema, name), display))
        .collect();
    fields.sort_by_key(|field| field.advanced);
    fields
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|required| required == name))
}

fn field(name: &str, schema: &Value, required: bool, display: Option<&InputDisplay>) -> FieldSpec {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
    let marked = |key: &str| schema.get(key).and_then(Value::as_bool) == Some(true);
    let options = display.map(|display| display.options.clone()).filter(|options| !options.is_empty());
    let options = options.or_else(|| schema.get("enum").and_then(Value::as_array).cloned()).unwrap_or_default();
    let example = display.and_then(|display| display.examples.first().cloned());
    let example = example.or_else(|| schema.get("examples").and_then(Value::as_array)?.first().cloned());
    let default = schema.get("default").cloned();
    let placeholder = display
        .and_then(|display| display.placeholder.clone())
        .or_else(|| default.as_ref().map(plain))
        .or_else(|| example.as_ref().map(|example| format!("e.g. {}", plain(example))))
        .unwrap_or_default();
    FieldSpec {
        title: display
            .and_then(|display| display.title.clone())
            .or_else(|| text("title"))
            .unwrap_or_else(|| spoken(name)),
        help: display
            .and_then(|display| display.help.clone().or_else(|| display.description.clone()))
            .or_else(|| text("description"))
            .unwrap_or_default(),
        data_type: data_type(schema),
        required,
        widget: display.and_then(|display| display.widget).unwrap_or_else(|| widget(schema, &options)),
        options,
        placeholder,
        default,
        advanced: display.is_some_and(|display| display.advanced) || marked("x-weir-advanced"),
        raw: marked("x-weir-raw"),
        shell: marked("x-weir-shell"),
        sensitive: marked("x-weir-sensitive"),
        schema: schema.clone(),
        name: name.to_owned(),
    }
}

/// The one type a schema allows, else `any`.
pub fn data_type(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(several)) => match several.as_slice() {
            [Value::String(one)] => one.clone(),
            _ => "any".to_owned(),
        },
        _ => "any".to_owned(),
    }
}

fn widget(schema: &Value, options: &[Value]) -> Widget {
    let marked = |key: &str| schema.get(key).and_then(Value::as_bool) == Some(true);
    if !options.is_empty() {
        return Widget::Select;
    }
    match data_type(schema).as_str() {
        "boolean" => Widget::Switch,
        "number" | "integer" => Widget::Number,
        "array" => {
            let items = schema.get("items").map_or_else(String::new, data_type);
            if matches!(items.as_str(), "string" | "number" | "integer") { Widget::Rows } else { Widget::Json }
        }
        "object" => Widget::Json,
        "string" if schema.get("format").and_then(Value::as_str) == Some("date") => Widget::Date,
        "string" if marked("x-weir-multiline") || marked("x-weir-shell") => Widget::Textarea,
        _ => Widget::Text,
    }
}

/// A name as words: `timeoutSeconds` → `Timeout seconds`.
pub fn spoken(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if matches!(c, '_' | '-') {
            out.push(' ');
        } else if c.is_uppercase() && !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
            out.extend(c.to_lowercase());
        } else if out.is_empty() {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
    }
    out
}

/// A value on one line: a text as it is, anything else as JSON.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_says_which_widget_a_field_has() {
        use Widget::{Date, Json, Number, Rows, Select, Switch, Text, Textarea};
        let schema = json!({"type": "object", "required": ["day"], "properties": {
            "day": {"type": "string", "format": "date"},
            "limit": {"type": ["integer"], "default": 100},
            "loud": {"type": "boolean"},
            "level": {"enum": ["low", "high"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "filter": {"type": "object"},
            "any": {"type": ["string", "number"]},
            "text": {"type": "string", "x-weir-multiline": true}
        }});
        let fields = of_schema(&schema);
        let widgets: Vec<Widget> = fields.iter().map(|field| field.widget).collect();
        assert_eq!(widgets, [Date, Number, Switch, Select, Rows, Json, Text, Textarea]);
        assert!(fields[0].required && !fields[1].required);
        assert_eq!((fields[1].placeholder.as_str(), fields[6].data_type.as_str()), ("100", "any"));
    }

    #[test]
    fn a_display_orders_and_names_but_does_not_invent() {
        let tool: ToolDeclaration = serde_json::from_value(json!({"name": "t", "title": "T",
            "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}, "timeoutSeconds": {"type": "integer"}, "c": {}}},
            "node": {"label": "T", "inputs": [
                {"name": "c", "title": "Third", "advanced": true}, {"name": "ghost"}, {"name": "a", "widget": "textarea"}]}}))
        .expect("a tool");
        let fields = of_tool(&tool);
        let said: Vec<(&str, &str)> = fields.iter().map(|field| (field.name.as_str(), field.title.as_str())).collect();
        assert_eq!(said, [("a", "A"), ("timeoutSeconds", "Timeout seconds"), ("c", "Third")]);
        assert_eq!(fields[0].widget, Widget::Textarea);
    }
}
