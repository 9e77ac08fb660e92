//! Colour and glyph of a tool, as cards, edges, palette and map show them.

use weir_shared::tool::ToolDeclaration;

use crate::geometry::color::{FALLBACK, Rgb};
use crate::ui::glyph::Glyph;

/// How a kind of node looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    pub color: Rgb,
    /// A name of the glyph set.
    pub glyph: String,
}

const START: Rgb = Rgb(0x7e, 0xe7, 0x87);
const CONDITION: Rgb = Rgb(0xff, 0xb9, 0x38);
const HTTP: Rgb = Rgb(0xff, 0x7f, 0x7f);
const FUNCTION: Rgb = Rgb(0xe4, 0xb7, 0xff);
const LOOP: Rgb = Rgb(0xff, 0xa0, 0x7a);
const FLOW: Rgb = Rgb(0xa3, 0xb1, 0x8a);
const TOOL: Rgb = Rgb(0xd4, 0xa3, 0x73);
const NOTE: Rgb = Rgb(0xfe, 0xe4, 0x40);
/// Calm: a command is no node.
const COMMAND: Rgb = Rgb(0x9c, 0xa3, 0xaf);
const LIBRARY: Rgb = Rgb(0xb8, 0xbe, 0xdd);

impl Look {
    fn new(color: Rgb, glyph: &str) -> Self {
        Self { color, glyph: glyph.to_owned() }
    }

    /// Of the flow's inputs.
    pub fn start() -> Self {
        Self::new(START, "player-play")
    }

    /// Of a note.
    pub fn note() -> Self {
        Self::new(NOTE, "note")
    }

    /// Of a command of the page.
    pub fn command(glyph: &str) -> Self {
        Self::new(COMMAND, glyph)
    }

    /// Of a tool; `declared` is what the catalog says of it, if it is there.
    pub fn of(tool: &str, declared: Option<&ToolDeclaration>) -> Self {
        let mut look = Self::by_name(tool, declared);
        if let Some(display) = declared.and_then(|declared| declared.node.as_ref()) {
            if let Some(color) = display.color.as_deref().and_then(Rgb::parse) {
                look.color = color;
            }
            // A glyph this page does not have would say less than the one its name suggests.
            if let Some(icon) = display.icon.as_ref().filter(|icon| Glyph::named(icon).is_some()) {
                look.glyph.clone_from(icon);
            }
        }
        look
    }

    fn by_name(tool: &str, declared: Option<&ToolDeclaration>) -> Self {
        match tool {
            "flow_if" | "flow_switch" => Self::new(CONDITION, "arrows-split"),
            "http_request" | "web_fetch" => Self::new(HTTP, "world"),
            "json_query" => Self::new(FUNCTION, "function-filled"),
            "text_template" => Self::new(FUNCTION, "align-left"),
            "delay" => Self::new(LOOP, "clock"),
            "execute_command" => Self::new(TOOL, "terminal-2"),
            "read_file" | "list_directory" | "glob" | "grep" => Self::new(LIBRARY, "folder"),
            _ if tool.starts_with("json_") => Self::new(FUNCTION, "braces"),
            _ if tool.starts_with("git_") => Self::new(FLOW, "vector-bezier-2"),
            _ if declared.is_some_and(|declared| declared.node.is_some()) => Self::new(TOOL, "tools"),
            _ => Self::new(FALLBACK, "tools"),
        }
    }
}

/// The colour of a data type, as tokens name it: `var(--t-string)`.
pub fn type_color(data_type: &str) -> &'static str {
    match data_type {
        "string" => "var(--t-string)",
        "number" | "integer" => "var(--t-number)",
        "boolean" => "var(--t-boolean)",
        "object" => "var(--t-object)",
        "array" => "var(--t-array)",
        "file" => "var(--t-file)",
        _ => "var(--t-any)",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn declared(node: &serde_json::Value) -> ToolDeclaration {
        serde_json::from_value(json!({"name": "x", "title": "X", "inputSchema": {}, "node": node})).unwrap()
    }

    #[test]
    fn a_declaration_overrides_what_a_name_suggests() {
        let purple = declared(&json!({"label": "X", "color": "#6E6EFD", "icon": "link"}));
        assert_eq!(Look::of("flow_if", Some(&purple)), Look::new(Rgb(0x6e, 0x6e, 0xfd), "link"));
        let bad = declared(&json!({"label": "X", "color": "purple"}));
        assert_eq!(Look::of("flow_if", Some(&bad)).color, CONDITION);
    }

    #[test]
    fn what_nothing_is_known_of_is_grey() {
        assert_eq!(Look::of("ghost", None).color, FALLBACK);
        assert_eq!(Look::of("split_orders", Some(&declared(&json!({"label": "Split"})))).color, TOOL);
        assert_eq!(Look::of("json_format", None).glyph, "braces");
    }
}
