//! The description of the API held to the truth from outside: schemathesis calls every operation with what the
//! description allows and with what it does not, and a worker must answer as it is described, and never with a fault.
//!
//! The long tier, run by hand after `scripts/setup described`:
//! `cargo test -p weir-tests --test journeys -- --ignored --nocapture described`. `WEIR_SCHEMATHESIS` names the folder of
//! its programs where that is another than setup made; `WEIR_EXAMPLES` sets the number of examples an operation.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_shared::run::state::RunStatus;
use weir_shared::schedule::ScheduleRow;
use weir_shared::webhook::TriggerSecret;
use weir_tests::flows::{one_command, one_command_flow};
use weir_tests::worker::Worker;

/// Seconds after which it is given up.
const MOST_SECONDS: &str = "1800";
/// What is looked at in every answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
                      response_schema_conformance,unsupported_method";
/// Opening sessions would let requests in by their cookie, and streams of what lives do not end.
const LEFT_OUT: &str = "^/api/session|^/api/workflows/events$|^/api/agent/stream$";

/// Where setup puts the programs.
fn programs() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("WEIR_SCHEMATHESIS") {
        return Ok(folder.into());
    }
    // A test program is in <target>/<profile>/deps.
    let here = std::env::current_exe()?;
    let target = here.ancestors().nth(3).context("a test program is three folders below the target directory")?;
    Ok(target.join("schemathesis/bin"))
}

#[test]
#[ignore = "takes minutes and needs scripts/setup described"]
fn the_api_is_as_it_is_described() -> Result<()> {
    let worker = Worker::start()?;
    let world = worker.world();
    let description: Value = worker.client()?.get("/api/openapi.json")?.having(200)?;
    std::fs::write(world.path("openapi.json"), description.to_string())?;
    std::fs::write(world.path("schemathesis.toml"), known_things(&worker)?)?;

    let programs = programs()?;
    let valid = world.command(programs.join("openapi-spec-validator")).arg(world.path("openapi.json")).output()?;
    ensure!(valid.status.success(), "the description is no OpenAPI:\n{}", String::from_utf8_lossy(&valid.stdout));

    // What removes things comes after what shows them.
    for (which, method) in [("--exclude-method", "DELETE"), ("--include-method", "DELETE")] {
        let told = schemathesis(&worker, &programs)?.args([which, method]).output();
        let told = told.context("schemathesis does not start; see scripts/setup described")?;
        let text = String::from_utf8_lossy(&told.stdout);
        ensure!(told.status.success(), "the worker is not as it is described:\n{text}\nIts log:\n{}", worker.log());
        println!("{}", text.split_once("= SUMMARY =").map_or(&*text, |(_, summary)| summary));
    }
    let log = worker.log();
    ensure!(!log.contains("panicked"), "the worker met something that it does not describe:\n{log}");
    Ok(())
}

/// Schemathesis with everything but the methods that it is to call.
fn schemathesis(worker: &Worker, programs: &Path) -> Result<Command> {
    let world = worker.world();
    let examples = std::env::var("WEIR_EXAMPLES").unwrap_or_else(|_| "20".to_owned());
    let mut command = world.command("timeout");
    command
        .arg(MOST_SECONDS)
        .arg(programs.join("st"))
        .arg(format!("--config-file={}", world.path("schemathesis.toml").display()))
        .args(["run", &worker.url("/api/openapi.json")])
        .arg(format!("--header=X-Weir-Token: {}", worker.token()?))
        .args(["--checks", CHECKS, "--exclude-path-regex", LEFT_OUT, "--phases", "examples,coverage,fuzzing"])
        .args(["--max-examples", &examples, "--seed", "1", "--request-timeout", "90", "--continue-on-failure"])
        .arg("--no-color");
    Ok(command)
}

/// Makes one of each thing, and tells schemathesis their names.
fn known_things(worker: &Worker) -> Result<String> {
    let client = worker.client()?;
    client.publish_flow("spare", &one_command_flow("Spare", "true"))?;
    let run = client.run_plan(&one_command("echo shown"))?;
    let ended = client.finish(&run)?;
    ensure!(ended.row.status == RunStatus::Completed, "the run that is shown failed: {:?}", ended.row.error);
    let (task, flow) = (ended.row.task_id, json!({ "workflowId": "spare", "permissionMode": "full-access" }));
    let hook: TriggerSecret = client.post("/api/agent/webhook-triggers", &flow)?.having(201)?;
    let mut rule = flow;
    rule["cron"] = json!("0 0 29 2 *");
    let schedule: ScheduleRow = client.post("/api/agent/schedules", &rule)?.having(201)?;
    let things = [
        ("^/api/workflows/\\\\{id\\\\}", "path.id", "spare".to_owned()),
        ("/revisions/\\\\{number\\\\}", "path.number", "1".to_owned()),
        ("^/api/agent/runs/\\\\{id\\\\}", "path.id", run.to_string()),
        ("/steps/\\\\{index\\\\}", "path.index", "0".to_owned()),
        ("^/api/agent/\\\\{runId\\\\}", "path.runId", run.to_string()),
        ("^/api/agent/tasks/\\\\{id\\\\}", "path.id", task.to_string()),
        ("^/api/agent/webhook-triggers/\\\\{id\\\\}", "path.id", hook.trigger.trigger_id.to_string()),
        ("^/api/agent/schedules/\\\\{id\\\\}", "path.id", schedule.schedule_id.to_string()),
    ];
    // 503 is a right answer where nothing plans.
    let mut config = "[[operations]]\ninclude-operation-id = [\"runPlan\", \"runBatch\"]\n\
                      checks.not_a_server_error.expected-statuses = [\"2XX\", \"4XX\", \"503\"]\n"
        .to_owned();
    for (path, parameter, value) in things {
        let operation = format!(
            "\n[[operations]]\ninclude-path-regex = \"{path}\"\nparameters = {{ \"{parameter}\" = \"{value}\" }}\n"
        );
        config.push_str(&operation);
    }
    Ok(config)
}
