//! A planted secret reaches the programs it is meant for, and is nowhere in what the worker wrote or sent.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use weir_shared::run::state::RunStatus;
use weir_tests::flows::{command_node, flow};
use weir_tests::worker::{Worker, World};

const SECRET: &str = "pl4nted/value+one";
/// The secret as URLs and base64 write it, and pieces of it that no form leaves out.
const FORMS: [&str; 4] = [SECRET, "pl4nted%2Fvalue%2Bone", "cGw0bnRlZC92YWx1ZStvbm", "4nted/value"];

/// A worker on a machine that has the secret.
fn worker_with_secret() -> Result<Worker> {
    let world = World::new()?;
    let file = world.path("config/weir/secrets.toml");
    std::fs::create_dir_all(file.parent().context("a directory")?)?;
    std::fs::write(&file, format!("PLANTED = \"{SECRET}\"\n"))?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600))?;
    Worker::start_in(world)
}

/// What these bytes give away.
fn found_in(bytes: &[u8]) -> Vec<&'static str> {
    let holds = |form: &&str| bytes.windows(form.len()).any(|window| window == form.as_bytes());
    FORMS.into_iter().filter(holds).collect()
}

/// Looks through every file below a directory.
fn search(directory: &Path) -> Result<usize> {
    let mut seen = 0;
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            seen += search(&path)?;
        } else if path.is_file() {
            assert_eq!(found_in(&std::fs::read(&path)?), [""; 0], "{}", path.display());
            seen += 1;
        }
    }
    Ok(seen)
}

#[test]
fn a_secret_works_and_is_nowhere_to_be_found() -> Result<()> {
    let worker = worker_with_secret()?;
    let client = worker.client()?;
    let nodes = [
        // Byte by byte, so that every edge of a piece falls into it.
        command_node("slow", "printf 'a %s z' {{secrets.PLANTED}} | dd bs=1 status=none"),
        command_node("encoded", "printf %s \"u:{{secrets.PLANTED}}\" | base64; printf %s {{secrets.PLANTED}} | wc -c"),
        json!({ "id": "text", "tool": "json_format", "args": { "json": ["Bearer {{secrets.PLANTED}}"] } }),
        json!({ "id": "worked", "tool": "json_format", "args": { "json": ["{{ secrets.PLANTED | urlencode }}"] } }),
        json!({ "id": "none", "tool": "json_format", "args": { "json": "{{node.slow.result.stdout}}" } }),
        command_node("fails", "printf 'bad token %s\\n' '{{secrets.PLANTED}}' >&2; exit 3"),
    ];
    let edges = [("slow", "encoded"), ("encoded", "text"), ("text", "worked"), ("worked", "none"), ("none", "fails")];
    let mut written = flow("Planted", &nodes, &edges);
    // The last but one reads what the first printed, which is no JSON any more.
    written["nodes"][4]["args"]["json"] = json!(["{{node.slow.result.stdout}}"]);
    let view = client.create_flow("planted", &written)?;
    assert!(view.findings.iter().all(|finding| !finding.is_error()), "{:?}", view.findings);
    let run = client.run_flow(&view.id, &Map::new())?;
    let frames = client.follow(&run)?.to_end()?;
    let detail = client.finish(&run)?;
    assert_eq!(detail.row.status, RunStatus::Failed);

    let result = |index: usize| detail.executions[index].result.clone().unwrap_or_default();
    assert_eq!(result(0)["stdout"], "a *** z");
    assert!(result(1)["stdout"].as_str().is_some_and(|text| text.contains("***") && text.ends_with("17\n")));
    assert_eq!(result(2)["value"], json!(["Bearer ***"]));
    assert_eq!(result(3)["value"], json!(["***"]));
    assert_eq!(result(4)["value"], json!(["a *** z"]));
    let shown = serde_json::to_value(&detail)?.to_string();
    assert!(shown.contains("bad token ***") && shown.contains("{{secrets.PLANTED}}"), "{shown}");

    assert_eq!(found_in(shown.as_bytes()), [""; 0]);
    assert_eq!(found_in(format!("{frames:?}").as_bytes()), [""; 0]);
    assert_eq!(found_in(worker.log().as_bytes()), [""; 0]);
    for path in ["/api/workflows/planted", "/api/agent/runs", "/api/agent/runs?q=pl4nted"] {
        assert_eq!(found_in(client.get(path)?.text().as_bytes()), [""; 0], "{path}");
    }
    assert!(search(&worker.world().state())? > 3, "the store and the outputs were looked through");
    Ok(())
}

#[test]
fn a_secret_that_is_missing_is_a_warning_and_fails_the_step() -> Result<()> {
    let worker = worker_with_secret()?;
    let client = worker.client()?;
    let view = client.create_flow("gone", &flow("Gone", &[command_node("a", "echo {{secrets.GONE}}")], &[]))?;
    let codes: Vec<&str> = view.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["unknown_secret"]);
    let run = client.finish(&client.run_flow(&view.id, &Map::new())?)?;
    assert_eq!(run.row.status, RunStatus::Failed);
    let error: Value = serde_json::to_value(&run.executions[0])?["error"].clone();
    assert!(error.as_str().is_some_and(|error| error.contains("no secret `GONE`")), "{error}");
    Ok(())
}

#[test]
fn a_file_of_secrets_that_others_can_read_stops_the_start() -> Result<()> {
    let world = World::new()?;
    let file = world.path("config/weir/secrets.toml");
    std::fs::create_dir_all(file.parent().context("a directory")?)?;
    std::fs::write(&file, format!("PLANTED = \"{SECRET}\"\n"))?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644))?;
    let said = world.weir(&["serve", "--listen", "127.0.0.1:0"]).output()?;
    assert_eq!(said.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(stderr.contains("chmod 600") && found_in(stderr.as_bytes()).is_empty(), "{stderr}");
    Ok(())
}
