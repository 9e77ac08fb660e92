//! One problem in a flow: what, how bad, where, and what to do next.
//!
//! Findings are made only by `read`, `check` and `bind`, so that page, worker and command line say the same. A
//! finding is a code with parameters; its English text is made from them in `message`, and a page may make another.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How bad a finding is. A flow with an error opens and saves, and is refused when it should run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Warning,
    Error,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $severity:ident;)*) => {
        /// The closed set of finding codes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
        }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The code as it stands in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// How bad this kind of finding is.
            pub fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// Not JSON, or not the shape of a flow.
    UnreadableFile = "unreadable_file", Error;
    /// Written by a newer Weir.
    UnsupportedFormat = "unsupported_format", Error;
    UnknownKey = "unknown_key", Error;
    DuplicateKey = "duplicate_key", Error;
    /// An integer that neither i64 nor u64 holds, or a number that no double holds.
    NumberOutOfRange = "number_out_of_range", Error;
    EmptyFlow = "empty_flow", Warning;
    BadFlowId = "bad_flow_id", Error;
    BadName = "bad_name", Error;
    BadRetry = "bad_retry", Error;
    BadStop = "bad_stop", Error;
    BadTimeout = "bad_timeout", Error;
    BadConcurrency = "bad_concurrency", Error;
    DuplicateNode = "duplicate_node", Error;
    BadNodeId = "bad_node_id", Error;
    UnavailableTool = "unavailable_tool", Error;
    UntrustedTool = "untrusted_tool", Error;
    MissingArgument = "missing_argument", Error;
    InvalidArguments = "invalid_arguments", Error;
    DanglingEdge = "dangling_edge", Error;
    DuplicateEdge = "duplicate_edge", Error;
    SelfEdge = "self_edge", Error;
    UnknownPort = "unknown_port", Error;
    Cycle = "cycle", Error;
    UndeclaredInput = "undeclared_input", Error;
    UnknownNodeReference = "unknown_node_reference", Error;
    MalformedReference = "malformed_reference", Error;
    UnknownFieldReference = "unknown_field_reference", Warning;
    TypeMismatch = "type_mismatch", Error;
    UnsafeRetry = "unsafe_retry", Error;
    NestedWorkflow = "nested_workflow", Error;
    TooManySteps = "too_many_steps", Error;
    TooLarge = "too_large", Error;
    PinTooLarge = "pin_too_large", Error;
    PinContradictsSchema = "pin_contradicts_schema", Error;
    /// A pin or a layout entry that names no node of the flow.
    UnknownPinNode = "unknown_pin_node", Error;
    ShellContext = "shell_context", Error;
    RawShell = "raw_shell", Warning;
    UnknownSecret = "unknown_secret", Warning;
    Pinned = "pinned", Info;
    Disconnected = "disconnected", Info;
    BadInputSchema = "bad_input_schema", Error;
    BadSchedule = "bad_schedule", Error;
}

impl Code {
    /// Whether a file with this finding has no usable flow at all.
    pub fn makes_unreadable(self) -> bool {
        matches!(self, Code::UnreadableFile | Code::UnknownKey | Code::DuplicateKey | Code::NumberOutOfRange)
    }
}

/// One problem in a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    /// The node it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// The field within the node (`args.command`, `retry.maxAttempts`) or the flow (`inputs`, `edges[3].port`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// From 1, in the text that was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// From 1, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What the message is made from; the keys are fixed per code.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// English, one sentence.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    /// A finding with its words, and no place yet. `params` is an object; its keys are fixed per code (`message`).
    pub fn new(code: Code, params: Value) -> Self {
        let params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        let words = crate::message::words(code, &params);
        Self {
            code,
            severity: code.severity(),
            node_id: None,
            field: None,
            line: None,
            column: None,
            params,
            message: words.message,
            hint: words.hint,
        }
    }

    /// Whether a flow with it may not run.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// How many findings of each weight a flow has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FindingCounts {
    pub errors: usize,
    pub warnings: usize,
}

impl FindingCounts {
    /// Counts a list of findings.
    pub fn of(findings: &[Finding]) -> Self {
        let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
        Self { errors: count(Severity::Error), warnings: count(Severity::Warning) }
    }
}

/// One fault in inputs, a plan or a setting, as answers of the API carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Fault {
    /// Where: `inputs.day`, `steps[3].dependsOn[0]`.
    pub path: String,
    /// A stable word: `required`, `type`, `unknown_tool`.
    pub code: String,
    pub message: String,
}
