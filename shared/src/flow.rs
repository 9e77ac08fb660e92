//! A flow as it is written: typed, complete, in the order of the file.
//!
//! These types hold what a readable file says and nothing derived. They are made by the strict reader (`read`),
//! printed by `canonical`, judged by `check` and turned into a plan by `compile`. They serialise to the same shape
//! as the file (camelCase keys), but serde is not the reader: it would lose spans, doubled keys and unknown keys.
//! Ids inside nodes and edges are plain text here, since a file with a bad id must still open, and be reported.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The newest file format this build reads and writes.
pub const FORMAT: u64 = 1;

/// Keys beginning with `x-`: kept, in the author's order, after the known keys of the object they stand in.
pub type Extensions = Map<String, Value>;

/// One authored flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Flow {
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    pub format: u64,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A template: what a run is for, shown in its history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// JSON Schema 2020-12 with an object at its root, as written (so also when it is not valid).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedules: Option<Vec<Schedule>>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// Node id → the value served instead of calling the tool.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub pins: Map<String, Value>,
    /// Node id (or `$start`) → place, in canvas units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub layout: BTreeMap<String, Place>,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Map<String, Value>))]
    pub extensions: Extensions,
}

/// The key of the start node's place in `layout`. Start is not a node of the file: its fields are `inputs`.
pub const START: &str = "$start";

/// One call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Node {
    pub id: String,
    pub tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<bool>,
    /// The author's word that this call is safe to repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// Arguments of the tool; every string at any depth is a template. Absent when the file has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Map<String, Value>>,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Map<String, Value>))]
    pub extensions: Extensions,
}

impl Node {
    /// What a person calls this node: its title, else its id.
    pub fn label(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.id)
    }
}

/// An order between two nodes; with a port, only when the source took that branch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Edge {
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    pub target: String,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Map<String, Value>))]
    pub extensions: Extensions,
}

/// What happens to the rest of a run when a step fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// No new step starts; those in flight finish.
    #[default]
    Finish,
    /// Those in flight are cancelled.
    Cancel,
}

/// How many runs of this flow may go on at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Concurrency {
    pub limit: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_limit: Option<OnLimit>,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Map<String, Value>))]
    pub extensions: Extensions,
}

/// What a run meets when its flow's limit is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum OnLimit {
    #[default]
    Queue,
    Skip,
    CancelOldest,
}

/// Attempts of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// 1 to 5, the first attempt included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u64>,
    /// 0 to 30,000; doubled for each further attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff_ms: Option<u64>,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Map<String, Value>))]
    pub extensions: Extensions,
}

/// How a running step is asked to stop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Stop {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<StopSignal>,
    /// 0 to 600 seconds from the signal to SIGKILL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u64>,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Map<String, Value>))]
    pub extensions: Extensions,
}

/// The first signal of the stop ladder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum StopSignal {
    #[default]
    Term,
    Int,
    Hup,
    Quit,
    Usr1,
    Usr2,
    Kill,
}

impl StopSignal {
    /// Every signal a flow may name, as it is written there.
    pub const NAMES: [&str; 7] = ["TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "KILL"];
}

/// When a published flow starts by itself. Read and checked as written; times are worked out by the worker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calendar: Option<Calendar>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurring: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fire_immediately: Option<bool>,
    /// RFC 3339; a null that was written is kept as one.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "written_null")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub expires_at: Option<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Overlap>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catch_up: Option<CatchUp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Map<String, Value>))]
    pub extensions: Extensions,
}

/// A rule of a wall calendar.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Calendar {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    /// `HH:mm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// 1 (Monday) to 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weekdays: Option<Vec<u64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub month_day: Option<MonthDay>,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Map<String, Value>))]
    pub extensions: Extensions,
}

/// How often a calendar rule comes round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Frequency {
    Daily,
    Weekly,
    Monthly,
}

/// A day of the month: 1 to 31, or the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum MonthDay {
    Day(u64),
    Last(LastDay),
}

/// The word `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum LastDay {
    Last,
}

/// What a fire does while the previous run of its schedule is still going.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    #[default]
    Skip,
    Queue,
    Allow,
}

/// Which missed fires are made up for after downtime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum CatchUp {
    #[default]
    Latest,
    None,
    All,
}

/// How much a run may do without asking; a wider mode is a greater one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PermissionMode {
    #[default]
    AskForApproval,
    ApproveForMe,
    FullAccess,
}

impl PermissionMode {
    /// The mode as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AskForApproval => "ask-for-approval",
            Self::ApproveForMe => "approve-for-me",
            Self::FullAccess => "full-access",
        }
    }
}

/// A remark on the canvas.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Note {
    pub id: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<NoteColor>,
    pub x: i64,
    pub y: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Map<String, Value>))]
    pub extensions: Extensions,
}

/// The four colours of notes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum NoteColor {
    #[default]
    Yellow,
    Green,
    Blue,
    Pink,
}

/// A place on the canvas, in canvas units, of a card's top left corner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Place {
    pub x: i64,
    pub y: i64,
}

impl Flow {
    /// A flow with a name, a start node and nothing else.
    pub fn new(name: &str) -> Self {
        Self {
            format: FORMAT,
            name: name.to_owned(),
            layout: BTreeMap::from([(START.to_owned(), Place::default())]),
            ..Self::default()
        }
    }

    /// The node with this id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }
}

/// Serde support for a key whose `null` means something else than its absence.
mod written_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde's `with` passes the field by reference")]
    #[expect(clippy::option_option, reason = "absent, null and a value are three different things here")]
    pub(super) fn serialize<S: Serializer>(value: &Option<Option<String>>, serializer: S) -> Result<S::Ok, S::Error> {
        value.as_ref().and_then(Option::as_ref).serialize(serializer)
    }

    #[expect(clippy::option_option, reason = "absent, null and a value are three different things here")]
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
        Option::<String>::deserialize(deserializer).map(Some)
    }
}
