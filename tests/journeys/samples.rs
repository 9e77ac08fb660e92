//! The flows that come with Weir: each is checked, in canonical form, compiled, and run with its examples.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};
use weir_shared::finding::FindingCounts;
use weir_shared::run::state::{RunStatus, StepStatus};
use weir_shared::wire::{Checked, PluginView, RunDetail};
use weir_tests::client::Client;
use weir_tests::command_line;
use weir_tests::program::repository;
use weir_tests::worker::{Worker, World};

/// A worker on a copy of the samples.
fn worker_on_samples() -> Result<(Worker, Vec<String>)> {
    let world = World::new()?;
    let mut ids = Vec::new();
    for entry in std::fs::read_dir(repository().join("flows"))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).context("a name")?.to_owned();
        if let Some(id) = name.strip_suffix(".flow.json") {
            std::fs::copy(&path, world.flow_file(id))?;
            ids.push(id.to_owned());
        }
    }
    ids.sort();
    copy_folder(&repository().join("flows/plugins"), &world.flows().join("plugins"))?;
    let worker = Worker::start_in(world)?;
    let client = worker.client()?;
    // What `scripts/start` does with --trust.
    let plugins: Vec<PluginView> = client.get("/api/plugins")?.having(200)?;
    ensure!(!plugins.is_empty(), "the samples have a plugin");
    for plugin in plugins {
        ensure!(plugin.findings.is_empty(), "{plugin:?}");
        let body = json!({ "digest": plugin.digest });
        client.post(&format!("/api/plugins/{}/trust", plugin.id), &body)?.having::<PluginView>(200)?;
    }
    Ok((worker, ids))
}

/// Copies a folder with all in it and the permissions of its files.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &copy)?;
        } else {
            std::fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}

/// The inputs that a sample gives as examples.
fn example_inputs(flow: &Value) -> Map<String, Value> {
    let properties = flow.pointer("/inputs/properties").and_then(Value::as_object).cloned().unwrap_or_default();
    properties.into_iter().filter_map(|(name, schema)| Some((name, schema.pointer("/examples/0")?.clone()))).collect()
}

/// Starts a flow as a careful person would and says yes to every gate.
fn run_and_approve(client: &Client, id: &str, inputs: &Map<String, Value>) -> Result<RunDetail> {
    let body = json!({ "inputs": inputs, "config": { "permissionMode": "approve-for-me" } });
    let accepted: weir_shared::wire::RunAccepted =
        client.post(&format!("/api/workflows/{id}/run"), &body)?.having(202)?;
    let run = accepted.run_id;
    let mut stream = client.follow(&run)?;
    while let Some(frame) = stream.frame()? {
        if frame.event == "step_approval_requested" {
            client.approve(&run, &json!({ "gateId": frame.data["gateId"] }))?.having::<Value>(202)?;
        }
    }
    client.run(&run)
}

#[test]
fn every_sample_is_right_canonical_described_and_runs() -> Result<()> {
    let (worker, ids) = worker_on_samples()?;
    let client = worker.client()?;
    assert!(ids.len() >= 2, "{ids:?}");
    for id in &ids {
        let text = std::fs::read_to_string(worker.world().flow_file(id))?;
        let checked: Checked = client.post("/api/workflows/check", &json!({ "text": text }))?.having(200)?;
        assert_eq!(FindingCounts::of(&checked.findings), FindingCounts::default(), "{id}: {:?}", checked.findings);
        assert_eq!(checked.canonical.as_deref(), Some(text.as_str()), "{id} is in canonical form");
        let plan = checked.plan.with_context(|| format!("{id} compiles"))?;

        let flow: Value = serde_json::from_str(&text)?;
        let nodes = flow["nodes"].as_array().context("nodes")?;
        assert_eq!(plan.steps.len(), nodes.len());
        assert!(flow["description"].as_str().is_some_and(|text| text.len() > 20), "{id} says what it is for");
        for node in nodes {
            ensure!(node["title"].is_string() && node["description"].is_string(), "{id}: {node}");
            ensure!(flow["layout"][node["id"].as_str().unwrap_or("")].is_object(), "{id}: {node} has a place");
        }
        let properties = flow.pointer("/inputs/properties").and_then(Value::as_object).context("typed inputs")?;
        for (name, schema) in properties {
            ensure!(schema["type"].is_string() && schema["examples"].is_array(), "{id}: input {name}");
        }

        for mut inputs in [Map::new(), example_inputs(&flow)] {
            if id == "ask-a-service" {
                // Its default is the address that a worker has when nothing is said.
                inputs.insert("url".to_owned(), json!(worker.url("/api/health")));
            }
            let run = run_and_approve(&client, id, &inputs)?;
            assert_eq!(run.row.status, RunStatus::Completed, "{id}: {:?}", run.row.error);
        }
    }
    Ok(())
}

#[test]
fn weir_check_and_fmt_agree_with_the_samples() -> Result<()> {
    let world = World::new()?;
    let flows = repository().join("flows");
    let untrusted = command_line::run(world.weir(&["check"]).arg(&flows))?;
    assert_eq!(untrusted.code, 3, "{untrusted:?}");
    assert!(untrusted.stdout.contains("untrusted_tool"), "{untrusted:?}");
    let nobody = command_line::run(world.weir(&["trust", "csv-split", "--flows"]).arg(&flows))?;
    assert_eq!(nobody.code, 2, "nobody can be asked: {nobody:?}");
    let trusted = command_line::run(world.weir(&["trust", "csv-split", "--yes", "--flows"]).arg(&flows))?;
    assert_eq!(trusted.code, 0, "{trusted:?}");
    assert!(trusted.stderr.contains("plugin.json"), "its files are shown: {trusted:?}");
    let listed = command_line::run(world.weir(&["trust", "--flows"]).arg(&flows))?;
    assert!(listed.stdout.contains("csv-split  1.0.0    trusted"), "{listed:?}");
    for arguments in [&["check"][..], &["fmt", "--check"]] {
        let said = command_line::run(world.weir(arguments).arg(repository().join("flows")))?;
        assert_eq!(said.code, 0, "{arguments:?}: {said:?}");
    }
    Ok(())
}

#[test]
fn the_report_takes_the_branch_that_the_free_space_asks_for() -> Result<()> {
    let (worker, _) = worker_on_samples()?;
    let client = worker.client()?;
    for (least, taken, other) in [(0, "report", "alarm"), (1_000_000, "alarm", "report")] {
        let inputs = json!({ "leastFreeMb": least }).as_object().cloned().unwrap_or_default();
        let run = run_and_approve(&client, "disk-memory-report", &inputs)?;
        let step = |node: &str| {
            run.executions.iter().find(|step| step.node_id.as_ref().is_some_and(|id| id.as_str() == node)).unwrap()
        };
        assert_eq!(step(taken).status, StepStatus::Completed, "{:?}", run.row.error);
        assert_eq!(step(other).status, StepStatus::Skipped);
        let printed = run.executions.iter().rev().find_map(|step| step.result.as_ref()?.get("stdout")?.as_str());
        let report = printed.context("nothing was printed")?;
        assert!(report.starts_with("# ") && report.contains("| "), "Markdown: {report}");
    }
    Ok(())
}

#[test]
fn a_table_is_split_by_the_plugin_and_each_part_summed_up() -> Result<()> {
    let (worker, _) = worker_on_samples()?;
    let run = run_and_approve(&worker.client()?, "split-csv", &Map::new())?;
    assert_eq!(run.row.status, RunStatus::Completed, "{:?}", run.row.error);
    let split = run.executions.iter().find_map(|step| step.result.as_ref()?.get("parts")).context("parts")?;
    let rows: Vec<_> = split.as_array().context("a list")?.iter().map(|part| (&part["value"], &part["rows"])).collect();
    assert_eq!(rows, [(&json!("Oslo"), &json!(2)), (&json!("Rome"), &json!(2)), (&json!("Lima"), &json!(1))]);
    let printed = run.executions.iter().rev().find_map(|step| step.result.as_ref()?.get("stdout")?.as_str());
    let report = printed.context("nothing was printed")?;
    assert!(report.contains("# 5 rows by city") && report.contains("| 01-Oslo | 2 | amount 8 |"), "{report}");

    let inputs = json!({ "column": "no such" }).as_object().cloned().unwrap_or_default();
    let failed = run_and_approve(&worker.client()?, "split-csv", &inputs)?;
    let error = failed.row.error.context("it fails")?;
    assert!(error.contains("exit code 1: the header has no column `no such`"), "the plugin's own words: {error}");
    Ok(())
}
