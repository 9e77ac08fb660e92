//! A key that nobody knows is an error, at every level: never a step without the gate its author asked for.
//!
//! The kind of C011.

use anyhow::Result;
use serde_json::{Value, json};
use weir_shared::finding::Code;
use weir_tests::command_line;
use weir_tests::worker::Worker;

fn touching(more_on_node: Value, more_on_flow: Value) -> Value {
    let mut node = json!({ "id": "a", "tool": "execute_command", "args": { "command": "touch \"$HOME/ran\"" } });
    merge(&mut node, more_on_node);
    let mut flow = json!({ "format": 1, "name": "Gate", "nodes": [node], "edges": [] });
    merge(&mut flow, more_on_flow);
    flow
}

fn merge(into: &mut Value, more: Value) {
    let Value::Object(more) = more else { panic!("only objects are merged") };
    into.as_object_mut().unwrap().extend(more);
}

#[test]
fn a_mistyped_or_misplaced_key_is_refused_with_its_path_and_a_line() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let cases = [
        ("typo", touching(json!({ "aproval": true }), json!({})), "aproval"),
        ("flow-level", touching(json!({}), json!({ "approval": true })), "approval"),
        ("in-retry", touching(json!({ "retry": { "maxAttempts": 1, "retries": 3 } }), json!({})), "retries"),
        ("in-stop", touching(json!({ "stop": { "signal": "TERM", "grace": 3 } }), json!({})), "grace"),
        ("in-schedule", touching(json!({}), json!({ "schedules": [{ "name": "x", "corn": "0 9 * * *" }] })), "corn"),
        ("in-calendar", touching(json!({}), json!({ "schedules": [{ "calendar": { "tiem": "09:00" } }] })), "tiem"),
        ("in-concurrency", touching(json!({}), json!({ "concurrency": { "limit": 1, "onlimit": "skip" } })), "onlimit"),
        (
            "in-edge",
            touching(json!({}), json!({ "edges": [{ "source": "a", "target": "a", "prot": "true" }] })),
            "prot",
        ),
    ];
    for (id, flow, key) in cases {
        // Through the API nothing is written.
        let refused = client.post("/api/workflows", &json!({ "id": id, "flow": flow }))?.problem(400)?;
        let finding = refused.findings.iter().find(|finding| finding.code == Code::UnknownKey).unwrap();
        assert!(finding.message.contains(key), "{id}: {}", finding.message);
        assert!(finding.line.is_some(), "{id}: {finding:?}");
        assert!(!worker.world().flow_file(id).exists());

        // As a file it shows, and does not run.
        worker.world().write_flow(id, &flow)?;
        let shown = weir_tests::wait::until("the file to show", weir_tests::wait::PATIENCE, || client.flow(id).ok())?;
        assert!(shown.flow.is_none() && shown.text.is_some(), "{id}: {shown:?}");
        assert_eq!(client.post(&format!("/api/workflows/{id}/run"), &json!({}))?.status, 422, "{id}");

        let checked = command_line::run(worker.world().weir(&["check"]).arg(worker.world().flow_file(id)))?;
        assert_eq!(checked.code, 3, "{checked:?}");
    }
    let typo = client.flow("typo")?;
    let hint = typo.findings[0].hint.clone().unwrap_or_default() + &typo.findings[0].message;
    assert!(hint.contains("approval"), "the nearest known key is named: {hint}");
    assert!(!worker.world().path("home/ran").exists());
    Ok(())
}
