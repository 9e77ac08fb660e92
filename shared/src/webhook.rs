//! Webhooks on the wire: triggers, their deliveries, and what a sender is answered.
//!
//! A trigger is an address with a secret of its own. Its secret is in one answer, the one that made it or the one that
//! replaced it, and nowhere else.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::flow::PermissionMode;
use crate::ids::{DeliveryId, FlowId, Owner, RunId, TaskId, Timestamp, TriggerId};
use crate::run::event::SandboxPosture;
use crate::run::state::RunStatus;

/// The header that carries a trigger's secret.
pub const SECRET_HEADER: &str = "X-Weir-Webhook-Secret";
/// The header by which a sender names an event, so that telling it again starts nothing again.
pub const EVENT_ID_HEADER: &str = "X-Weir-Event-Id";
/// Characters of an event's name.
pub const EVENT_ID_CHARS: usize = 200;
/// Bytes of a delivery's body.
pub const DELIVERY_BYTES: u64 = 256 * 1024;
/// Seconds that a sender may wait for the end of the run.
pub const MOST_WAIT_SECONDS: u64 = 60;

/// `POST /api/agent/webhook-triggers`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateTrigger {
    pub workflow_id: FlowId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Inputs that a delivery may override, field by field.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub default_inputs: Map<String, Value>,
    #[serde(default)]
    pub permission_mode: PermissionMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureRule>,
    /// Whether a delivery must carry the trigger's secret. Left out: unless it is signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_secret: Option<bool>,
    /// Left out: the default; null: no limit.
    #[serde(default, skip_serializing_if = "AskedRate::is_standard")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<RateLimit>))]
    pub rate_limit: AskedRate,
}

/// What whoever makes a trigger says of its rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<RateLimit>", into = "Option<RateLimit>")]
pub enum AskedRate {
    /// Nothing.
    #[default]
    Standard,
    Unlimited,
    Limit(RateLimit),
}

impl AskedRate {
    fn is_standard(&self) -> bool {
        matches!(self, Self::Standard)
    }

    /// The limit that holds, if one does.
    pub fn limit(self) -> Option<RateLimit> {
        match self {
            Self::Standard => Some(RateLimit::default()),
            Self::Unlimited => None,
            Self::Limit(limit) => Some(limit),
        }
    }
}

impl From<Option<RateLimit>> for AskedRate {
    fn from(limit: Option<RateLimit>) -> Self {
        limit.map_or(Self::Unlimited, Self::Limit)
    }
}

impl From<AskedRate> for Option<RateLimit> {
    fn from(asked: AskedRate) -> Self {
        asked.limit()
    }
}

/// How a sender signs: HMAC-SHA256 over the exact bytes of the body, keyed by a secret of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignatureRule {
    /// The name of the secret, as in `{{secrets.NAME}}`.
    pub secret: String,
    /// A sender whose way is known. Without one, `header` says where the signature is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<SignaturePreset>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// What stands before the signature in its header, such as `sha256=`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The header with the moment of signing, in seconds since 1970. It is signed too, with a dot between it and the
    /// body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp_header: Option<String>,
    /// How far that moment may be from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance_seconds: Option<u32>,
}

/// A sender whose way of signing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SignaturePreset {
    GitHub,
    Stripe,
    Slack,
}

/// How often a trigger may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateLimit {
    pub per_minute: u32,
    /// Calls that may come at once.
    pub burst: u32,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self { per_minute: 600, burst: 100 }
    }
}

/// A trigger, as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Trigger {
    pub trigger_id: TriggerId,
    pub workflow_id: FlowId,
    pub name: Option<String>,
    pub owner: Owner,
    /// Where deliveries are posted to, on this worker.
    pub path: String,
    /// The header of the secret; absent where only a signature is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_header: Option<String>,
    pub event_id_header: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureRule>,
    pub rate_limit: Option<RateLimit>,
    pub default_inputs: Map<String, Value>,
    pub permission_mode: PermissionMode,
    /// What confined the runs of this worker when the trigger was made.
    pub sandbox_profile: SandboxPosture,
    pub state: TriggerState,
    /// Why it is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<PausedReason>,
    pub created_at: Timestamp,
    /// When its secret was last replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotated_at: Option<Timestamp>,
    /// The newest accepted call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_delivery: Option<Delivery>,
}

/// Whether a trigger takes deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum TriggerState {
    Active,
    Paused,
}

/// Why a trigger takes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PausedReason {
    /// The flow's file is not there.
    FlowMissing,
    /// No version of the flow is active on this machine.
    NotPublished,
    /// The active version has errors, such as a tool that went away.
    FlowInvalid,
    /// The active version could need a person: one was published since the trigger was made.
    NeedsPerson,
    /// Runs are confined less than they were when the trigger was made.
    SandboxWeakened,
}

/// `GET /api/agent/webhook-triggers`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TriggerList {
    /// Newest first.
    pub triggers: Vec<Trigger>,
}

/// What making a trigger, or replacing its secret, answers: the only place that holds the secret.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TriggerSecret {
    #[serde(flatten)]
    pub trigger: Trigger,
    /// Absent where only a signature is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    pub url: String,
    /// A line for a shell that delivers an empty body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curl: Option<String>,
}

impl std::fmt::Debug for TriggerSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TriggerSecret").field("trigger", &self.trigger).finish_non_exhaustive()
    }
}

/// Where a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum DeliveryStatus {
    /// Its event is claimed and its run not recorded. Both happen in one commit, so this is never seen.
    Claimed,
    Queued,
    /// Its run has started; also while it waits for a person.
    Submitted,
    Completed,
    Failed,
    Cancelled,
    /// The worker ended before the run did.
    Interrupted,
}

impl DeliveryStatus {
    /// The status of a delivery whose run has this one.
    pub fn of(run: RunStatus) -> Self {
        match run {
            RunStatus::Queued => Self::Queued,
            RunStatus::Planning
            | RunStatus::AwaitingPlanApproval
            | RunStatus::Executing
            | RunStatus::AwaitingStepApproval => Self::Submitted,
            RunStatus::Completed => Self::Completed,
            RunStatus::Failed => Self::Failed,
            RunStatus::Cancelled => Self::Cancelled,
            RunStatus::Interrupted => Self::Interrupted,
        }
    }
}

/// One accepted call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    pub delivery_id: DeliveryId,
    pub status: DeliveryStatus,
    pub accepted_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    pub duration_ms: Option<u64>,
    pub task_id: TaskId,
    pub run_id: RunId,
    /// Whether its sender named the event.
    pub idempotency_key_present: bool,
    /// Further calls with the same event, which started nothing.
    pub duplicates: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `GET /api/agent/webhook-triggers/{id}/deliveries`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeliveryList {
    /// Newest first.
    pub deliveries: Vec<Delivery>,
}

/// What a sender is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeliveryAnswer {
    pub trigger_id: TriggerId,
    pub task_id: TaskId,
    pub run_id: RunId,
    pub accepted: bool,
    /// An earlier call with the same event started the run.
    pub duplicate: bool,
    pub delivery_status: DeliveryStatus,
    /// How the run ended; only where the sender waited for that (`?wait=`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<RunStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_limit_left_out_is_not_one_that_is_off() {
        let read = |text: &str| serde_json::from_str::<CreateTrigger>(text).unwrap().rate_limit;
        assert_eq!(read(r#"{"workflowId":"a"}"#).limit(), Some(RateLimit { per_minute: 600, burst: 100 }));
        assert_eq!(read(r#"{"workflowId":"a","rateLimit":null}"#).limit(), None);
        let slow = RateLimit { per_minute: 6, burst: 1 };
        assert_eq!(read(r#"{"workflowId":"a","rateLimit":{"perMinute":6,"burst":1}}"#).limit(), Some(slow));
    }

    #[test]
    fn a_secret_does_not_show_in_debug() {
        let trigger = r#"{"triggerId":"01890a5d-ac96-774b-bcce-b302099a8057","workflowId":"a","name":null,
            "owner":"local","path":"/","eventIdHeader":"e","rateLimit":null,"defaultInputs":{},
            "permissionMode":"full-access","sandboxProfile":"off","state":"active",
            "createdAt":"2026-11-30T22:16:40.123Z","secret":"shown-once","url":"http://x/","curl":"curl shown-once"}"#;
        let made: TriggerSecret = serde_json::from_str(trigger).unwrap();
        assert_eq!(made.secret.as_deref(), Some("shown-once"));
        assert!(!format!("{made:?}").contains("shown-once"));
    }
}
