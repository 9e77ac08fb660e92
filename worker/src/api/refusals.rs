//! Which refusals a route may answer with: `problem` makes them, this says which to expect where.
//!
//! One constant for each error that a route can meet, beside what every route refuses with. A worker that is built for
//! tests stops at a refusal which its route does not tell.

use super::route::{Entry, Route, Takes};

/// Statuses with codes of problems.
pub(super) type Refusals = &'static [(u16, &'static str)];

/// What the door and the reading of a request refuse with.
const DOOR: Refusals = &[
    (400, "bad_query"),
    (400, "bad_parameter"),
    (400, "cut_off"),
    (400, "duplicate_parameter"),
    (400, "unknown_parameter"),
    (403, "foreign_origin"),
    (408, "too_slow"),
    (413, "too_large"),
    (415, "content_encoding"),
    (421, "unknown_host"),
    (500, "internal"),
    (507, "storage_full"),
];
/// What it refuses those with who are not known.
const CALLER: Refusals = &[(401, "unauthorized"), (403, "scope"), (403, "unknown_origin"), (415, "content_type")];
/// What no body can be read from.
const BODY: Refusals = &[(400, "bad_body")];

/// A token or a code that opens nothing.
pub(super) const NO_CREDENTIAL: Refusals = &[(401, "unauthorized")];
/// A batch of a wrong size, and a wait for a wrong number of tasks.
pub(super) const BATCH_SIZE: Refusals = &[(400, "bad_batch")];
pub(super) const WAIT_SIZE: Refusals = &[(400, "bad_wait")];
/// What is not there, or is another's.
pub(super) const UNKNOWN: Refusals = &[(404, "not_found")];
/// An id for a flow that is none.
pub(super) const FLOW_ID: Refusals = &[(400, "bad_flow_id")];
/// A revision that must be said.
pub(super) const REVISION: Refusals = &[(428, "revision_required")];
/// Errors of a flow.
pub(super) const FINDINGS: Refusals = &[(422, "invalid_flow")];
/// A wider mode than the caller may choose.
pub(super) const MODE: Refusals = &[(403, "permission_mode")];
/// Nothing plans goals.
pub(super) const NO_MODEL: Refusals = &[(503, "no_model")];
/// A part of a flow that cannot be run by itself.
pub(super) const SELECTION: Refusals = &[(400, "bad_selection"), (422, "unknown_node"), (422, "missing_results")];
/// A plan that cannot be read, or run.
pub(super) const PLAN: Refusals = &[(400, "invalid_plan")];
/// Runs that are not started.
pub(super) const START: Refusals = &[
    (400, "invalid_plan"),
    (409, "flow_busy"),
    (422, "bad_goal"),
    (422, "invalid_inputs"),
    (422, "not_supported_yet"),
    (429, "capacity"),
    (503, "stopping"),
];
/// A flow that is not written.
pub(super) const SAVE: Refusals = &[
    (400, "unreadable_flow"),
    (404, "not_found"),
    (409, "flow_exists"),
    (409, "not_readable"),
    (409, "revision_conflict"),
    (500, "not_written"),
];
/// A flow without a version that could run here.
pub(super) const NOT_ACTIVE: Refusals = &[
    (404, "not_found"),
    (409, "not_accepted"),
    (409, "not_published"),
    (409, "out_of_service"),
    (422, "invalid_flow"),
];
/// A version that is not made, accepted or shown.
pub(super) const PUBLISH: Refusals =
    &[(409, "other_version"), (409, "unfit_version"), (422, "invalid_flow"), (422, "unreadable_flow")];
/// A gate that is not open, or is not what was meant.
pub(super) const APPROVE: Refusals = &[
    (400, "invalid_plan"),
    (404, "not_found"),
    (409, "gate_not_open"),
    (409, "no_open_gate"),
    (409, "plan_at_step_gate"),
    (409, "several_gates"),
];
/// A run that goes on.
pub(super) const NOT_ENDED: Refusals = &[(409, "not_ended")];
/// A stream that begins past the end.
pub(super) const FOLLOW: Refusals =
    &[(400, "bad_event_id"), (400, "missing_parameter"), (400, "past_end"), (404, "not_found")];
/// A folder that is not trusted.
pub(super) const PLUGIN: Refusals = &[(404, "not_found"), (409, "digest_changed"), (409, "duplicate_plugin")];
/// A flow that no webhook may start.
pub(super) const UNFIT: Refusals = &[(422, "could_open_gates"), (422, "picks_files"), (422, "raw_shell")];
/// A webhook that is not made.
pub(super) const TRIGGER: Refusals = &[
    (400, "bad_signature_rule"),
    (400, "bad_trigger"),
    (409, "too_many_triggers"),
    (422, "invalid_inputs"),
    (422, "unknown_secret"),
];
/// A rule that says no time.
pub(super) const RULE: Refusals = &[(400, "bad_schedule")];
/// A schedule that is not made, changed or removed.
pub(super) const SCHEDULE: Refusals = &[
    (404, "not_found"),
    (409, "schedule_in_file"),
    (409, "too_many_schedules"),
    (422, "could_open_gates"),
    (422, "invalid_inputs"),
    (503, "stopping"),
];
/// A call of a webhook that starts nothing.
pub(super) const CALL: Refusals = &[
    (400, "bad_event_id"),
    (401, "unauthorized"),
    (403, "remote_webhook"),
    (409, "sandbox_weakened"),
    (422, "invalid_flow"),
    (429, "rate_limited"),
];

/// Everything that a route may refuse with.
pub(super) fn of(route: &Route) -> Vec<(u16, &'static str)> {
    let caller = match route.entry {
        Entry::Scoped(..) => CALLER,
        Entry::Open(_) | Entry::Webhook => &[],
    };
    let body = match route.takes {
        Takes::Nothing => &[],
        Takes::May(_) | Takes::Must(_) => BODY,
    };
    let unknown = if route.at.is_empty() { &[] } else { UNKNOWN };
    let own = route.refusals.iter().copied().flatten();
    let mut all: Vec<_> = [DOOR, caller, body, unknown].into_iter().flatten().chain(own).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}
