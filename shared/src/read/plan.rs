//! The shape of a plan, read as strictly as a flow file: closed objects, every fault with its path.

use serde_json::{Value, json};

use super::tree::{self, Located, Tree};
use super::walk::{Fields, Walk, as_count};
use crate::finding::{Code, Fault, Finding};
use crate::flow::StopSignal;
use crate::found::{Found, locate};
use crate::ids::{NodeId, StepIndex, ToolName};
use crate::plan::{Plan, RetryPolicy, RunWhen, Step, StopPolicy};
use crate::pointer::Path;

const PLAN: &[&str] = &["goal", "reasoning", "onFailure", "steps"];
const STEP: &[&str] = &[
    "index",
    "nodeId",
    "title",
    "toolName",
    "args",
    "description",
    "requiresApproval",
    "dependsOn",
    "runWhen",
    "idempotent",
    "retryPolicy",
    "timeoutMs",
    "stop",
    "disabled",
    "pinnedResult",
];
const RUN_WHEN: &[&str] = &["step", "in", "equals"];
const RETRY: &[&str] = &["maxAttempts", "backoffMs"];
const STOP: &[&str] = &["signal", "graceSeconds"];

/// Reads the JSON of a plan. Whether it makes sense is asked by `check_plan`.
pub fn read_plan(bytes: &[u8]) -> Result<Plan, Vec<Fault>> {
    let (root, mut found, spans) = tree::parse(bytes);
    let plan = root.map(|root| {
        let mut walk = Walk::default();
        let plan = plan(&mut walk, &root);
        found.append(&mut walk.found);
        plan
    });
    match plan {
        Some(plan) if found.is_empty() => Ok(plan),
        _ => Err(locate(found, &spans, &[]).iter().map(as_fault).collect()),
    }
}

/// A finding of the reader as a fault: for a plan its path says where.
fn as_fault(finding: &Finding) -> Fault {
    let path = finding.params.get("path").and_then(Value::as_str).or(finding.field.as_deref()).unwrap_or_default();
    let code = match finding.code {
        Code::UnreadableFile => finding.params.get("reason").and_then(Value::as_str).unwrap_or("shape"),
        other => other.as_str(),
    };
    let place = match (path.is_empty(), finding.line, finding.column) {
        (true, Some(line), Some(column)) => format!(" (line {line}, column {column})"),
        _ => String::new(),
    };
    let message = match &finding.hint {
        Some(hint) => format!("{}{place}. {hint}", finding.message),
        None => format!("{}{place}", finding.message),
    };
    Fault { path: path.to_owned(), code: code.to_owned(), message }
}

fn plan(walk: &mut Walk, root: &Located) -> Plan {
    let Some(fields) = walk.closed(root, &Path::ROOT, PLAN) else { return Plan::default() };
    Plan {
        goal: walk.text(&fields, "goal").unwrap_or_default(),
        reasoning: walk.text(&fields, "reasoning").unwrap_or_default(),
        on_failure: walk.word(&fields, "onFailure", &["finish", "cancel"]).unwrap_or_default(),
        steps: walk.list(fields.get("steps"), step).unwrap_or_default().into_iter().flatten().collect(),
    }
}

fn step(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Option<Step> {
    let fields = walk.closed(located, pointer, STEP)?;
    let index = walk.required(&fields, "index", "a whole number from 0").and_then(|(it, at)| step_index(walk, it, &at));
    let tool_name = walk
        .required(&fields, "toolName", "a tool's name")
        .and_then(|(it, at)| name(walk, it, &at, |text| text.parse::<ToolName>().map_err(|error| error.to_string())));
    let node_id = fields
        .get("nodeId")
        .filter(|(it, _)| !matches!(it.value, Tree::Null))
        .and_then(|(it, at)| name(walk, it, &at, |text| text.parse::<NodeId>().map_err(|error| error.to_string())));
    let step = Step {
        node_id,
        title: walk.text(&fields, "title").unwrap_or_default(),
        args: walk.map(&fields, "args").unwrap_or_default(),
        description: walk.text(&fields, "description").unwrap_or_default(),
        requires_approval: walk.flag(&fields, "requiresApproval").unwrap_or(false),
        depends_on: walk.list(fields.get("dependsOn"), step_index).unwrap_or_default().into_iter().flatten().collect(),
        run_when: walk.list(fields.get("runWhen"), run_when).unwrap_or_default().into_iter().flatten().collect(),
        idempotent: walk.flag(&fields, "idempotent").unwrap_or(false),
        retry_policy: fields.get("retryPolicy").and_then(|(it, at)| retry(walk, it, &at)).unwrap_or_default(),
        timeout_ms: walk.count(&fields, "timeoutMs"),
        stop: fields.get("stop").and_then(|(it, at)| stop(walk, it, &at)).unwrap_or_default(),
        disabled: walk.flag(&fields, "disabled").unwrap_or(false),
        pinned_result: fields.get("pinnedResult").map(|(it, _)| it.to_value()),
        ..Step::new(index?, tool_name?)
    };
    Some(step)
}

fn step_index(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Option<StepIndex> {
    let index = as_count(located).and_then(|count| u32::try_from(count).ok());
    if index.is_none() {
        walk.wrong_shape(located, pointer, "the index of a step");
    }
    index.map(StepIndex)
}

fn name<T>(
    walk: &mut Walk,
    located: &Located,
    pointer: &Path<'_>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Option<T> {
    let Tree::Text(text) = &located.value else {
        walk.wrong_shape(located, pointer, "a text");
        return None;
    };
    parse(text)
        .map_err(|error| {
            let params = json!({ "reason": "name", "path": pointer.to_path(), "detail": error });
            walk.found.push(Found::new(Code::UnreadableFile, pointer, params));
        })
        .ok()
}

fn run_when(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Option<RunWhen> {
    let fields = walk.closed(located, pointer, RUN_WHEN)?;
    let step = walk.required(&fields, "step", "the index of a step").and_then(|(it, at)| step_index(walk, it, &at));
    let equals = walk.text(&fields, "equals");
    let ports = walk.list(fields.get("in"), |walk, located, pointer| {
        if let Tree::Text(port) = &located.value {
            return port.as_ref().to_owned();
        }
        walk.wrong_shape(located, pointer, "a text");
        String::new()
    });
    let ports = match (ports, equals) {
        (Some(ports), None) => ports,
        (None, Some(port)) => vec![port],
        (None, None) if is_broken(&fields) => Vec::new(),
        _ => {
            walk.wrong_shape(located, pointer, "an object with either `in` or `equals`");
            Vec::new()
        }
    };
    Some(RunWhen { step: step?, ports })
}

/// `in` or `equals` is there and has been reported.
fn is_broken(fields: &Fields<'_, '_>) -> bool {
    fields.get("in").is_some() || fields.get("equals").is_some()
}

fn retry(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Option<RetryPolicy> {
    let fields = walk.closed(located, pointer, RETRY)?;
    let plain = RetryPolicy::default();
    Some(RetryPolicy {
        max_attempts: walk
            .count(&fields, "maxAttempts")
            .map_or(plain.max_attempts, |count| u32::try_from(count).unwrap_or(u32::MAX)),
        backoff_ms: walk.count(&fields, "backoffMs").unwrap_or(plain.backoff_ms),
    })
}

fn stop(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Option<StopPolicy> {
    let fields = walk.closed(located, pointer, STOP)?;
    let plain = StopPolicy::default();
    Some(StopPolicy {
        signal: walk.word(&fields, "signal", &StopSignal::NAMES).unwrap_or(plain.signal),
        grace_seconds: walk.count(&fields, "graceSeconds").unwrap_or(plain.grace_seconds),
    })
}
