//! What a tool declares about itself, and the catalog that a flow is checked against.
//!
//! The worker fills a [`Catalog`] from its built-in tools and plugins and serves it; the page reads the same JSON.
//! How a tool is run is not here: that is the worker's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a tool may do to the world.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    Read,
    Write,
    Command,
    /// Also what a tool counts as that declares none.
    #[default]
    External,
}

/// When a repeated call does no harm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Idempotent {
    Always(bool),
    /// Only when each named argument is one of these literals in the flow.
    When {
        when: BTreeMap<String, Vec<Value>>,
    },
}

impl Default for Idempotent {
    fn default() -> Self {
        Self::Always(false)
    }
}

/// A tool as the catalog shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolDeclaration {
    pub name: String,
    pub title: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub effect: Effect,
    #[serde(default)]
    pub idempotent: Idempotent,
    /// Tools are granted and listed by group.
    #[serde(default)]
    pub group: String,
    /// Branches an edge may leave by; empty for a tool without branches.
    #[serde(default)]
    pub ports: Vec<String>,
    /// JSON Schema of the arguments, an object at its root. `x-weir-raw: true` on a property: not a template;
    /// `x-weir-shell: true`: a shell command, where references become environment variables.
    pub input_schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Time one attempt may take when neither node nor argument says otherwise, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// Where it comes from: `builtin` or a plugin's id.
    #[serde(default)]
    pub source: String,
    #[serde(default)]
    pub trusted: bool,
    /// What the guard takes its effect for, when that is more than it declares: a plugin's process may do whatever a
    /// command may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts_as: Option<Effect>,
    /// How it shows on the canvas. Absent: a fallback node made from the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeDisplay>,
}

/// A tool as `GET /api/agent/tools` shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    #[serde(flatten)]
    pub tool: ToolDeclaration,
    /// Whether a call without special arguments may be repeated.
    pub retry_safe: bool,
}

/// What a node is on the canvas.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    #[default]
    Action,
    Control,
    Start,
}

/// Display of a tool's node. It adds nothing to the contract: types, required and defaults come from the schemas.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NodeDisplay {
    pub label: String,
    pub category: String,
    pub kind: NodeKind,
    /// `#rrggbb`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// A glyph's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docs_url: Option<String>,
    pub inputs: Vec<InputDisplay>,
    pub outputs: Vec<OutputField>,
}

/// The widget an argument is edited with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Widget {
    #[default]
    Text,
    Number,
    Switch,
    Select,
    Date,
    Textarea,
    Json,
    Rows,
}

/// Display of one argument.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct InputDisplay {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widget: Option<Widget>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
    pub advanced: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Value>,
}

/// One declared output of a tool, with what is inside it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OutputField {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `string`, `number`, `boolean`, `object`, `array`, `file` or `any`.
    #[serde(rename = "type")]
    pub data_type: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
    /// Fields of an object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub properties: Vec<OutputField>,
    /// Elements of an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub items: Option<Box<OutputField>>,
}

impl ToolDeclaration {
    /// Whether calling it again with these arguments (as written in the flow, or as resolved) does no harm: a read
    /// always; a write or an external call when it is idempotent for them; a command never, unless the author's
    /// `idempotent: true` says so (`author_says`).
    pub fn is_retry_safe(&self, args: &Map<String, Value>, author_says: Option<bool>) -> bool {
        if author_says == Some(true) {
            return true;
        }
        match self.effect {
            Effect::Read => true,
            Effect::Command => false,
            Effect::Write | Effect::External => match &self.idempotent {
                Idempotent::Always(always) => *always,
                Idempotent::When { when } => when.iter().all(|(name, literals)| {
                    let given =
                        args.get(name).or_else(|| self.input_schema.pointer(&format!("/properties/{name}/default")));
                    given.is_some_and(|given| literals.contains(given))
                }),
            },
        }
    }

    /// The effect that permissions go by.
    pub fn guarded_effect(&self) -> Effect {
        self.counts_as.unwrap_or(self.effect)
    }

    /// The schema of one argument.
    pub fn argument_schema(&self, name: &str) -> Option<&Value> {
        self.input_schema.get("properties")?.get(name)
    }

    /// Whether strings of this argument are taken as they are written.
    pub fn is_raw(&self, argument: &str) -> bool {
        self.marks(argument, "x-weir-raw")
    }

    /// What a raw argument is written in, where its schema says so (`x-weir-language`).
    pub fn language(&self, argument: &str) -> Option<Language> {
        match self.argument_schema(argument)?.get("x-weir-language")?.as_str()? {
            "expression" => Some(Language::Expression),
            "template" => Some(Language::Template),
            _ => None,
        }
    }

    /// Whether this argument is a shell command.
    pub fn is_shell(&self, argument: &str) -> bool {
        self.marks(argument, "x-weir-shell")
    }

    fn marks(&self, argument: &str, mark: &str) -> bool {
        self.argument_schema(argument).and_then(|schema| schema.get(mark)).and_then(Value::as_bool) == Some(true)
    }
}

/// What an argument that is no template of the flow's is written in. It sees `input` alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// One expression, without braces.
    Expression,
    /// A text with `{{ … }}` and statements.
    Template,
}

/// Every tool that can be named, by name.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    tools: BTreeMap<String, ToolDeclaration>,
}

impl Catalog {
    /// A catalog of these tools; of two with one name the later stays.
    pub fn new(tools: impl IntoIterator<Item = ToolDeclaration>) -> Self {
        Self { tools: tools.into_iter().map(|tool| (tool.name.clone(), tool)).collect() }
    }

    /// The tool of this name, trusted or not.
    pub fn get(&self, name: &str) -> Option<&ToolDeclaration> {
        self.tools.get(name)
    }

    /// Every tool, by name.
    pub fn iter(&self) -> impl Iterator<Item = &ToolDeclaration> {
        self.tools.values()
    }
}
