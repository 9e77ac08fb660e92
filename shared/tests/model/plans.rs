//! Plans from callers: read strictly, every fault named before any tool runs.

use serde_json::{Value, json};
use weir_shared::check::{PlanRules, check_plan, read_plan};
use weir_shared::finding::Fault;
use weir_shared::plan::{Plan, RunWhen};

use crate::catalog::catalog;

fn brief(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(|fault| format!("{} {}", fault.path, fault.code)).collect()
}

fn plan(steps: &Value) -> Plan {
    read_plan(json!({ "steps": steps }).to_string().as_bytes()).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn faults(steps: &Value) -> Vec<String> {
    brief(&check_plan(&plan(steps), &PlanRules { catalog: &catalog(), most_steps: 10, read_only: false }))
}

#[test]
fn only_index_and_tool_are_required_and_a_plan_may_be_empty() {
    let read = plan(
        &json!([{ "index": 0, "toolName": "delay" }, { "index": 1, "toolName": "delay", "runWhen": [{ "step": 0, "equals": "x" }], "pinnedResult": null }]),
    );
    assert_eq!(read.steps[1].run_when, [RunWhen { step: read.steps[0].index, ports: vec!["x".to_owned()] }]);
    assert_eq!((read.steps[0].pinned_result.clone(), read.steps[1].pinned_result.clone()), (None, Some(Value::Null)));
    assert_eq!(read_plan(b"{}").unwrap(), Plan::default());
    let printed = serde_json::to_vec(&read).unwrap();
    assert_eq!(read_plan(&printed).unwrap(), read);
}

#[test]
fn every_fault_of_the_shape_is_named_with_its_path() {
    let text = r#"{ "goal": 1, "x-more": 1, "onFailure": "stop", "steps": [
        { "index": -1, "toolName": "a b", "requiresAproval": true, "retryPolicy": { "max": 1 } },
        { "toolName": "delay", "toolName": "delay", "runWhen": [{ "step": 0 }, { "step": 0, "in": "x" }], "args": [] }
    ] }"#;
    assert_eq!(
        brief(&read_plan(text.as_bytes()).unwrap_err()),
        [
            "goal shape",
            "x-more unknown_key",
            "onFailure shape",
            "steps[0].index shape",
            "steps[0].toolName name",
            "steps[0].requiresAproval unknown_key",
            "steps[0].retryPolicy.max unknown_key",
            "steps[1].index missing_key",
            "steps[1].toolName duplicate_key",
            "steps[1].runWhen[0] shape",
            "steps[1].runWhen[1].in shape",
            "steps[1].args shape",
        ]
    );
    assert_eq!(brief(&read_plan(b"[").unwrap_err()), [" syntax"]);
}

#[test]
fn every_fault_of_the_meaning_is_named_at_once() {
    let steps = json!([
        { "index": 1, "toolName": "delai", "dependsOn": [0] },
        { "index": 1, "toolName": "json_format", "args": { "json": ["{{steps.1.result}}", "{{last.result}}", "{{node.a.result}}", "{{ nothing + 1 }}"] },
          "runWhen": [{ "step": 4, "in": ["x"] }, { "step": 0, "in": [] }] },
        { "index": 2, "nodeId": "a", "toolName": "execute_command", "args": { "command": "sh -c {{steps.1.result.text}}" },
          "retryPolicy": { "maxAttempts": 2 } },
        { "index": 3, "nodeId": "a", "toolName": "delay", "args": { "seconds": "{{steps.2.result.stdout}}" },
          "retryPolicy": { "maxAttempts": 6, "backoffMs": 30001 }, "timeoutMs": 0, "stop": { "graceSeconds": 601 } },
        { "index": 4, "toolName": "delay", "args": { "second": 1 } },
        { "index": 5, "toolName": "orders_split" },
    ]);
    assert_eq!(
        faults(&steps),
        [
            "steps[0].index bad_index",
            "steps[0].dependsOn[0] bad_dependency",
            "steps[0].toolName unknown_tool",
            "steps[1].runWhen[0].step bad_dependency",
            "steps[1].runWhen[1].in bad_dependency",
            "steps[1].args.json[0] bad_reference",
            "steps[1].args.json[2] malformed_reference",
            "steps[1].args.json[3] malformed_reference",
            "steps[2].retryPolicy unsafe_retry",
            "steps[2].args.command shell_context",
            "steps[3].nodeId duplicate_node",
            "steps[3].retryPolicy.maxAttempts bad_retry",
            "steps[3].retryPolicy.backoffMs bad_retry",
            "steps[3].stop.graceSeconds bad_stop",
            "steps[3].timeoutMs bad_timeout",
            "steps[3].args.seconds type_mismatch",
            "steps[4].args.seconds missing_argument",
            "steps[4].args.second invalid_arguments",
            "steps[5].toolName untrusted_tool",
        ]
    );
    assert_eq!(
        faults(&json!([{ "index": 0, "toolName": "json_format", "args": { "json": "{{last.result}}" } }])),
        ["steps[0].args.json bad_reference"]
    );
}

#[test]
fn a_read_only_run_takes_reads_only_and_a_plan_has_a_bound() {
    let steps = plan(&json!([
        { "index": 0, "toolName": "json_format", "args": { "json": 1 } },
        { "index": 1, "toolName": "execute_command", "args": { "command": "true" } },
    ]));
    let catalog = catalog();
    let rules = PlanRules { catalog: &catalog, most_steps: 1, read_only: true };
    assert_eq!(brief(&check_plan(&steps, &rules)), ["steps too_many_steps", "steps[1].toolName not_read_only"]);
}
