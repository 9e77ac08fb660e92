//! What the command line does by itself, and what it asks of a worker beside runs: logs, settings, an address.

use std::process::Stdio;

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use weir_tests::client::Client;
use weir_tests::command_line::{code_of, run};
use weir_tests::flows::one_command_flow;
use weir_tests::processes;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::{Worker, World};

const FREE: [&str; 2] = ["--permission-mode", "full-access"];

#[test]
fn a_flow_runs_to_its_end_without_a_worker() -> Result<()> {
    let world = World::new()?;
    let mut greet = one_command_flow("Greet", "echo hello {{inputs.who}}");
    greet["inputs"] = json!({ "type": "object", "properties": { "who": { "type": "string" } }, "required": ["who"] });
    world.write_flow("greet", &greet)?;
    world.write_flow("fails", &one_command_flow("Fails", "echo sorry >&2; exit 7"))?;
    world.write_flow("broken", &one_command_flow("Broken", "echo {{node.nobody.result}}"))?;

    let done = run(world.weir(&["run", "greet", "--input", "who=you; rm -rf x"]).args(FREE))?;
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stdout.contains("hello you; rm -rf x"), "{done:?}");
    let failed = run(world.weir(&["run", "fails"]).args(FREE))?;
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(failed.stderr.contains("exit code 7: sorry"), "{failed:?}");
    let broken = run(world.weir(&["run", "broken"]).args(FREE))?;
    assert_eq!(broken.code, 3, "{broken:?}");
    let unbound = run(world.weir(&["run", "greet"]).args(FREE))?;
    assert_eq!(unbound.code, 2, "{unbound:?}");
    assert!(unbound.stderr.contains("who"), "{unbound:?}");
    let gate = run(&mut world.weir(&["run", "fails"]))?;
    assert_eq!(gate.code, 4, "{gate:?}");

    // They are in the history of the worker that comes later, and the gate waits on.
    let worker = Worker::start_in(world)?;
    let client = worker.client()?;
    let of_greet = client.runs("flow=greet")?.runs;
    assert_eq!((of_greet.len(), of_greet[0].status.as_str()), (1, "completed"));
    let waiting = client.runs("flow=fails")?.runs.remove(0);
    client.approve(&waiting.run_id, &json!({ "approved": false }))?.having::<Value>(202)?;
    assert!(client.finish(&waiting.run_id)?.row.status.is_terminal());
    Ok(())
}

#[test]
fn two_run_at_once_and_ctrl_c_ends_one() -> Result<()> {
    let world = World::new()?;
    world.write_flow("slow", &one_command_flow("Slow", "sleep 972.1"))?;
    world.write_flow("quick", &one_command_flow("Quick", "echo quick"))?;
    let mut command = world.weir(&["run", "slow"]);
    let mut child = command.args(FREE).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    until("the step", PATIENCE, || (!processes::running("sleep 972.1").is_empty()).then_some(()))?;

    let quick = run(world.weir(&["run", "quick"]).args(FREE))?;
    assert_eq!(quick.code, 0, "{quick:?}");
    assert!(quick.stdout.contains("quick") && quick.stderr.contains("kept nowhere"), "{quick:?}");
    assert_eq!(std::fs::read_dir(world.path("tmp"))?.count(), 0, "its state is gone with it");

    processes::signal(i32::try_from(child.id())?, Signal::SIGINT);
    let status = until("the end of weir run", PATIENCE, || child.try_wait().ok().flatten())?;
    assert_eq!(code_of(status), 130);
    assert!(processes::running("sleep 972.1").is_empty());
    Ok(())
}

#[test]
fn logs_tell_what_happened_and_what_was_written() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let id = client.create_flow("talks", &one_command_flow("Talks", "echo to you; echo aside >&2"))?.id;
    let talked = client.run_flow(&id, &serde_json::Map::new())?;
    client.finish(&talked)?;
    let logs = run(&mut worker.world().weir(&["logs", talked.as_str()]))?;
    assert_eq!(logs.code, 0, "{logs:?}");
    for line in ["    | to you\n", "    ! aside\n", "completed: "] {
        assert!(logs.stdout.contains(line), "{line}: {logs:?}");
    }

    let slow = client.create_flow("slow", &one_command_flow("Slow", "echo first; sleep 973.1"))?.id;
    let slow = client.run_flow(&slow, &serde_json::Map::new())?;
    client.follow(&slow)?.until("step_start", |_| true)?;
    client.cancel(&slow)?;
    let followed = run(&mut worker.world().weir(&["logs", "--follow", slow.as_str()]))?;
    assert_eq!(followed.code, 0, "it ends with the run: {followed:?}");
    assert!(followed.stdout.contains("ended: "), "{followed:?}");
    Ok(())
}

#[test]
fn the_schema_and_the_settings_are_printed() -> Result<()> {
    let world = World::new()?;
    world.configure("[run]\nparallel = 3\n")?;
    let schema = run(&mut world.weir(&["schema"]))?;
    let schema: Value = serde_json::from_str(&schema.stdout).context("JSON")?;
    assert_eq!(schema["properties"]["format"]["const"], 1);
    let shown = run(world.weir(&["config", "show"]).env("WEIR_CFG_LISTEN", "localhost:9400"))?;
    assert_eq!(shown.code, 0, "{shown:?}");
    let of = |name: &str| shown.stdout.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(of("run.parallel").contains('3') && of("run.parallel").contains("config.toml"), "{shown:?}");
    assert!(of("listen").contains("127.0.0.1:9400") && of("listen").contains("WEIR_CFG_LISTEN"), "{shown:?}");
    assert!(of("gate.expiresDays").ends_with("default"), "{shown:?}");
    Ok(())
}

#[test]
fn open_prints_an_address_that_lets_one_browser_in() -> Result<()> {
    let worker = Worker::start()?;
    let opened = run(&mut worker.world().weir(&["open"]))?;
    assert_eq!(opened.code, 0, "{opened:?}");
    let code = opened.stdout.trim().rsplit_once("/#token=").context("an address")?.1.to_owned();
    assert_ne!(code, worker.token()?);
    let stranger = Client::anonymous(worker.address());
    assert_eq!(stranger.post("/api/session", &json!({ "token": code }))?.status, 200);
    assert_eq!(stranger.post("/api/session", &json!({ "token": code }))?.status, 401, "once");
    Ok(())
}
