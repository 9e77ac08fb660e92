//! The words, ports and size of one card.

use serde_json::Value;
use weir_shared::flow::{Flow, Node};
use weir_shared::tool::{Catalog, ToolDeclaration};

use super::look::Look;
use crate::geometry::card::{self, Lettering, Ruler};
use crate::geometry::plane::Size;

/// What one card shows, apart from its place and the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Face {
    pub title: String,
    /// What kind of node it is, and what is special about it.
    pub subtitle: String,
    pub look: Look,
    /// Names of its outputs; one empty name for a tool without branches.
    pub outputs: Vec<String>,
    /// Typed rows of the start card.
    pub rows: Vec<Row>,
    pub size: Size,
    pub disabled: bool,
    /// A value is served instead of calling the tool.
    pub pinned: bool,
    /// The tool is not in the catalog.
    pub unknown: bool,
    /// The data type of what it gives, for the colour of its output.
    pub output_type: &'static str,
}

/// One input of the flow on the start card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    pub data_type: String,
    /// Its default, else the word for its kind.
    pub note: String,
}

/// At most this many rows stand on the start card; the rest is counted in one more.
const MOST_ROWS: usize = 6;

impl Face {
    /// Of a node.
    pub fn of(node: &Node, flow: &Flow, catalog: &Catalog, ruler: &dyn Ruler) -> Self {
        let declared = catalog.get(&node.tool);
        let ports = declared.map(|declared| declared.ports.clone()).unwrap_or_default();
        let outputs = if ports.is_empty() { vec![String::new()] } else { ports };
        let pinned = flow.pins.contains_key(&node.id);
        let title = node.label().to_owned();
        let subtitle = subtitle(node, declared, pinned);
        let width = card::width([(&*title, Lettering::Title), (&*subtitle, Lettering::Small)], ruler);
        let output_type = if outputs.len() > 1 { "branch" } else { output_type(declared) };
        Self {
            size: Size::new(width, card::height(outputs.len())),
            look: Look::of(&node.tool, declared),
            title,
            subtitle,
            outputs,
            rows: Vec::new(),
            disabled: node.disabled == Some(true),
            pinned,
            unknown: declared.is_none(),
            output_type,
        }
    }

    /// Of the flow's inputs.
    pub fn of_start(flow: &Flow, ruler: &dyn Ruler) -> Self {
        let rows = rows(flow.inputs.as_ref());
        let subtitle = if rows.is_empty() { "inputs of the flow".to_owned() } else { String::new() };
        let title = "Start".to_owned();
        let lines: Vec<String> = rows.iter().map(|row| format!("●  {}  {}", row.name, row.note)).collect();
        let texts = lines.iter().map(|line| (line.as_str(), Lettering::Small));
        let words = [(title.as_str(), Lettering::Title), (subtitle.as_str(), Lettering::Small)];
        let width = card::width(texts.chain(words), ruler);
        Self {
            size: Size::new(width, card::start_height(rows.len())),
            look: Look::start(),
            title,
            subtitle,
            outputs: vec![String::new()],
            rows,
            disabled: false,
            pinned: false,
            unknown: false,
            output_type: "object",
        }
    }
}

/// What people call a tool: its label, else its title, else its name.
pub fn tool_label<'a>(name: &'a str, declared: Option<&'a ToolDeclaration>) -> &'a str {
    let Some(declared) = declared else { return name };
    let label = declared.node.as_ref().map(|node| node.label.as_str()).filter(|label| !label.is_empty());
    label.unwrap_or(if declared.title.is_empty() { name } else { &declared.title })
}

fn subtitle(node: &Node, declared: Option<&ToolDeclaration>, pinned: bool) -> String {
    if let Some(condition) = (node.tool == "flow_if").then(|| condition(node)).flatten() {
        return condition;
    }
    let label = tool_label(&node.tool, declared);
    let mut words = Vec::new();
    if declared.is_none() {
        words.push("not available".to_owned());
    }
    if node.disabled == Some(true) {
        words.push("disabled".to_owned());
    }
    if pinned {
        words.push("pinned".to_owned());
    }
    if node.approval == Some(true) {
        words.push("approval".to_owned());
    }
    if let Some(attempts) = node.retry.as_ref().and_then(|retry| retry.max_attempts).filter(|attempts| *attempts > 1) {
        words.push(format!("retry {attempts}"));
    }
    if node.idempotent == Some(true) {
        words.push("idempotent".to_owned());
    }
    // A node that bears its tool's name need not say it twice.
    if node.label() != label || words.is_empty() {
        words.insert(0, label.to_owned());
    }
    words.join(" · ")
}

/// A comparison as one reads it: `count > 100`.
fn condition(node: &Node) -> Option<String> {
    let args = node.args.as_ref()?;
    let left = side(args.get("left")?);
    let right = args.get("right").map(side).unwrap_or_default();
    let operator = match args.get("operator").and_then(Value::as_str).unwrap_or("eq") {
        "eq" => "=",
        "ne" => "≠",
        "gt" => ">",
        "gte" => "≥",
        "lt" => "<",
        "lte" => "≤",
        "is_empty" => return Some(format!("{left} is empty")),
        "is_not_empty" => return Some(format!("{left} is not empty")),
        other => &other.replace('_', " "),
    };
    (!left.is_empty()).then(|| format!("{left} {operator} {right}"))
}

/// A value in few words: of a reference the last word of its path.
fn side(value: &Value) -> String {
    let Some(text) = value.as_str() else { return value.to_string() };
    let reference = text.trim().strip_prefix("{{").and_then(|text| text.strip_suffix("}}")).map(str::trim);
    match reference {
        Some(path) if !path.contains("{{") => path.rsplit('.').next().unwrap_or(path).to_owned(),
        Some(_) | None => text.to_owned(),
    }
}

fn output_type(declared: Option<&ToolDeclaration>) -> &'static str {
    let kind = declared.and_then(|declared| declared.output_schema.as_ref()).and_then(|schema| schema.get("type"));
    match kind.and_then(Value::as_str) {
        Some("object") => "object",
        Some("array") => "array",
        Some("string") => "string",
        Some("number" | "integer") => "number",
        Some("boolean") => "boolean",
        Some(_) | None => "any",
    }
}

fn rows(inputs: Option<&Value>) -> Vec<Row> {
    let Some(properties) = inputs.and_then(|inputs| inputs.get("properties")).and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut rows: Vec<Row> = properties
        .iter()
        .take(MOST_ROWS)
        .map(|(name, schema)| {
            let data_type = schema.get("type").and_then(Value::as_str).unwrap_or("any").to_owned();
            let kind = schema.get("format").and_then(Value::as_str).unwrap_or(&data_type);
            let note = match schema.get("default") {
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
                None => kind.to_owned(),
            };
            Row { name: name.clone(), data_type, note: note.chars().take(24).collect() }
        })
        .collect();
    if properties.len() > MOST_ROWS {
        let more = format!("{} more", properties.len() - MOST_ROWS);
        rows.push(Row { name: more, data_type: "any".to_owned(), note: String::new() });
    }
    rows
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::geometry::card::MeanWidth;

    fn catalog() -> Catalog {
        let tools = json!([
            {"name": "flow_if", "title": "If", "ports": ["true", "false"], "inputSchema": {},
             "node": {"label": "If"}},
            {"name": "http_request", "title": "HTTP request", "inputSchema": {}, "outputSchema": {"type": "object"},
             "node": {"label": "HTTP request"}},
        ]);
        let tools: Vec<ToolDeclaration> = serde_json::from_value(tools).unwrap();
        Catalog::new(tools)
    }

    fn face(node: &serde_json::Value) -> Face {
        let node: Node = serde_json::from_value(node.clone()).unwrap();
        let flow = Flow { pins: json!({"pinned": 1}).as_object().cloned().unwrap(), ..Flow::new("x") };
        Face::of(&node, &flow, &catalog(), &MeanWidth)
    }

    #[test]
    fn a_card_says_what_is_special_about_its_node() {
        let plain =
            face(&json!({"id": "fetch", "tool": "http_request", "title": "Fetch orders", "retry": {"maxAttempts": 3}}));
        assert_eq!((plain.title.as_str(), plain.subtitle.as_str()), ("Fetch orders", "HTTP request · retry 3"));
        assert_eq!((plain.output_type, plain.size.height), ("object", 60.0));
        let special = face(&json!({"id": "pinned", "tool": "ghost", "disabled": true, "approval": true}));
        assert_eq!(special.subtitle, "ghost · not available · disabled · pinned · approval");
        assert!(special.unknown && special.pinned && special.disabled);
    }

    #[test]
    fn a_condition_reads_as_one_and_has_its_branches() {
        let busy = face(&json!({"id": "busy", "tool": "flow_if", "title": "Busy day?",
            "args": {"left": "{{node.fetch.result.json.count}}", "operator": "gt", "right": "{{inputs.limit}}"}}));
        assert_eq!(busy.subtitle, "count > limit");
        assert_eq!((busy.outputs.len(), busy.size.height), (2, 80.0));
        let empty = face(&json!({"id": "e", "tool": "flow_if", "args": {"left": "x", "operator": "is_empty"}}));
        assert_eq!(empty.subtitle, "x is empty");
        assert_eq!(face(&json!({"id": "n", "tool": "flow_if"})).subtitle, "If");
    }

    #[test]
    fn start_shows_typed_rows_and_counts_the_rest() {
        let mut flow = Flow::new("x");
        assert_eq!(Face::of_start(&flow, &MeanWidth).subtitle, "inputs of the flow");
        flow.inputs = Some(json!({"type": "object", "properties": {
            "day": {"type": "string", "format": "date"}, "limit": {"type": "integer", "default": 100}}}));
        let face = Face::of_start(&flow, &MeanWidth);
        let notes: Vec<_> = face.rows.iter().map(|row| (row.name.as_str(), row.note.as_str())).collect();
        assert_eq!(notes, [("day", "date"), ("limit", "100")]);
        let many: serde_json::Map<String, Value> = (0..9).map(|n| (format!("input{n}"), json!({}))).collect();
        flow.inputs = Some(json!({"type": "object", "properties": many}));
        assert_eq!(Face::of_start(&flow, &MeanWidth).rows.last().unwrap().name, "3 more");
    }
}
