//! Plans from anywhere, checked by one function before any tool runs: a flow's, an API caller's, a model's.

use std::collections::BTreeSet;

use serde_json::Value;

use super::tools::NESTED;
use super::yields::{result, template_yields};
use crate::finding::Fault;
use crate::ids::StepIndex;
use crate::limits::{MAX_ATTEMPTS, MAX_BACKOFF_MS, MAX_GRACE_SECONDS, MAX_TIMEOUT_SECONDS};
use crate::nearest::nearest;
use crate::plan::{Plan, Step};
use crate::pointer::{Path, path_of};
pub use crate::read::read_plan;
use crate::reference::{Content, Dialect, Reference, Root, Syntax, parse, step_of, texts};
use crate::schema::{Described, Templates, Types, describe, violations};
use crate::shell::places;
use crate::tool::{Catalog, Effect, ToolDeclaration};

/// What a plan is checked against.
#[derive(Debug, Clone, Copy)]
pub struct PlanRules<'a> {
    pub catalog: &'a Catalog,
    /// Steps a plan from this source may have.
    pub most_steps: usize,
    /// Whether only reads may run.
    pub read_only: bool,
}

/// Everything that keeps a plan from running.
pub fn check_plan(plan: &Plan, rules: &PlanRules<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    if plan.steps.len() > rules.most_steps {
        let message = format!("the plan has {} steps, and at most {} are allowed", plan.steps.len(), rules.most_steps);
        faults.push(fault("steps", "too_many_steps", message));
    }
    let mut nodes = BTreeSet::new();
    for (position, step) in plan.steps.iter().enumerate() {
        let mut judge = Judge { plan, rules, step, position, faults: &mut faults };
        if step.index != StepIndex::of(position) {
            judge.add("index", "bad_index", format!("the index is {}, and the step stands at {position}", step.index));
        }
        if let Some(node) = step.node_id.as_ref().filter(|node| !nodes.insert((*node).clone())) {
            judge.add("nodeId", "duplicate_node", format!("an earlier step has the node `{node}` too"));
        }
        judge.order();
        judge.numbers();
        judge.tool();
        judge.references();
    }
    faults
}

fn fault(path: &str, code: &str, message: String) -> Fault {
    Fault { path: path.to_owned(), code: code.to_owned(), message }
}

struct Judge<'a> {
    plan: &'a Plan,
    rules: &'a PlanRules<'a>,
    step: &'a Step,
    position: usize,
    faults: &'a mut Vec<Fault>,
}

impl Judge<'_> {
    fn add(&mut self, field: &str, code: &str, message: String) {
        self.faults.push(fault(&format!("steps[{}].{field}", self.position), code, message));
    }

    fn is_earlier(&self, step: StepIndex) -> bool {
        step.at() < self.position
    }

    fn order(&mut self) {
        let not_earlier = |step: StepIndex| format!("step {step} is not an earlier step");
        for (at, step) in self.step.depends_on.iter().enumerate() {
            if !self.is_earlier(*step) {
                self.add(&format!("dependsOn[{at}]"), "bad_dependency", not_earlier(*step));
            }
        }
        for (at, condition) in self.step.run_when.iter().enumerate() {
            if !self.is_earlier(condition.step) {
                self.add(&format!("runWhen[{at}].step"), "bad_dependency", not_earlier(condition.step));
            }
            if condition.ports.is_empty() {
                let message = "it names no branch, so the step could never run".to_owned();
                self.add(&format!("runWhen[{at}].in"), "bad_dependency", message);
            }
        }
    }

    fn numbers(&mut self) {
        let retry = self.step.retry_policy;
        if !(1..=MAX_ATTEMPTS).contains(&retry.max_attempts) {
            let message = format!("{} attempts, and 1 to {MAX_ATTEMPTS} are allowed", retry.max_attempts);
            self.add("retryPolicy.maxAttempts", "bad_retry", message);
        }
        if retry.backoff_ms > MAX_BACKOFF_MS {
            let message = format!("{} ms, and 0 to {MAX_BACKOFF_MS} are allowed", retry.backoff_ms);
            self.add("retryPolicy.backoffMs", "bad_retry", message);
        }
        if self.step.stop.grace_seconds > MAX_GRACE_SECONDS {
            let message = format!("{} s, and 0 to {MAX_GRACE_SECONDS} are allowed", self.step.stop.grace_seconds);
            self.add("stop.graceSeconds", "bad_stop", message);
        }
        let most = MAX_TIMEOUT_SECONDS * 1000;
        if let Some(timeout) = self.step.timeout_ms.filter(|timeout| !(1..=most).contains(timeout)) {
            self.add("timeoutMs", "bad_timeout", format!("{timeout} ms, and 1 to {most} are allowed"));
        }
    }

    fn tool(&mut self) {
        let name = self.step.tool_name.as_str();
        let Some(tool) = self.rules.catalog.get(name) else {
            if name.starts_with(NESTED) {
                self.add("toolName", "nested_workflow", format!("a plan cannot call `{name}`"));
                return;
            }
            let near = nearest(name, self.rules.catalog.iter().map(|tool| tool.name.as_str()));
            let advice = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            self.add("toolName", "unknown_tool", format!("no tool is named `{name}`{advice}"));
            return;
        };
        if !tool.trusted {
            let message = format!("`{name}` comes from the plugin `{}`, which is not trusted here", tool.source);
            self.add("toolName", "untrusted_tool", message);
        }
        if self.rules.read_only && tool.guarded_effect() != Effect::Read {
            self.add("toolName", "not_read_only", format!("`{name}` does more than read, and this run may only read"));
        }
        let author_says = self.step.idempotent.then_some(true);
        if self.step.retry_policy.max_attempts > 1 && !tool.is_retry_safe(&self.step.args, author_says) {
            let message = format!("`{name}` may do harm when it is called again: set `idempotent` or one attempt");
            self.add("retryPolicy", "unsafe_retry", message);
        }
        if self.step.pinned_result.is_some() {
            // It serves its value and its tool is not called, so there is nothing for arguments to fit.
            return;
        }
        self.arguments(tool);
    }

    fn arguments(&mut self, tool: &ToolDeclaration) {
        let args = Value::Object(self.step.args.clone());
        let written = Written { plan: self.plan, step: self.step, catalog: self.rules.catalog, tool };
        for violation in violations(&tool.input_schema, &args, &written) {
            let steps: Vec<String> = violation.pointer.steps().collect();
            let code = match (violation.keyword, steps.len()) {
                ("required", 1) => "missing_argument",
                ("type", _) if violation.is_template => "type_mismatch",
                _ => "invalid_arguments",
            };
            let path = path_of(["args".to_owned()].into_iter().chain(steps));
            self.add(&path, code, violation.message);
        }
    }

    fn references(&mut self) {
        for text in texts(&self.step.args, self.rules.catalog.get(self.step.tool_name.as_str())) {
            let path = path_of(["args".to_owned()].into_iter().chain(text.pointer.steps()));
            let template = parse(text.text, Dialect::Plan, text.syntax);
            for piece in &template.pieces {
                if let Content::Fault(fault) = &piece.content {
                    let written = &text.text[piece.range.clone()];
                    self.add(&path, "malformed_reference", format!("`{written}` is not a reference: {}", fault.reason));
                }
            }
            let names = template.names();
            for problem in &names.problems {
                let message = format!("`{}` cannot be evaluated: {}", problem.written, problem.reason);
                self.add(&path, "malformed_reference", message);
            }
            for named in &names.named {
                self.reference(&named.reference, &path);
            }
            if text.syntax == Syntax::Shell {
                for refusal in places(&template).err().into_iter().flatten() {
                    let message = format!(
                        "`{}` stands {}, where no value is safe. {}",
                        &text.text[refusal.range], refusal.context, refusal.instead
                    );
                    self.add(&path, "shell_context", message);
                }
            }
        }
    }

    fn reference(&mut self, reference: &Reference, path: &str) {
        let here = StepIndex::of(self.position);
        match (&reference.root, step_of(reference, here)) {
            (Root::LastResult, None) => {
                self.add(path, "bad_reference", "the first step has no step before it".to_owned());
            }
            (_, Some(step)) if !self.is_earlier(step) => {
                self.add(path, "bad_reference", format!("`{{{{{reference}}}}}` names a step that is not earlier"));
            }
            _ => {}
        }
    }
}

/// Tells templates of a step's arguments from plain text.
struct Written<'a> {
    plan: &'a Plan,
    step: &'a Step,
    catalog: &'a Catalog,
    tool: &'a ToolDeclaration,
}

impl Templates for Written<'_> {
    fn yields(&self, path: &Path<'_>, text: &str) -> Option<Types> {
        // All template syntax begins with a brace; most texts have none.
        if !text.contains('{') {
            return None;
        }
        let (argument, is_whole) = path.first()?;
        if self.tool.is_raw(&argument) {
            return None;
        }
        let is_command = is_whole && self.tool.is_shell(&argument);
        let template = parse(text, Dialect::Plan, if is_command { Syntax::Shell } else { Syntax::Text });
        let types = template_yields(&template, |reference| self.of_reference(reference))?;
        Some(if is_command { Types::STRING } else { types })
    }
}

impl Written<'_> {
    fn of_reference(&self, reference: &Reference) -> Described {
        let tool = step_of(reference, self.step.index)
            .and_then(|step| self.plan.step(step))
            .and_then(|step| self.catalog.get(step.tool_name.as_str()));
        match (&reference.root, tool) {
            (Root::StepResult(_) | Root::LastResult, Some(tool)) => result(tool, &reference.path),
            (Root::StepInput(_), Some(tool)) => describe(&tool.input_schema, &reference.path),
            (Root::Fact(_) | Root::Secret(_), _) => Described::As(Types::STRING),
            _ => Described::As(Types::ANY),
        }
    }
}
