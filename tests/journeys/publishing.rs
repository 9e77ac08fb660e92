//! A flow on its way into service: published, changed by git, accepted, and started without a person.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_shared::published::{Standing, VersionList};
use weir_shared::run::state::RunStatus;
use weir_tests::client::Client;
use weir_tests::command_line::{Said, run};
use weir_tests::flows::one_command_flow;
use weir_tests::worker::Worker;

fn publish(worker: &Worker, arguments: &[&str]) -> Result<Said> {
    run(worker.world().weir(&["publish", "nightly"]).args(arguments))
}

/// Starts the active version and tells what it printed.
fn printed(client: &Client) -> Result<String> {
    let body = json!({ "workflowId": "nightly", "permissionMode": "full-access" });
    let accepted: Value = client.post("/api/agent/tasks", &body)?.having(202)?;
    let run = serde_json::from_value(accepted["runId"].clone())?;
    let detail = client.finish(&run)?;
    ensure!(detail.row.status == RunStatus::Completed, "{:?}", detail.row.error);
    let result = detail.executions[0].result.as_ref().context("a result")?;
    Ok(result["stdout"].as_str().context("text")?.to_owned())
}

#[test]
fn what_is_published_runs_until_another_version_is_published_or_accepted() -> Result<()> {
    let mut worker = Worker::start()?;
    let client = worker.client()?;
    client.create_flow("nightly", &one_command_flow("Nightly", "echo one"))?;
    let refused = client.post("/api/agent/tasks", &json!({ "workflowId": "nightly" }))?;
    ensure!(refused.problem(409)?.code == "not_published");

    let said = publish(&worker, &[])?;
    ensure!(said.code == 0 && said.stderr.contains("version 1 of nightly is active"), "{said:?}");
    let flow = client.flow("nightly")?;
    ensure!(flow.published && flow.published_version == Some(1) && !flow.has_unpublished_changes, "{flow:?}");
    ensure!(client.save_flow("nightly", &one_command_flow("Nightly", "echo two"), &flow.revision)?.status == 200);
    ensure!(client.flows()?[0].has_unpublished_changes);
    assert_eq!(printed(&client)?, "one\n", "the draft runs only by hand");
    let diff = publish(&worker, &["--diff"])?;
    ensure!(diff.stdout.contains('-') && diff.stdout.contains("echo two"), "{diff:?}");
    ensure!(publish(&worker, &[])?.stderr.contains("version 2"));
    assert_eq!(printed(&client)?, "two\n");

    // A version by git: here it is listed, and runs nowhere until it is accepted.
    let theirs = std::fs::read_to_string(worker.world().flows().join("published/nightly/2.json"))?;
    let foreign = Worker::start()?;
    foreign.client()?.create_flow("nightly", &one_command_flow("Nightly", "echo two"))?;
    let place = foreign.world().flows().join("published/nightly");
    std::fs::create_dir_all(&place)?;
    std::fs::write(place.join("2.json"), &theirs)?;
    let list: VersionList = foreign.client()?.get("/api/workflows/nightly/revisions")?.having(200)?;
    assert_eq!((list.versions[0].number, list.versions[0].standing), (2, Standing::Unaccepted));
    let refused = foreign.client()?.post("/api/agent/tasks", &json!({ "workflowId": "nightly" }))?;
    ensure!(refused.problem(409)?.code == "not_accepted");
    let asked = publish(&foreign, &["--accept", "2"])?;
    ensure!(asked.code == 2 && asked.stderr.contains("--yes"), "nobody can be asked here: {asked:?}");
    ensure!(publish(&foreign, &["--accept", "2", "--yes"])?.code == 0);
    assert_eq!(printed(&foreign.client()?)?, "two\n");

    // What was changed after it was accepted runs nowhere, and the one before it does.
    std::fs::write(worker.world().flows().join("published/nightly/2.json"), theirs.replace("two", "evil"))?;
    let versions = publish(&worker, &["--versions"])?;
    ensure!(versions.stdout.contains("tampered with"), "{versions:?}");
    assert_eq!(printed(&client)?, "one\n");

    // Out of service, also for the next worker.
    ensure!(publish(&worker, &["--unpublish"])?.code == 0);
    worker.kill()?;
    worker.start_again()?;
    let refused = client.post("/api/agent/tasks", &json!({ "workflowId": "nightly" }))?;
    ensure!(refused.problem(409)?.code == "out_of_service");

    let flow = client.flow("nightly")?;
    let renamed =
        client.post("/api/workflows/nightly/rename", &json!({ "to": "daily", "expectedRevision": flow.revision }))?;
    ensure!(renamed.status == 201, "{renamed:?}");
    ensure!(client.get("/api/workflows/nightly")?.status == 404);
    let list: VersionList = client.get("/api/workflows/daily/revisions")?.having(200)?;
    ensure!(list.versions.iter().any(|version| version.number == 1 && version.standing == Standing::Accepted));
    let deleted: Value = client.delete("/api/workflows/daily")?.having(200)?;
    ensure!(deleted["ok"] == json!(true) && !worker.world().flows().join("published/daily").exists(), "{deleted}");
    Ok(())
}

#[test]
fn what_publishing_needs_is_said() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let made = client.create_flow("nightly", &one_command_flow("Nightly", "echo {{inputs.gone}}"))?;
    let with = |body: Value| client.post("/api/workflows/nightly/publish", &body);
    ensure!(with(json!({}))?.problem(428)?.code == "revision_required");
    ensure!(with(json!({ "expectedRevision": "0123456789abcdef" }))?.problem(409)?.code == "revision_conflict");
    let refused = with(json!({ "expectedRevision": made.revision }))?.problem(422)?;
    ensure!(refused.findings.iter().any(|finding| finding.code.as_str() == "undeclared_input"), "{refused:?}");
    ensure!(client.post("/api/workflows/absent/publish", &json!({ "expectedRevision": made.revision }))?.status == 404);
    ensure!(client.get("/api/workflows/nightly/revisions/7")?.status == 404);
    ensure!(client.get("/api/workflows/nightly/diff?from=noon")?.status == 400);
    let version = client.post("/api/workflows/nightly/run", &json!({ "version": 1 }))?;
    ensure!(version.problem(409)?.code == "not_accepted");
    let copy: Value = client.post("/api/workflows/nightly/duplicate", &json!({}))?.having(201)?;
    ensure!(copy["id"] == json!("nightly-2") && copy["published"] == json!(false), "{copy}");
    let said = publish(&worker, &[])?;
    ensure!(said.code == 3, "findings are told as such: {said:?}");
    Ok(())
}
