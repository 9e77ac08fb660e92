//! Published versions: snapshots of a flow that never change, and what is told about them.
//!
//! A snapshot is a file beside the flows. Its text is as stable as a flow's: what is printed here is read back here, and
//! its digest is over the canonical bytes of the flow that it holds, so that any change of it shows.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::canonical;
use crate::diff::FlowDiff;
use crate::flow::Flow;
use crate::ids::{FlowId, Timestamp};
use crate::read::read;
use crate::run::event::RunConfig;
use crate::task::Priority;

/// The format of snapshots that this build writes and reads.
pub const FORMAT: u64 = 1;

/// A snapshot of a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    pub id: FlowId,
    /// From 1, and never given twice.
    pub number: u64,
    pub published_at: Timestamp,
    /// What the file says its digest is.
    pub sha256: String,
    /// Without pins.
    pub flow: Flow,
}

/// Why a file is no snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSnapshot {
    #[error("it is no snapshot: {0}")]
    Shape(String),
    #[error("it has format {0}, and this version of Weir reads format {FORMAT}")]
    Format(u64),
    #[error("the flow in it cannot be read: {0}")]
    Flow(String),
    #[error("it says that it is number {number} of `{id}`, which its place does not")]
    Misplaced { id: FlowId, number: u64 },
    #[error("its digest is not that of the flow in it: it was changed after it was published")]
    Digest,
}

/// A snapshot as it is written. Its key for the flow is last: it is long.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    id: FlowId,
    number: u64,
    published_at: Timestamp,
    sha256: String,
    flow: Box<RawValue>,
    #[serde(rename = "format")]
    _format: u64,
}

impl Snapshot {
    /// The snapshot of this flow, pins left out.
    pub fn of(flow: &Flow, id: FlowId, number: u64, published_at: Timestamp) -> Self {
        let flow = without_pins(flow);
        Self { id, number, published_at, sha256: digest(&flow), flow }
    }

    /// Its text.
    pub fn print(&self) -> String {
        let Self { id, number, published_at, sha256, flow } = self;
        // A line of a flow's text ends where JSON may have space, never inside a string.
        let flow = canonical::print(flow).trim_end().replace('\n', "\n  ");
        format!(
            "{{\n  \"format\": {FORMAT},\n  \"id\": \"{id}\",\n  \"number\": {number},\n  \
             \"publishedAt\": \"{published_at}\",\n  \"sha256\": \"{sha256}\",\n  \"flow\": {flow}\n}}\n"
        )
    }

    /// Reads what stands at the place of this number of this flow. It is whole and unchanged, or an error.
    pub fn read(bytes: &[u8], id: &FlowId, number: u64) -> Result<Self, BadSnapshot> {
        let shape = |error: serde_json::Error| BadSnapshot::Shape(error.to_string());
        let value: Value = serde_json::from_slice(bytes).map_err(shape)?;
        match value.get("format").and_then(Value::as_u64) {
            Some(FORMAT) => {}
            Some(other) => return Err(BadSnapshot::Format(other)),
            None => return Err(BadSnapshot::Shape("it has no `format`".to_owned())),
        }
        let written: Written = serde_json::from_slice(bytes).map_err(shape)?;
        // As far in as in a flow's file, whose size is bounded. No text of JSON has a line break in it.
        let flow = written.flow.get().replace("\n  ", "\n");
        let reading = read(flow.as_bytes());
        let is_writable = reading.is_writable();
        let Some(flow) = reading.flow.filter(|_| is_writable) else {
            let first = reading.findings.first().map(|finding| finding.message.clone());
            return Err(BadSnapshot::Flow(first.unwrap_or_default()));
        };
        if written.id != *id || written.number != number {
            return Err(BadSnapshot::Misplaced { id: written.id, number: written.number });
        }
        if digest(&flow) != written.sha256 {
            return Err(BadSnapshot::Digest);
        }
        let Written { published_at, sha256, .. } = written;
        Ok(Self { id: id.clone(), number, published_at, sha256, flow })
    }
}

/// The flow as it is published.
pub fn without_pins(flow: &Flow) -> Flow {
    Flow { pins: serde_json::Map::new(), ..flow.clone() }
}

/// SHA-256 of a flow's canonical bytes, in hexadecimal.
pub fn digest(flow: &Flow) -> String {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(canonical::print(flow).as_bytes());
    digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// How a version stands on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// What schedules and webhooks run.
    Active,
    /// It was, or would be if those after it were not there.
    Accepted,
    /// It came from elsewhere, and nobody here has accepted it.
    Unaccepted,
    /// It is not what was accepted, or not what was published.
    Tampered,
    /// It cannot be read.
    Unreadable,
}

/// One version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct VersionView {
    pub number: u64,
    pub standing: Standing,
    /// Of one that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Timestamp>,
    /// Of the flow as it is in the file now: what `accept` wants to hear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_count: Option<usize>,
    /// Why it is tampered with or unreadable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Asked for one version alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
}

/// `GET /api/workflows/{id}/revisions`, and what publishing and accepting answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct VersionList {
    pub id: FlowId,
    #[serde(flatten)]
    pub state: PublishState,
    /// Whoever made it, newest first.
    pub versions: Vec<VersionView>,
}

/// Whether a flow is published, in short.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PublishState {
    /// Whether there is an active version.
    pub published: bool,
    pub published_version: Option<u64>,
    /// Whether the file differs from the active version, or there is none.
    pub has_unpublished_changes: bool,
}

/// `POST /api/workflows/{id}/publish`.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Publish {
    /// False: take the flow out of service.
    #[serde(default = "yes")]
    pub published: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<String>,
}

fn yes() -> bool {
    true
}

/// `POST /api/workflows/{id}/accept`.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Accept {
    pub number: u64,
    /// Of the version that was looked at.
    pub sha256: String,
}

/// `POST /api/workflows/{id}/revisions/{n}/restore`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Restore {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<String>,
}

/// `POST /api/workflows/{id}/rename`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rename {
    pub to: String,
    #[serde(default)]
    pub expected_revision: Option<String>,
}

/// `POST /api/workflows/{id}/duplicate`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Duplicate {
    /// The id of the copy; one is made from the original's when none is given.
    pub to: Option<String>,
}

/// `GET /api/workflows/{id}/diff`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VersionDiff {
    /// `draft`, or a number.
    pub from: String,
    pub to: String,
    /// Unified, of the canonical texts; empty when they are the same.
    pub text: String,
    #[serde(flatten)]
    pub flow: FlowDiff,
}

/// `POST /api/agent/tasks`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartTask {
    pub workflow_id: FlowId,
    #[serde(default)]
    pub inputs: serde_json::Map<String, Value>,
    #[serde(default)]
    pub permission_mode: Option<crate::flow::PermissionMode>,
    #[serde(default)]
    pub priority: Option<Priority>,
}

impl StartTask {
    /// The configuration of its run.
    pub fn config(&self) -> RunConfig {
        let chosen = RunConfig::default();
        RunConfig { permission_mode: self.permission_mode.unwrap_or(chosen.permission_mode), ..chosen }
    }
}
