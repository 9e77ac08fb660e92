//! `plugin.json`, schema 1, read strictly: what is not understood is named and never passed over.
//!
//! Pure: bytes to a manifest and findings. Whether the folder is trusted is not asked here.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use weir_shared::finding::Severity;
use weir_shared::ids::ToolName;
use weir_shared::schema::check_schema;
use weir_shared::tool::{Effect, Idempotent, NodeDisplay, ToolDeclaration};
use weir_shared::wire::PluginFinding;

use super::shape;
use super::template::Template;
use crate::process::UnitLimits;

/// The schema of manifests that this build reads.
const SCHEMA: u64 = 1;
/// Tools of one plugin.
const MOST_TOOLS: usize = 128;
/// Seconds a tool may take that says nothing.
const DEFAULT_TIMEOUT_SECONDS: u64 = 60;
/// The longest a tool may ask for: a day, as for commands.
const MOST_TIMEOUT_SECONDS: u64 = 86_400;
/// What begins the names of tools that a model runs flows by.
const NESTED: &str = "run_workflow_";

/// A manifest without errors.
#[derive(Debug, Clone, Default)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) tools: Vec<ManifestTool>,
}

/// A tool as its plugin declares it, not yet trusted.
#[derive(Debug, Clone)]
pub(super) struct ManifestTool {
    pub(super) declaration: ToolDeclaration,
    pub(super) run: RunSpec,
}

/// How a tool is run.
#[derive(Debug, Clone)]
pub(super) struct RunSpec {
    /// The program first.
    pub(super) command: Vec<Template>,
    pub(super) input: InputForm,
    pub(super) output: OutputForm,
    /// Of `run`: it counts beside the node's. The declaration's counts only when there is neither.
    pub(super) timeout: Option<Duration>,
    /// Variables of the worker that pass, secrets among them.
    pub(super) environment: Vec<String>,
    pub(super) limits: UnitLimits,
}

/// What a program finds on its standard input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) enum InputForm {
    #[default]
    #[serde(rename = "stdin-json")]
    Json,
    #[serde(rename = "none")]
    None,
}

/// What its standard output is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) enum OutputForm {
    #[default]
    #[serde(rename = "stdout-json")]
    Json,
    #[serde(rename = "text")]
    Text,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[expect(dead_code, reason = "it has to be there; its value is looked at before anything else")]
    schema: u64,
    id: String,
    name: String,
    version: String,
    #[serde(default)]
    tools: Vec<WrittenTool>,
    #[serde(default)]
    hooks: Option<Value>,
    #[serde(default)]
    permissions: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenTool {
    name: String,
    title: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    effect: Effect,
    #[serde(default)]
    idempotent: Idempotent,
    #[serde(default)]
    group: String,
    #[serde(default)]
    ports: Vec<String>,
    input_schema: Value,
    output_schema: Option<Value>,
    timeout_seconds: Option<u64>,
    node: Option<NodeDisplay>,
    run: WrittenRun,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenRun {
    command: Vec<String>,
    #[serde(default)]
    input: InputForm,
    #[serde(default)]
    output: OutputForm,
    timeout_seconds: Option<u64>,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    limits: WrittenLimits,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenLimits {
    memory_mb: Option<u64>,
    processes: Option<u64>,
    file_mb: Option<u64>,
}

/// What a manifest says, and what is wrong with it. The manifest is there when its shape is right, also beside
/// errors, so that a plugin can be shown.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) manifest: Option<Manifest>,
    pub(super) findings: Vec<PluginFinding>,
}

/// An error of this kind at this place.
pub(super) fn error(code: &str, path: impl Into<String>, message: impl Into<String>) -> PluginFinding {
    PluginFinding { code: code.to_owned(), severity: Severity::Error, path: path.into(), message: message.into() }
}

fn warning(code: &str, path: impl Into<String>, message: impl Into<String>) -> PluginFinding {
    PluginFinding { severity: Severity::Warning, ..error(code, path, message) }
}

/// Whether a limit of a tool's processes is held where its manifest is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessLimits {
    Held,
    NotHeld,
}

/// What manifests are judged against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground {
    /// Knows the names of built-in tools.
    pub(super) is_reserved: fn(&str) -> bool,
    pub(super) process_limits: ProcessLimits,
}

/// Reads the manifest of the plugin in the folder of this name.
pub(super) fn read(folder: &str, bytes: &[u8], ground: Ground) -> Reading {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(fault) => return refused(vec![error("not_json", "", fault.to_string())]),
    };
    // A newer schema has keys that this build does not know: that it is newer says more than each of them.
    if let Some(schema) = value.get("schema").and_then(Value::as_u64).filter(|schema| *schema != SCHEMA) {
        let message = format!("schema {schema} is none that this version of Weir reads; it reads schema {SCHEMA}");
        return refused(vec![error("unsupported_schema", "schema", message)]);
    }
    let unknown: Vec<_> = shape::MANIFEST.unknown_keys(&value).into_iter().map(unknown_key).collect();
    if !unknown.is_empty() {
        return refused(unknown);
    }
    // From the bytes and not from the value, which has dropped a key that stands twice.
    match serde_json::from_slice::<Written>(bytes) {
        Ok(written) => judge(folder, written, ground),
        Err(fault) => refused(vec![error("wrong_shape", "", fault.to_string())]),
    }
}

fn refused(findings: Vec<PluginFinding>) -> Reading {
    Reading { manifest: None, findings }
}

fn unknown_key(unknown: shape::UnknownKey) -> PluginFinding {
    let near = unknown.nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
    let message = format!("`{}` is no key here{near}", unknown.key);
    error("unknown_key", unknown.path, message)
}

fn judge(folder: &str, written: Written, ground: Ground) -> Reading {
    let mut findings = Vec::new();
    if written.id != folder {
        let message =
            format!("the id is `{}`, and the folder's name is `{folder}`: they have to be the same", written.id);
        findings.push(error("bad_id", "id", message));
    }
    if !is_id(folder) {
        let message = "an id is 1 to 64 small letters, digits and hyphens, and begins with a letter or a digit";
        findings.push(error("bad_id", "id", message));
    }
    if written.name.trim().is_empty() {
        findings.push(error("bad_name", "name", "the name is empty"));
    }
    if written.hooks.as_ref().is_some_and(|hooks| !is_empty(hooks)) {
        let message = "this version of Weir runs no hooks of plugins, so the plugin as a whole is refused";
        findings.push(error("not_supported_yet", "hooks", message));
    }
    if written.permissions.is_some_and(|permissions| !permissions.is_empty()) {
        let message = "this version of Weir has no sandbox: the plugin's programs may do all that the user may";
        findings.push(warning("not_enforced", "permissions", message));
    }
    if written.tools.len() > MOST_TOOLS {
        findings.push(error("too_many_tools", "tools", format!("a plugin has at most {MOST_TOOLS} tools")));
    }
    let mut tools: Vec<ManifestTool> = Vec::new();
    for (index, tool) in written.tools.into_iter().enumerate() {
        let at = format!("tools[{index}]");
        let mut judging = Judging { at, process_limits: ground.process_limits, findings: &mut findings };
        if (ground.is_reserved)(&tool.name) || tool.name.starts_with(NESTED) {
            judging.fault("reserved_name", "name", format!("`{}` is the name of a built-in tool", tool.name));
        }
        if tools.iter().any(|other| other.declaration.name == tool.name) {
            judging.fault("duplicate_tool", "name", format!("two tools of the plugin are called `{}`", tool.name));
        }
        tools.extend(judging.tool(folder, tool));
    }
    Reading { manifest: Some(Manifest { name: written.name, version: written.version, tools }), findings }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Ids stand in addresses and file names.
pub(super) fn is_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=64).contains(&bytes.len())
        && bytes.first().is_some_and(plain)
        && bytes.iter().all(|byte| plain(byte) || *byte == b'-')
}

/// One tool being judged.
struct Judging<'f> {
    at: String,
    process_limits: ProcessLimits,
    findings: &'f mut Vec<PluginFinding>,
}

impl Judging<'_> {
    fn fault(&mut self, code: &str, place: &str, message: impl Into<String>) {
        self.findings.push(error(code, format!("{}.{place}", self.at), message));
    }

    /// The tool, as far as it can be used.
    fn tool(&mut self, plugin: &str, written: WrittenTool) -> Option<ManifestTool> {
        if let Err(fault) = written.name.parse::<ToolName>() {
            self.fault("bad_name", "name", fault.to_string());
        }
        self.schema("inputSchema", &written.input_schema);
        if written.input_schema.get("type").is_some_and(|kind| kind != "object") {
            self.fault("bad_schema", "inputSchema.type", "the arguments of a tool are an object");
        }
        if let Some(schema) = &written.output_schema {
            self.schema("outputSchema", schema);
        }
        self.timeout("timeoutSeconds", written.timeout_seconds);
        if let Some(node) = &written.node {
            self.display(node);
        }
        let run = self.run(&written.run, &written.input_schema)?;
        let declaration = ToolDeclaration {
            title: written.title.unwrap_or_else(|| written.name.clone()),
            name: written.name,
            description: written.description,
            effect: written.effect,
            idempotent: written.idempotent,
            group: written.group,
            ports: written.ports,
            input_schema: written.input_schema,
            output_schema: written.output_schema,
            timeout_seconds: Some(written.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS)),
            source: plugin.to_owned(),
            trusted: false,
            counts_as: None,
            node: written.node,
        };
        Some(ManifestTool { declaration, run })
    }

    fn schema(&mut self, name: &str, schema: &Value) {
        for problem in check_schema(schema) {
            let path = problem.pointer.to_path();
            let place = if path.is_empty() { name.to_owned() } else { format!("{name}.{path}") };
            self.fault("bad_schema", &place, problem.problem);
        }
    }

    fn timeout(&mut self, name: &str, seconds: Option<u64>) {
        if seconds.is_some_and(|seconds| !(1..=MOST_TIMEOUT_SECONDS).contains(&seconds)) {
            self.fault("bad_timeout", name, format!("a timeout is 1 to {MOST_TIMEOUT_SECONDS} seconds"));
        }
    }

    fn display(&mut self, node: &NodeDisplay) {
        let is_color = |text: &str| {
            text.strip_prefix('#')
                .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        };
        if node.color.as_deref().is_some_and(|color| !is_color(color)) {
            self.fault("bad_display", "node.color", "a colour is written `#rrggbb`");
        }
        if node.docs_url.as_deref().is_some_and(|url| !url.starts_with("https://")) {
            self.fault("bad_display", "node.docsUrl", "a link begins with `https://`");
        }
    }

    fn run(&mut self, written: &WrittenRun, input_schema: &Value) -> Option<RunSpec> {
        self.timeout("run.timeoutSeconds", written.timeout_seconds);
        for (index, name) in written.env.iter().enumerate() {
            if let Some(reason) = never_passes(name) {
                self.fault("bad_variable", &format!("run.env[{index}]"), format!("`{name}` {reason}"));
            }
        }
        let WrittenLimits { memory_mb, processes, file_mb } = written.limits;
        for (name, limit) in [("memoryMb", memory_mb), ("processes", processes), ("fileMb", file_mb)] {
            if limit == Some(0) {
                self.fault("bad_limit", &format!("run.limits.{name}"), "a limit is 1 or more");
            }
        }
        if processes.is_some() && self.process_limits == ProcessLimits::NotHeld {
            let message = "a limit of processes needs a control group, and the worker has none here that counts \
                           processes; see `cgroup.directory` in the settings";
            self.findings.push(warning("not_enforced", format!("{}.run.limits.processes", self.at), message));
        }
        if written.command.first().is_none_or(|program| program.is_empty() || program.contains("{{")) {
            self.fault("bad_command", "run.command", "the first word is the program, as it is");
            return None;
        }
        let command: Vec<_> =
            written.command.iter().enumerate().filter_map(|it| self.argument(it, input_schema)).collect();
        (command.len() == written.command.len()).then(|| RunSpec {
            command,
            input: written.input,
            output: written.output,
            timeout: written.timeout_seconds.map(Duration::from_secs),
            environment: written.env.clone(),
            limits: UnitLimits {
                memory_mb: written.limits.memory_mb,
                processes: written.limits.processes,
                file_mb: written.limits.file_mb,
            },
        })
    }

    /// An argument whose references name arguments that the tool has.
    fn argument(&mut self, (index, text): (usize, &String), input_schema: &Value) -> Option<Template> {
        let place = format!("run.command[{index}]");
        if text.contains('\0') {
            self.fault("bad_command", &place, "an argument cannot hold a NUL character");
        }
        let template = match Template::read(text) {
            Ok(template) => template,
            Err(fault) => {
                self.fault("bad_command", &place, fault);
                return None;
            }
        };
        let properties = input_schema.get("properties").and_then(Value::as_object);
        for name in template.names().filter(|name| properties.is_none_or(|known| !known.contains_key(*name))) {
            self.fault("bad_command", &place, format!("the input schema has no argument `{name}`"));
        }
        Some(template)
    }
}

/// Why a variable of the worker never reaches a plugin, also when it is listed.
fn never_passes(name: &str) -> Option<&'static str> {
    let plain = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match name {
        _ if !plain => Some("is no name of a variable"),
        _ if name.starts_with("WEIR_") => Some("is the worker's own and never passes"),
        _ => None,
    }
}
