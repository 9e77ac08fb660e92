//! What a person approves is what runs, and what a person sends is what arrives.
//!
//! The kind of C070 (an edit between question and answer) and of payloads that were taken for shell text.

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};
use weir_shared::run::state::RunStatus;
use weir_tests::flows::{command_node, flow};
use weir_tests::worker::Worker;

#[test]
fn an_edit_of_the_flow_while_its_gate_is_open_changes_nothing_of_the_run() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let mut node = command_node("only", "echo shown");
    node["approval"] = json!(true);
    let made = client.create_flow("asked", &flow("Asked", &[node], &[]))?;
    let accepted = client.post("/api/workflows/asked/run", &json!({}))?.having::<Value>(202)?;
    let run = serde_json::from_value(accepted["runId"].clone())?;
    client.follow(&run)?.until("step_approval_requested", |_| true)?;
    let shown = client.run(&run)?.gates[0].args.clone().context("a gate shows what will run")?;
    ensure!(shown["command"] == json!("echo shown"), "{shown:?}");

    let other = flow("Asked", &[command_node("only", "echo changed")], &[]);
    ensure!(client.save_flow("asked", &other, &made.revision)?.status == 200);
    ensure!(client.approve(&run, &json!({}))?.status == 202);
    let detail = client.finish(&run)?;
    ensure!(detail.executions[0].result.as_ref().context("a result")?["stdout"] == "shown\n");

    let next = client.run_flow(&made.id, &Map::new())?;
    let detail = client.finish(&next)?;
    ensure!(detail.executions[0].result.as_ref().context("a result")?["stdout"] == "changed\n");
    Ok(())
}

#[test]
fn an_input_reaches_a_command_a_file_and_a_program_unchanged() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let hostile = "a'b\"c\n$(touch ran) `touch ran` \\ ${HOME} ; touch ran | & * ~ \u{7f} \u{1f980} {{ 7 * 7 }}";
    let nodes = [
        command_node("print", "printf %s {{inputs.text}}"),
        command_node("quoted", "printf '%s' \"<{{inputs.text}}>\"; cat <<END\n{{inputs.text}}\nEND"),
        json!({ "id": "file", "tool": "write_file", "args": { "path": "sent", "content": "{{inputs.text}}" } }),
        command_node("read", "cat sent; ls"),
    ];
    let edges = [("print", "quoted"), ("quoted", "file"), ("file", "read")];
    let mut payload = flow("Payload", &nodes, &edges);
    payload["inputs"] = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let made = client.create_flow("payload", &payload)?;
    let run = client.run_flow(&made.id, json!({ "text": hostile }).as_object().context("an object")?)?;
    let detail = client.finish(&run)?;
    ensure!(detail.row.status == RunStatus::Completed, "{:?}", detail.row.error);
    let stdout = |index: usize| detail.executions[index].result.as_ref().map(|result| result["stdout"].clone());
    assert_eq!(stdout(0), Some(json!(hostile)));
    assert_eq!(stdout(1), Some(json!(format!("<{hostile}>{hostile}\n"))));
    assert_eq!(stdout(3), Some(json!(format!("{hostile}sent\n"))), "nothing of it ran");

    // What no command can be given is said, and not cut short.
    let run = client.run_flow(&made.id, json!({ "text": "a\u{0}b" }).as_object().context("an object")?)?;
    let detail = client.finish(&run)?;
    ensure!(detail.row.status == RunStatus::Failed, "{:?}", detail.row);
    let error = detail.executions[0].error.as_deref().context("an error")?;
    ensure!(error.contains("NUL"), "{error}");
    Ok(())
}
