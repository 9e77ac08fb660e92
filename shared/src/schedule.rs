//! Schedules on the wire: what is asked for and what is shown.

use serde::{Deserialize, Serialize};

use crate::flow::Calendar;
use crate::ids::Timestamp;
use crate::recurrence::RuleText;

/// Fires that a preview shows when the caller does not say.
pub const PREVIEW_COUNT: usize = 10;
/// Fires of a preview at most.
pub const MOST_PREVIEWED: usize = 100;

/// `POST /api/agent/schedules/preview`: a rule that need not belong to any schedule.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The zone that `local` is in.
    pub time_zone: String,
    /// Fewer than asked for when no more come.
    pub fires: Vec<NextFire>,
}

/// One fire to come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NextFire {
    pub utc: Timestamp,
    /// RFC 3339 with the offset of the zone at that moment.
    pub local: String,
}
