//! The executable form of a flow: steps in order, each depending on earlier ones only.
//!
//! A plan comes from `compile`, from an API caller or (later) from a model; `check_plan` judges all of them before
//! any tool runs. It is kept in the journal, so its JSON shape is part of the store's format.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::flow::{OnFailure, StopSignal};
use crate::ids::{NodeId, StepIndex, ToolName};
use crate::limits::DEFAULT_GRACE_SECONDS;

/// What a run executes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    #[serde(default)]
    pub goal: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default)]
    pub on_failure: OnFailure,
    #[serde(default)]
    pub steps: Vec<Step>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// Its position in the plan.
    pub index: StepIndex,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    pub tool_name: ToolName,
    /// Templates; references name steps (`steps.N`), `last` or `inputs`.
    #[serde(default)]
    pub args: Map<String, Value>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default)]
    pub requires_approval: bool,
    #[serde(default)]
    pub depends_on: Vec<StepIndex>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_when: Vec<RunWhen>,
    #[serde(default)]
    pub idempotent: bool,
    #[serde(default)]
    pub retry_policy: RetryPolicy,
    /// The node's own timeout of one attempt, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(default)]
    pub stop: StopPolicy,
    #[serde(default)]
    pub disabled: bool,
    /// Served instead of calling the tool. Absent: no pin; null is a value.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub pinned_result: Option<Value>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Runs only when an earlier step took one of these branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunWhen {
    pub step: StepIndex,
    /// Compared with the text of the step's `result.branch`.
    #[serde(rename = "in")]
    pub ports: Vec<String>,
}

impl<'de> Deserialize<'de> for RunWhen {
    /// Reads `{step, in: [..]}` and the shorter `{step, equals: ".."}`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            step: StepIndex,
            #[serde(rename = "in")]
            ports: Option<Vec<String>>,
            equals: Option<String>,
        }
        let written = Written::deserialize(deserializer)?;
        let ports = match (written.ports, written.equals) {
            (Some(ports), None) => ports,
            (None, Some(port)) => vec![port],
            _ => return Err(serde::de::Error::custom("runWhen takes either `in` or `equals`")),
        };
        Ok(Self { step: written.step, ports })
    }
}

/// How often a step is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RetryPolicy {
    /// 1 to 5, the first attempt included.
    pub max_attempts: u32,
    /// Wait before the second attempt in milliseconds, 0 to 30,000; doubled for each further one.
    pub backoff_ms: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 1, backoff_ms: 0 }
    }
}

/// How a running step is asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StopPolicy {
    pub signal: StopSignal,
    /// Seconds from the signal to SIGKILL, 0 to 600.
    pub grace_seconds: u64,
}

impl Default for StopPolicy {
    fn default() -> Self {
        Self { signal: StopSignal::Term, grace_seconds: DEFAULT_GRACE_SECONDS }
    }
}

impl Plan {
    /// The step at this index.
    pub fn step(&self, index: StepIndex) -> Option<&Step> {
        self.steps.get(index.at())
    }
}

impl Step {
    /// A step with nothing but what is required.
    pub fn new(index: StepIndex, tool_name: ToolName) -> Self {
        Self {
            index,
            node_id: None,
            title: String::new(),
            tool_name,
            args: Map::new(),
            description: String::new(),
            requires_approval: false,
            depends_on: Vec::new(),
            run_when: Vec::new(),
            idempotent: false,
            retry_policy: RetryPolicy::default(),
            timeout_ms: None,
            stop: StopPolicy::default(),
            disabled: false,
            pinned_result: None,
        }
    }

    /// What a person calls this step: its title, else its node, else its tool.
    pub fn label(&self) -> &str {
        if !self.title.trim().is_empty() {
            return &self.title;
        }
        self.node_id.as_ref().map_or(self.tool_name.as_str(), NodeId::as_str)
    }
}
