//! The declarations of the built-in tools. Each is written in its tool's file as the JSON that the catalog serves, in
//! the form a plugin's manifest has.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::Value;
use weir_shared::tool::{NodeDisplay, OutputField, ToolDeclaration};

use super::files::{
    delete_file, edit_file, glob, grep, list_directory, make_directory, move_file, read_file, write_file,
};
use super::git::{git_commit, git_diff, git_log, git_status};
use super::http::{http_request, web_fetch};
use super::{delay, execute_command, flow_if, flow_switch, json_format, json_query, text_template};

/// Where built-in tools say they come from.
const SOURCE: &str = "builtin";

/// Every built-in tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    ExecuteCommand,
    FlowIf,
    FlowSwitch,
    Delay,
    JsonFormat,
    JsonQuery,
    TextTemplate,
    ReadFile,
    ListDirectory,
    Glob,
    Grep,
    WriteFile,
    EditFile,
    MakeDirectory,
    MoveFile,
    DeleteFile,
    GitStatus,
    GitDiff,
    GitLog,
    GitCommit,
    HttpRequest,
    WebFetch,
}

impl Builtin {
    pub(super) const ALL: [Builtin; 22] = [
        Builtin::ExecuteCommand,
        Builtin::FlowIf,
        Builtin::FlowSwitch,
        Builtin::Delay,
        Builtin::JsonFormat,
        Builtin::JsonQuery,
        Builtin::TextTemplate,
        Builtin::ReadFile,
        Builtin::ListDirectory,
        Builtin::Glob,
        Builtin::Grep,
        Builtin::WriteFile,
        Builtin::EditFile,
        Builtin::MakeDirectory,
        Builtin::MoveFile,
        Builtin::DeleteFile,
        Builtin::GitStatus,
        Builtin::GitDiff,
        Builtin::GitLog,
        Builtin::GitCommit,
        Builtin::HttpRequest,
        Builtin::WebFetch,
    ];

    /// What the tool declares.
    pub(super) fn declaration(self) -> ToolDeclaration {
        declare(match self {
            Builtin::ExecuteCommand => execute_command::declaration(),
            Builtin::FlowIf => flow_if::declaration(),
            Builtin::FlowSwitch => flow_switch::declaration(),
            Builtin::Delay => delay::declaration(),
            Builtin::JsonFormat => json_format::declaration(),
            Builtin::JsonQuery => json_query::declaration(),
            Builtin::TextTemplate => text_template::declaration(),
            Builtin::ReadFile => read_file::declaration(),
            Builtin::ListDirectory => list_directory::declaration(),
            Builtin::Glob => glob::declaration(),
            Builtin::Grep => grep::declaration(),
            Builtin::WriteFile => write_file::declaration(),
            Builtin::EditFile => edit_file::declaration(),
            Builtin::MakeDirectory => make_directory::declaration(),
            Builtin::MoveFile => move_file::declaration(),
            Builtin::DeleteFile => delete_file::declaration(),
            Builtin::GitStatus => git_status::declaration(),
            Builtin::GitDiff => git_diff::declaration(),
            Builtin::GitLog => git_log::declaration(),
            Builtin::GitCommit => git_commit::declaration(),
            Builtin::HttpRequest => http_request::declaration(),
            Builtin::WebFetch => web_fetch::declaration(),
        })
    }
}

/// What the built-in tools declare, for whoever checks flows where nothing runs.
pub(crate) fn builtin_declarations() -> impl Iterator<Item = ToolDeclaration> {
    Builtin::ALL.into_iter().map(Builtin::declaration)
}

/// Whether a built-in tool has this name: no plugin's can.
pub(crate) fn is_builtin(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<String>> = LazyLock::new(|| builtin_declarations().map(|tool| tool.name).collect());
    NAMES.contains(name)
}

/// Reads a declaration and fills in what follows from it: source, trust, and the outputs of the node from the output
/// schema, so that each is written once.
fn declare(written: Value) -> ToolDeclaration {
    let mut tool: ToolDeclaration =
        serde_json::from_value(written).expect("a built-in declaration is well-formed; a test reads all of them");
    SOURCE.clone_into(&mut tool.source);
    tool.trusted = true;
    let outputs = tool.output_schema.as_ref().map(properties).unwrap_or_default();
    if let Some(NodeDisplay { outputs: shown, .. }) = &mut tool.node
        && shown.is_empty()
    {
        *shown = outputs;
    }
    tool
}

/// The properties of an object schema as the page shows them.
fn properties(schema: &Value) -> Vec<OutputField> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    properties.iter().map(|(name, schema)| OutputField { name: name.clone(), ..field(schema) }).collect()
}

fn field(schema: &Value) -> OutputField {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
    OutputField {
        name: String::new(),
        title: text("title"),
        description: text("description"),
        data_type: data_type(schema).to_owned(),
        examples: schema.get("examples").and_then(Value::as_array).cloned().unwrap_or_default(),
        properties: properties(schema),
        items: schema.get("items").map(|items| Box::new(field(items))),
    }
}

/// The first type of a schema that is not null, in the page's words.
fn data_type(schema: &Value) -> &'static str {
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    match names.into_iter().find(|name| *name != "null") {
        Some("string") => "string",
        Some("integer" | "number") => "number",
        Some("boolean") => "boolean",
        Some("object") => "object",
        Some("array") => "array",
        _ => "any",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_is_complete() {
        for builtin in Builtin::ALL {
            let tool = builtin.declaration();
            let name = &tool.name;
            assert!(!tool.title.is_empty() && !tool.description.is_empty() && !tool.group.is_empty(), "{name}");
            assert_eq!(tool.input_schema["additionalProperties"], false, "{name}");
            let node = tool.node.as_ref().unwrap_or_else(|| panic!("{name} has no node"));
            assert!(!node.label.is_empty() && !node.category.is_empty() && !node.outputs.is_empty(), "{name}");
            let arguments = tool.input_schema["properties"].as_object().expect("properties");
            for (argument, schema) in arguments {
                assert!(schema["title"].is_string() && schema["description"].is_string(), "{name}.{argument}");
                assert!(node.inputs.iter().any(|input| input.name == *argument), "{name}.{argument} has no widget");
            }
            assert_eq!(node.inputs.len(), arguments.len(), "{name} shows an argument that it does not take");
            for output in &node.outputs {
                assert!(output.title.is_some() && output.description.is_some(), "{name} → {}", output.name);
                assert!(!output.examples.is_empty(), "{name} → {} has no example", output.name);
            }
            if !tool.ports.is_empty() {
                let branches = &tool.output_schema.as_ref().expect("an output schema")["properties"]["branch"]["enum"];
                assert_eq!(serde_json::to_value(&tool.ports).expect("JSON"), *branches, "{name}");
            }
        }
    }
}
