//! A checked flow to a plan.
//!
//! Guarantees: every step depends on earlier ones only; steps that could change places stand by layout x, then y, then
//! file order; a step keeps its node's id and everything that changes how it runs. Edges become `dependsOn`, edges
//! from branches one `runWhen` for each source, and `node.<id>` in a text becomes `steps.N`, byte for byte otherwise.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::{Map, Value};

use crate::flow::{Flow, Node};
use crate::graph::Graph;
use crate::ids::{BadId, StepIndex};
use crate::limits::DEFAULT_GRACE_SECONDS;
use crate::plan::{Plan, RetryPolicy, RunWhen, Step, StopPolicy};
use crate::reference::{Dialect, Root, Syntax, parse};
use crate::tool::{Catalog, ToolDeclaration};

/// The plan of a flow without errors. The catalog tells which arguments are templates.
pub fn compile(flow: &Flow, catalog: &Catalog) -> Result<Plan, BadId> {
    let rank = |at: usize| {
        let place = flow.layout.get(&flow.nodes[at].id);
        (place.map_or((i64::MAX, i64::MAX), |place| (place.x, place.y)), at)
    };
    let order = Graph::of(flow, catalog).order(rank);
    let indices: HashMap<&str, StepIndex> =
        order.iter().enumerate().map(|(position, at)| (flow.nodes[*at].id.as_str(), StepIndex::of(position))).collect();
    let mut steps = Vec::with_capacity(order.len());
    for (position, at) in order.iter().enumerate() {
        steps.push(step(flow, &flow.nodes[*at], StepIndex::of(position), catalog, &indices)?);
    }
    Ok(Plan { goal: goal(flow), reasoning: String::new(), on_failure: flow.on_failure.unwrap_or_default(), steps })
}

/// The flow's goal, else its name, which is no template.
fn goal(flow: &Flow) -> String {
    match &flow.goal {
        Some(goal) => goal.clone(),
        None if ["{{", "{%", "{#"].iter().any(|mark| flow.name.contains(mark)) => {
            format!("{{% raw %}}{}{{% endraw %}}", flow.name)
        }
        None => flow.name.clone(),
    }
}

fn step(
    flow: &Flow,
    node: &Node,
    index: StepIndex,
    catalog: &Catalog,
    indices: &HashMap<&str, StepIndex>,
) -> Result<Step, BadId> {
    let (depends_on, run_when) = prerequisites(flow, node, indices);
    let stop = node.stop.as_ref();
    let retry = node.retry.as_ref();
    Ok(Step {
        index,
        node_id: Some(node.id.parse()?),
        title: node.title.clone().unwrap_or_default(),
        tool_name: node.tool.parse()?,
        args: arguments(node, catalog.get(&node.tool), indices),
        description: node.description.clone().unwrap_or_default(),
        requires_approval: node.approval.unwrap_or(false),
        depends_on,
        run_when,
        idempotent: node.idempotent.unwrap_or(false),
        retry_policy: RetryPolicy {
            max_attempts: retry.and_then(|it| it.max_attempts).map_or(1, |it| u32::try_from(it).unwrap_or(u32::MAX)),
            backoff_ms: retry.and_then(|it| it.backoff_ms).unwrap_or(0),
        },
        timeout_ms: node.timeout_seconds.map(|seconds| seconds.saturating_mul(1000)),
        stop: StopPolicy {
            signal: stop.and_then(|it| it.signal).unwrap_or_default(),
            grace_seconds: stop.and_then(|it| it.grace_seconds).unwrap_or(DEFAULT_GRACE_SECONDS),
        },
        disabled: node.disabled.unwrap_or(false),
        pinned_result: flow.pins.get(&node.id).cloned(),
    })
}

/// What a node's incoming edges ask for, by step.
fn prerequisites(flow: &Flow, node: &Node, indices: &HashMap<&str, StepIndex>) -> (Vec<StepIndex>, Vec<RunWhen>) {
    let mut depends_on = Vec::new();
    let mut run_when: Vec<RunWhen> = Vec::new();
    for edge in flow.edges.iter().filter(|edge| edge.target == node.id) {
        let Some(source) = indices.get(edge.source.as_str()).copied() else { continue };
        match (&edge.port, run_when.iter_mut().find(|known| known.step == source)) {
            (None, _) => depends_on.push(source),
            (Some(port), Some(known)) => known.ports.push(port.clone()),
            (Some(port), None) => run_when.push(RunWhen { step: source, ports: vec![port.clone()] }),
        }
    }
    depends_on.sort_unstable();
    depends_on.dedup();
    run_when.sort_by_key(|condition| condition.step);
    (depends_on, run_when)
}

fn arguments(node: &Node, tool: Option<&ToolDeclaration>, indices: &HashMap<&str, StepIndex>) -> Map<String, Value> {
    let mut args = node.args.clone().unwrap_or_default();
    for (name, value) in &mut args {
        if tool.is_some_and(|tool| tool.is_raw(name)) {
            continue;
        }
        let is_command = value.is_string() && tool.is_some_and(|tool| tool.is_shell(name));
        rewrite(value, if is_command { Syntax::Shell } else { Syntax::Text }, indices);
    }
    args
}

fn rewrite(value: &mut Value, syntax: Syntax, indices: &HashMap<&str, StepIndex>) {
    match value {
        Value::String(text) => {
            if let Some(rewritten) = rewrite_text(text, syntax, indices) {
                *text = rewritten;
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| rewrite(element, syntax, indices)),
        Value::Object(members) => members.values_mut().for_each(|member| rewrite(member, syntax, indices)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text with the root of each reference to a node replaced; nothing when there is none.
fn rewrite_text(text: &str, syntax: Syntax, indices: &HashMap<&str, StepIndex>) -> Option<String> {
    // All template syntax begins with a brace; most texts have none.
    if !text.contains('{') {
        return None;
    }
    let names = parse(text, Dialect::Flow, syntax).names();
    let mut out = String::new();
    let mut copied = 0;
    for named in &names.named {
        let (Root::NodeResult(id) | Root::NodeInput(id)) = &named.reference.root else { continue };
        // An expression that takes a node as a whole names it twice at one place.
        let Some(node) = named.node.as_ref().filter(|node| node.start >= copied) else { continue };
        let index = indices.get(id.as_str())?;
        out.push_str(&text[copied..node.start]);
        let _ = write!(out, "steps.{index}");
        copied = node.end;
    }
    (copied > 0).then(|| out + &text[copied..])
}
