//! Schedules on the wire: what is asked for and what is shown.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::flow::{Calendar, CatchUp, Frequency, MonthDay, Overlap, PermissionMode};
use crate::ids::{FlowId, Owner, RunId, ScheduleId, TaskId, Timestamp};
use crate::recurrence::RuleText;
use crate::run::event::SandboxPosture;

/// Schedules of one owner that are active or paused, at most.
pub const MOST_SCHEDULES: usize = 50;
/// Fires that an answer shows when the caller does not say, and at most.
pub const FIRES_SHOWN: usize = 20;
pub const MOST_FIRES_SHOWN: usize = 1_000;

/// Fires that a preview shows when the caller does not say.
pub const PREVIEW_COUNT: usize = 10;
/// Fires of a preview at most.
pub const MOST_PREVIEWED: usize = 100;

/// `POST /api/agent/schedules/preview`: a rule that need not belong to any schedule.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calendar: Option<Calendar>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_seconds: Option<u64>,
    /// An IANA name; left out: the machine's zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// Fires after this moment; left out: after now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}

impl PreviewRequest {
    /// The keys that say when.
    pub fn rule(&self) -> RuleText<'_> {
        RuleText {
            calendar: self.calendar.as_ref(),
            cron: self.cron.as_deref(),
            interval_seconds: self.interval_seconds,
        }
    }
}

/// When a rule comes round next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The zone that `local` is in.
    pub time_zone: String,
    /// Fewer than asked for when no more come.
    pub fires: Vec<NextFire>,
}

/// One fire to come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct NextFire {
    pub utc: Timestamp,
    /// RFC 3339 with the offset of the zone at that moment.
    pub local: String,
}

/// `POST /api/agent/schedules`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateSchedule {
    pub workflow_id: FlowId,
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
    /// False: one fire, at the first time that comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurring: Option<bool>,
    /// One more fire, at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fire_immediately: Option<bool>,
    /// Left out, an interval expires after a week; null: never.
    #[serde(default, skip_serializing_if = "Said::is_nothing")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Timestamp>))]
    pub expires_at: Said<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Overlap>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catch_up: Option<CatchUp>,
}

/// `PATCH /api/agent/schedules/{id}`: what is left out stays as it is. Naming one kind of rule replaces another.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangeSchedule {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calendar: Option<Calendar>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_seconds: Option<u64>,
    /// Null: the machine's.
    #[serde(default, skip_serializing_if = "Said::is_nothing")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub time_zone: Said<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurring: Option<bool>,
    /// True: one more fire, at once, if it is active then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fire_immediately: Option<bool>,
    /// Null: never.
    #[serde(default, skip_serializing_if = "Said::is_nothing")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Timestamp>))]
    pub expires_at: Said<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Overlap>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catch_up: Option<CatchUp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

/// What a body says of a key whose `null` means something else than its absence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Said<T> {
    #[default]
    Nothing,
    Null,
    Value(T),
}

impl<T> Said<T> {
    /// Whether the key is left out.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Said::Nothing)
    }
}

impl<T: Serialize> Serialize for Said<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Said::Nothing | Said::Null => serializer.serialize_none(),
            Said::Value(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Said<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.map_or(Said::Null, Said::Value))
    }
}

/// Where a schedule is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ScheduleSource {
    /// In the published version of its flow.
    File,
    /// In the store of this worker.
    Api,
}

/// How a schedule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ScheduleState {
    Active,
    Paused,
    /// Its one fire, or its last one, is over.
    Completed,
    Expired,
    /// It was removed.
    Cancelled,
}

impl ScheduleState {
    /// Whether it counts against the owner's schedules.
    pub fn is_counted(self) -> bool {
        matches!(self, ScheduleState::Active | ScheduleState::Paused)
    }
}

/// Why a schedule is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// Somebody paused it.
    Person,
    /// `enabled: false` in its file.
    Disabled,
    FlowMissing,
    Unpublished,
    /// The newest published version is not accepted on this machine, or is not what was accepted.
    Unaccepted,
    /// The published version has errors here, such as a tool that is gone.
    FlowInvalid,
    /// A step could open a gate, which nobody would answer.
    CouldOpenGates,
    UnknownTimeZone,
    /// The owner has as many schedules as may be.
    TooManySchedules,
    SandboxWeakened,
}

impl PauseReason {
    /// The reason for people.
    pub fn words(self) -> &'static str {
        match self {
            PauseReason::Person => "by a person",
            PauseReason::Disabled => "switched off in its file",
            PauseReason::FlowMissing => "its flow is gone",
            PauseReason::Unpublished => "its flow is not published",
            PauseReason::Unaccepted => "the published version is not accepted here",
            PauseReason::FlowInvalid => "the published version has errors here",
            PauseReason::CouldOpenGates => "a step could open a gate",
            PauseReason::UnknownTimeZone => "its time zone is unknown here",
            PauseReason::TooManySchedules => "its owner has too many schedules",
            PauseReason::SandboxWeakened => "the sandbox is weaker than it was",
        }
    }
}

/// A schedule as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScheduleRow {
    pub schedule_id: ScheduleId,
    pub workflow_id: FlowId,
    pub name: Option<String>,
    pub owner: Owner,
    pub source: ScheduleSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calendar: Option<Calendar>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_seconds: Option<u64>,
    pub time_zone: String,
    pub recurring: bool,
    pub overlap: Overlap,
    pub catch_up: CatchUp,
    pub next_fire_at: Option<Timestamp>,
    pub last_fire_at: Option<Timestamp>,
    pub fires: u64,
    pub missed_fires: u64,
    pub skipped_fires: u64,
    /// Occurrences that came due and wait for the end of the run before them.
    pub waiting_fires: usize,
    pub last_task_id: Option<TaskId>,
    pub last_run_id: Option<RunId>,
    pub last_error: Option<String>,
    pub state: ScheduleState,
    pub paused_reason: Option<PauseReason>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub permission_mode: PermissionMode,
    pub sandbox_profile: SandboxPosture,
    pub inputs: Map<String, Value>,
}

/// `GET /api/agent/schedules`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScheduleList {
    /// Oldest first.
    pub schedules: Vec<ScheduleRow>,
}

/// What became of an occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum FireOutcome {
    Started,
    /// The worker was not there, and nothing made up for it.
    Missed,
    /// A run of its schedule, or of its flow, was still going.
    Skipped,
    /// No run could be started.
    Failed,
}

/// One occurrence of a schedule, or several that were missed together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Fire {
    /// The time it was due; of several the first.
    pub due_at: Timestamp,
    /// The last of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// How many.
    pub count: u64,
    /// When this was recorded.
    pub at: Timestamp,
    pub outcome: FireOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// `GET /api/agent/schedules/{id}/fires`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FireList {
    /// Newest first.
    pub fires: Vec<Fire>,
}

impl ScheduleRow {
    /// The rule for people, in one line.
    pub fn rule_words(&self) -> String {
        const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        if let Some(cron) = &self.cron {
            return cron.clone();
        }
        if let Some(seconds) = self.interval_seconds {
            return match (seconds % 3_600, seconds % 60) {
                (0, _) => format!("every {} h", seconds / 3_600),
                (_, 0) => format!("every {} min", seconds / 60),
                (_, _) => format!("every {seconds} s"),
            };
        }
        let calendar = self.calendar.clone().unwrap_or_default();
        let time = calendar.time.as_deref().unwrap_or("09:00");
        match calendar.frequency.unwrap_or(Frequency::Daily) {
            Frequency::Daily => format!("daily at {time}"),
            Frequency::Weekly => {
                let days = calendar.weekdays.unwrap_or_default().into_iter();
                let at = |day: u64| usize::try_from(day).ok()?.checked_sub(1);
                let days: Vec<&str> = days.filter_map(|day| DAYS.get(at(day)?).copied()).collect();
                format!("{} at {time}", days.join(", "))
            }
            Frequency::Monthly => match calendar.month_day {
                Some(MonthDay::Day(day)) => format!("day {day} of the month at {time}"),
                Some(MonthDay::Last(_)) | None => format!("last day of the month at {time}"),
            },
        }
    }
}
