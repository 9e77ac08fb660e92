//! Everything that is not a success: one match from errors to answers.
//!
//! The texts say what happened and what to do next; the codes are stable. An internal cause goes to the log and not
//! on the wire.

use std::convert::Infallible;

use hyper::body::Bytes;
use serde_json::{Map, Value, json};
use warp::http::header::{ALLOW, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use warp::http::{Method, StatusCode};
use warp::reject::{InvalidQuery, MethodNotAllowed, Rejection};
use warp::reply::Response;
use weir_shared::finding::{Fault, Finding};
use weir_shared::flow::PermissionMode;
use weir_shared::ids::FlowId;
use weir_shared::select::BadSelection;
use weir_shared::wire::Problem;

use super::answer::bytes_of;
use crate::access::entry::Refusal;
use crate::access::scope::Scope;
use crate::engine::{ApproveError, CancelError, FollowError, ReadError, TaskError};
use crate::intake::schedule::ScheduleError;
use crate::intake::webhook::{CallError, TriggerError, Unfit};
use crate::library::SaveError;
use crate::published::{NotActive, PublishError};
use crate::queue::admission::CapacityScope;
use crate::run_request::StartError;
use crate::store::StoreError;
use crate::tool::plugin::PluginError;

/// When to try again while the queue is full.
const RETRY_SECONDS: u64 = 1;

/// Why a request has no success.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("this needs the scope `{}`; the token that was sent has less", needs.as_str())]
    Scope { needs: Scope },
    #[error("there is nothing at this address")]
    UnknownPath,
    #[error("this address does not take this method; it takes {}", methods(allowed))]
    Method { allowed: Vec<Method> },
    #[error("there is no {what}")]
    Unknown { what: String },
    #[error("{message}")]
    Malformed { code: &'static str, message: String },
    #[error("the body is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("the body did not arrive within {seconds} s")]
    TooSlow { seconds: u64 },
    #[error("bodies are taken uncompressed; leave Content-Encoding out")]
    Encoded,
    #[error("webhooks are answered on this machine alone; `webhooks.allowRemote` lets others call them")]
    RemoteWebhook,
    #[error("no model is set up, so nothing can plan this goal; send a plan as `workflow`")]
    NoModel,
    #[error("the flow has errors and cannot run")]
    Findings { findings: Vec<Finding> },
    #[error("the plan cannot be read")]
    Plan { faults: Vec<Fault> },
    #[error(transparent)]
    Selection(#[from] BadSelection),
    #[error("this token starts runs in the mode {} at most", mode_word(*most))]
    PermissionMode { most: PermissionMode },
    #[error("say which revision you started from, as `expectedRevision` or in If-Match")]
    PreconditionMissing,
    #[error(transparent)]
    Save(#[from] SaveError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Approve(#[from] ApproveError),
    #[error(transparent)]
    Cancel(#[from] CancelError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Follow(#[from] FollowError),
    #[error(transparent)]
    Task(#[from] TaskError),
    #[error(transparent)]
    Plugin(#[from] PluginError),
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Trigger(#[from] TriggerError),
    #[error(transparent)]
    NotActive(#[from] NotActive),
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the worker failed: see its log")]
    Internal { reason: String },
}

impl ApiError {
    /// There is no such flow.
    pub(super) fn no_flow(id: &FlowId) -> Self {
        ApiError::Unknown { what: format!("flow `{id}`") }
    }

    /// A parameter that is not what it should be.
    pub(super) fn bad_parameter(name: &str, given: &str, expected: &str) -> Self {
        ApiError::Malformed {
            code: "bad_parameter",
            message: format!("`{name}` is `{given}`, and should be {expected}"),
        }
    }
}

/// The methods of an address, as `Allow` names them. Where there is GET, there is HEAD.
fn methods(allowed: &[Method]) -> String {
    let mut names: Vec<&str> = allowed.iter().map(Method::as_str).collect();
    if allowed.contains(&Method::GET) {
        names.push(Method::HEAD.as_str());
    }
    names.sort_unstable();
    names.join(", ")
}

fn mode_word(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::AskForApproval => "ask-for-approval",
        PermissionMode::ApproveForMe => "approve-for-me",
        PermissionMode::FullAccess => "full-access",
    }
}

/// The answer to an error.
pub(super) fn refuse(error: &ApiError) -> Response {
    refuse_with(error).0
}

/// The answer to an error, and the code in it.
pub(super) fn refuse_with(error: &ApiError) -> (Response, String) {
    let (status, problem) = problem_of(error);
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    let mut response = bytes_of(status, "application/json", Bytes::from(body));
    if status == StatusCode::TOO_MANY_REQUESTS {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry_seconds(error)));
    }
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let ApiError::Method { allowed } = error
        && let Ok(allowed) = HeaderValue::from_str(&methods(allowed))
    {
        response.headers_mut().insert(ALLOW, allowed);
    }
    (response, problem.code)
}

/// When to try again.
fn retry_seconds(error: &ApiError) -> u64 {
    match error {
        ApiError::Call(CallError::TooOften(often) | CallError::Guessing(often)) => often.seconds(),
        _ => RETRY_SECONDS,
    }
}

/// The one match.
fn problem_of(error: &ApiError) -> (StatusCode, Problem) {
    let text = error.to_string();
    match error {
        ApiError::Refused(refusal) => match refusal {
            Refusal::UnknownName { .. } => (StatusCode::MISDIRECTED_REQUEST, plain("unknown_host", text)),
            Refusal::ForeignOrigin { .. } => (StatusCode::FORBIDDEN, plain("foreign_origin", text)),
            Refusal::UnknownOrigin => (StatusCode::FORBIDDEN, plain("unknown_origin", text)),
            Refusal::ContentType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, plain("content_type", text)),
            Refusal::NoCredential => (StatusCode::UNAUTHORIZED, plain("unauthorized", text)),
        },
        ApiError::Scope { needs } => (
            StatusCode::FORBIDDEN,
            Problem { params: Some(params(json!({ "needs": needs.as_str() }))), ..plain("scope", text) },
        ),
        ApiError::UnknownPath | ApiError::Unknown { .. } => (StatusCode::NOT_FOUND, plain("not_found", text)),
        ApiError::Method { .. } => (StatusCode::METHOD_NOT_ALLOWED, plain("method_not_allowed", text)),
        ApiError::Malformed { code, .. } => (StatusCode::BAD_REQUEST, plain(code, text)),
        ApiError::TooLarge { limit } => (
            StatusCode::PAYLOAD_TOO_LARGE,
            Problem { params: Some(params(json!({ "limit": limit }))), ..plain("too_large", text) },
        ),
        ApiError::TooSlow { .. } => (StatusCode::REQUEST_TIMEOUT, plain("too_slow", text)),
        ApiError::Encoded => (StatusCode::UNSUPPORTED_MEDIA_TYPE, plain("content_encoding", text)),
        ApiError::RemoteWebhook => (StatusCode::FORBIDDEN, plain("remote_webhook", text)),
        ApiError::NoModel => (StatusCode::SERVICE_UNAVAILABLE, plain("no_model", text)),
        ApiError::Findings { findings } => {
            (StatusCode::UNPROCESSABLE_ENTITY, Problem { findings: findings.clone(), ..plain("invalid_flow", text) })
        }
        ApiError::Plan { faults } => {
            (StatusCode::BAD_REQUEST, Problem { faults: faults.clone(), ..plain("invalid_plan", text) })
        }
        ApiError::PermissionMode { most } => (
            StatusCode::FORBIDDEN,
            Problem { params: Some(params(json!({ "most": most }))), ..plain("permission_mode", text) },
        ),
        ApiError::Selection(BadSelection::UnknownNode { id }) => (
            StatusCode::UNPROCESSABLE_ENTITY,
            Problem { params: Some(params(json!({ "node": id }))), ..plain("unknown_node", text) },
        ),
        ApiError::Selection(BadSelection::Missing { missing }) => (
            StatusCode::UNPROCESSABLE_ENTITY,
            Problem { params: Some(params(json!({ "missing": missing }))), ..plain("missing_results", text) },
        ),
        ApiError::PreconditionMissing => (StatusCode::PRECONDITION_REQUIRED, plain("revision_required", text)),
        ApiError::Save(error) => of_save(error, text),
        ApiError::Start(error) => of_start(error, text),
        ApiError::Approve(error) => match error {
            ApproveError::Unknown => (StatusCode::NOT_FOUND, plain("not_found", text)),
            ApproveError::NoOpenGate => (StatusCode::CONFLICT, plain("no_open_gate", text)),
            ApproveError::GateNotOpen(_) => (StatusCode::CONFLICT, plain("gate_not_open", text)),
            ApproveError::PlanAtStepGate(_) => (StatusCode::CONFLICT, plain("plan_at_step_gate", text)),
            ApproveError::Plan(faults) => {
                (StatusCode::BAD_REQUEST, Problem { faults: faults.clone(), ..plain("invalid_plan", text) })
            }
            ApproveError::SeveralGates(gates) => (
                StatusCode::CONFLICT,
                Problem { more: params(json!({ "gates": gates })), ..plain("several_gates", text) },
            ),
            ApproveError::Store(error) => of_store(error),
        },
        ApiError::Cancel(error) => of_cancel(error, text),
        ApiError::Read(error) => of_read(error, text),
        ApiError::Task(error) => match error {
            TaskError::Unknown(_) | TaskError::Ended(_) => (StatusCode::NOT_FOUND, plain("not_found", text)),
            TaskError::Read(error) => of_read(error, text),
            TaskError::Cancel(error) => of_cancel(error, text),
        },
        ApiError::Follow(error) => match error {
            FollowError::Unknown => (StatusCode::NOT_FOUND, plain("not_found", text)),
            FollowError::PastEnd { .. } => (StatusCode::BAD_REQUEST, plain("past_end", text)),
            FollowError::Ended => (StatusCode::CONFLICT, plain("ended", text)),
            FollowError::Store(error) => of_store(error),
        },
        ApiError::Plugin(error) => match error {
            PluginError::Unknown { .. } => (StatusCode::NOT_FOUND, plain("not_found", text)),
            PluginError::Changed { digest, .. } => (
                StatusCode::CONFLICT,
                Problem { more: params(json!({ "digest": digest })), ..plain("digest_changed", text) },
            ),
            PluginError::Ambiguous { .. } => (StatusCode::CONFLICT, plain("duplicate_plugin", text)),
            PluginError::Broken { reason } => internal(reason),
            PluginError::Store(error) => of_store(error),
        },
        ApiError::Call(error) => of_call(error, text),
        ApiError::Schedule(error) => of_schedule(error, text),
        ApiError::Trigger(error) => of_trigger(error, text),
        ApiError::NotActive(error) => of_not_active(error, text),
        ApiError::Publish(error) => match error {
            PublishError::Save(error) => of_save(error, text),
            PublishError::Findings(findings) => (
                StatusCode::UNPROCESSABLE_ENTITY,
                Problem { findings: findings.clone(), ..plain("invalid_flow", text) },
            ),
            PublishError::NoVersion { .. } => (StatusCode::NOT_FOUND, plain("not_found", text)),
            PublishError::Unfit { .. } => (StatusCode::CONFLICT, plain("unfit_version", text)),
            PublishError::OtherVersion { sha256, .. } => (
                StatusCode::CONFLICT,
                Problem { more: params(json!({ "sha256": sha256 })), ..plain("other_version", text) },
            ),
            PublishError::UnreadableDraft => (StatusCode::UNPROCESSABLE_ENTITY, plain("unreadable_flow", text)),
            PublishError::NotActive(error) => of_not_active(error, text),
            PublishError::Store(error) => of_store(error),
            PublishError::Broken(reason) => internal(reason),
        },
        ApiError::Store(error) => of_store(error),
        ApiError::Internal { reason } => internal(reason),
    }
}

fn of_not_active(error: &NotActive, text: String) -> (StatusCode, Problem) {
    match error {
        NotActive::Unknown(_) => (StatusCode::NOT_FOUND, plain("not_found", text)),
        NotActive::NotPublished(_) => (StatusCode::CONFLICT, plain("not_published", text)),
        NotActive::OutOfService(_) => (StatusCode::CONFLICT, plain("out_of_service", text)),
        NotActive::Unaccepted { newest, .. } => (
            StatusCode::CONFLICT,
            Problem { params: Some(params(json!({ "newest": newest }))), ..plain("not_accepted", text) },
        ),
        NotActive::NotAccepted { number, .. } => (
            StatusCode::CONFLICT,
            Problem { params: Some(params(json!({ "number": number }))), ..plain("not_accepted", text) },
        ),
        NotActive::Findings { findings, .. } => {
            (StatusCode::UNPROCESSABLE_ENTITY, Problem { findings: findings.clone(), ..plain("invalid_flow", text) })
        }
        NotActive::Store(error) => of_store(error),
    }
}

fn of_cancel(error: &CancelError, text: String) -> (StatusCode, Problem) {
    match error {
        CancelError::Unknown => (StatusCode::NOT_FOUND, plain("not_found", text)),
        CancelError::Store(error) => of_store(error),
    }
}

fn of_read(error: &ReadError, text: String) -> (StatusCode, Problem) {
    match error {
        ReadError::Unknown => (StatusCode::NOT_FOUND, plain("not_found", text)),
        ReadError::History(_) => internal(&text),
        ReadError::Store(error) => of_store(error),
    }
}

fn of_save(error: &SaveError, text: String) -> (StatusCode, Problem) {
    match error {
        SaveError::Unreadable { findings } => {
            (StatusCode::BAD_REQUEST, Problem { findings: findings.clone(), ..plain("unreadable_flow", text) })
        }
        SaveError::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, plain("too_large", text)),
        SaveError::Conflict { current } => {
            let more = json!({ "revision": current.revision, "flow": current.flow, "text": current.text });
            (StatusCode::CONFLICT, Problem { more: params(more), ..plain("revision_conflict", text) })
        }
        SaveError::Exists { .. } => (StatusCode::CONFLICT, plain("flow_exists", text)),
        SaveError::Unknown { .. } => (StatusCode::NOT_FOUND, plain("not_found", text)),
        SaveError::NotRead { .. } => (StatusCode::CONFLICT, plain("not_readable", text)),
        SaveError::Full => (StatusCode::INSUFFICIENT_STORAGE, plain("storage_full", text)),
        // The cause names a place of the owner's own directory, and says what to mend.
        SaveError::Io { .. } => (StatusCode::INTERNAL_SERVER_ERROR, plain("not_written", text)),
    }
}

fn of_start(error: &StartError, text: String) -> (StatusCode, Problem) {
    match error {
        StartError::Inputs(faults) => {
            (StatusCode::UNPROCESSABLE_ENTITY, Problem { faults: faults.clone(), ..plain("invalid_inputs", text) })
        }
        StartError::Plan(faults) => {
            (StatusCode::BAD_REQUEST, Problem { faults: faults.clone(), ..plain("invalid_plan", text) })
        }
        StartError::NotYetSupported(faults) => {
            (StatusCode::UNPROCESSABLE_ENTITY, Problem { faults: faults.clone(), ..plain("not_supported_yet", text) })
        }
        StartError::Goal(_) => (StatusCode::UNPROCESSABLE_ENTITY, plain("bad_goal", text)),
        StartError::Capacity { scope, priority } => {
            let mut more = params(json!({
                "retryable": true, "retryAfterSeconds": RETRY_SECONDS, "capacityScope": scope.as_str(),
            }));
            match scope {
                CapacityScope::OwnerPriority | CapacityScope::GlobalPriority => {
                    more.insert("capacityPriority".to_owned(), Value::from(priority.as_str()));
                }
                CapacityScope::Owner | CapacityScope::Global => {}
            }
            (StatusCode::TOO_MANY_REQUESTS, Problem { more, ..plain("capacity", text) })
        }
        StartError::FlowBusy { limit, .. } => (
            StatusCode::CONFLICT,
            Problem { params: Some(params(json!({ "limit": limit }))), ..plain("flow_busy", text) },
        ),
        StartError::Stopping => (StatusCode::SERVICE_UNAVAILABLE, plain("stopping", text)),
        StartError::Store(error) => of_store(error),
    }
}

fn of_call(error: &CallError, text: String) -> (StatusCode, Problem) {
    match error {
        CallError::NotLetIn => (StatusCode::UNAUTHORIZED, plain("unauthorized", text)),
        CallError::Guessing(often) | CallError::TooOften(often) => {
            let more = params(json!({ "retryable": true, "retryAfterSeconds": often.seconds() }));
            (StatusCode::TOO_MANY_REQUESTS, Problem { more, ..plain("rate_limited", text) })
        }
        CallError::BadEventId => (StatusCode::BAD_REQUEST, plain("bad_event_id", text)),
        CallError::NotAnObject(_) => (StatusCode::BAD_REQUEST, plain("bad_body", text)),
        CallError::SandboxWeakened => (StatusCode::CONFLICT, plain("sandbox_weakened", text)),
        CallError::Findings(findings) => {
            (StatusCode::UNPROCESSABLE_ENTITY, Problem { findings: findings.clone(), ..plain("invalid_flow", text) })
        }
        CallError::Unfit(unfit) => of_unfit(unfit, text),
        CallError::Start(error) => of_start(error, text),
        CallError::Store(error) => of_store(error),
    }
}

fn of_unfit(unfit: &Unfit, text: String) -> (StatusCode, Problem) {
    let (code, key, named) = match unfit {
        Unfit::PicksFiles { inputs } => ("picks_files", "inputs", inputs),
        Unfit::RawShell { steps } => ("raw_shell", "steps", steps),
        Unfit::Gates { steps, .. } => ("could_open_gates", "steps", steps),
    };
    let params = Some(params(json!({ key: named })));
    (StatusCode::UNPROCESSABLE_ENTITY, Problem { params, ..plain(code, text) })
}

fn of_trigger(error: &TriggerError, text: String) -> (StatusCode, Problem) {
    match error {
        TriggerError::Unknown(_) => (StatusCode::NOT_FOUND, plain("not_found", text)),
        TriggerError::NotActive(error) => of_not_active(error, text),
        TriggerError::Unfit(unfit) => of_unfit(unfit, text),
        TriggerError::Inputs(faults) => {
            (StatusCode::UNPROCESSABLE_ENTITY, Problem { faults: faults.clone(), ..plain("invalid_inputs", text) })
        }
        TriggerError::Signature(_) => (StatusCode::BAD_REQUEST, plain("bad_signature_rule", text)),
        TriggerError::NoSecret { .. } => (StatusCode::UNPROCESSABLE_ENTITY, plain("unknown_secret", text)),
        TriggerError::Malformed(_) => (StatusCode::BAD_REQUEST, plain("bad_trigger", text)),
        TriggerError::TooMany => (StatusCode::CONFLICT, plain("too_many_triggers", text)),
        TriggerError::Random(reason) => internal(reason),
        TriggerError::Store(error) => of_store(error),
    }
}

fn of_schedule(error: &ScheduleError, text: String) -> (StatusCode, Problem) {
    match error {
        ScheduleError::Unknown(_) => (StatusCode::NOT_FOUND, plain("not_found", text)),
        ScheduleError::Flow(error) => of_not_active(error, text),
        ScheduleError::InFile(_) => (StatusCode::CONFLICT, plain("schedule_in_file", text)),
        ScheduleError::Faults(faults) => {
            (StatusCode::BAD_REQUEST, Problem { faults: faults.clone(), ..plain("bad_schedule", text) })
        }
        ScheduleError::Inputs(faults) => {
            (StatusCode::UNPROCESSABLE_ENTITY, Problem { faults: faults.clone(), ..plain("invalid_inputs", text) })
        }
        ScheduleError::CouldOpenGates { steps, .. } => (
            StatusCode::UNPROCESSABLE_ENTITY,
            Problem { params: Some(params(json!({ "steps": steps }))), ..plain("could_open_gates", text) },
        ),
        ScheduleError::TooMany => (StatusCode::CONFLICT, plain("too_many_schedules", text)),
        ScheduleError::Stopping => (StatusCode::SERVICE_UNAVAILABLE, plain("stopping", text)),
        ScheduleError::Store(error) => of_store(error),
    }
}

fn of_store(error: &StoreError) -> (StatusCode, Problem) {
    match error {
        StoreError::Full => (StatusCode::INSUFFICIENT_STORAGE, plain("storage_full", error.to_string())),
        StoreError::NotEnded { .. } => (StatusCode::CONFLICT, plain("not_ended", error.to_string())),
        StoreError::Io { .. } | StoreError::Damaged { .. } | StoreError::OutOfOrder { .. } | StoreError::Closed => {
            internal(&error.to_string())
        }
    }
}

/// The reason is for the log; the caller learns that there is one.
fn internal(reason: &str) -> (StatusCode, Problem) {
    tracing::error!(reason, "a request failed");
    let text = "the worker failed: its log says why".to_owned();
    (StatusCode::INTERNAL_SERVER_ERROR, plain("internal", text))
}

/// A problem that is a code and a text.
fn plain(code: &str, error: String) -> Problem {
    Problem {
        success: false,
        code: code.to_owned(),
        error,
        params: None,
        findings: Vec::new(),
        faults: Vec::new(),
        more: Map::new(),
    }
}

fn params(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

/// What no route took: the page with a method that is not for pages, or no path at all.
pub(super) async fn of_rejection(rejection: Rejection) -> Result<Response, Infallible> {
    let error = if rejection.is_not_found() {
        ApiError::UnknownPath
    } else if rejection.find::<MethodNotAllowed>().is_some() {
        ApiError::Method { allowed: vec![Method::GET] }
    } else if rejection.find::<InvalidQuery>().is_some() {
        ApiError::Malformed { code: "bad_query", message: "the query cannot be read".to_owned() }
    } else {
        ApiError::Internal { reason: format!("{rejection:?}") }
    };
    Ok(refuse(&error))
}
