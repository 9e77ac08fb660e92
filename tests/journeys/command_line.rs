//! The command line: stdout is data, stderr is talk, and the exit code tells the outcome.

use std::process::Stdio;

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use weir_tests::command_line::{code_of, run};
use weir_tests::flows::{command_node, flow, one_command_flow};
use weir_tests::processes;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::{Worker, World};

#[test]
fn check_tells_file_line_and_column_and_ends_with_3() -> Result<()> {
    let world = World::new()?;
    world.write_flow("good", &one_command_flow("Good", "echo fine"))?;
    let good = run(world.weir(&["check"]).arg(world.flow_file("good")))?;
    assert_eq!(good.code, 0, "{good:?}");

    std::fs::write(
        world.flow_file("bad"),
        "{\n  \"format\": 1,\n  \"nmae\": \"x\",\n  \"nodes\": [],\n  \"edges\": []\n}\n",
    )?;
    let bad = run(world.weir(&["check"]).arg(world.flow_file("bad")))?;
    assert_eq!(bad.code, 3, "{bad:?}");
    let told = format!("{}{}", bad.stdout, bad.stderr);
    assert!(told.contains("bad.flow.json:3:3"), "{told}");
    assert!(told.contains("name"), "the nearest known key: {told}");

    let all = run(world.weir(&["check", "--json"]).arg(world.flows()))?;
    assert_eq!(all.code, 3, "{all:?}");
    let json: Value = serde_json::from_str(&all.stdout).with_context(|| all.stdout.clone())?;
    let text = json.to_string();
    assert!(text.contains("unknown_key") && text.contains("bad.flow.json"), "{text}");
    Ok(())
}

#[test]
fn fmt_makes_any_readable_flow_canonical_and_refuses_the_rest() -> Result<()> {
    let world = World::new()?;
    let file = world.flow_file("ugly");
    std::fs::write(
        &file,
        r#"{"nodes":[{"tool":"delay","id":"a","args":{"seconds":1}}],"edges":[],"name":"U","format":1}"#,
    )?;
    assert_ne!(run(world.weir(&["fmt", "--check"]).arg(&file))?.code, 0);
    assert_eq!(run(world.weir(&["fmt"]).arg(&file))?.code, 0);
    let canonical = std::fs::read_to_string(&file)?;
    assert!(canonical.starts_with("{\n  \"format\": 1,\n  \"name\": \"U\",\n"), "{canonical}");
    assert!(canonical.ends_with("}\n"));
    assert_eq!(run(world.weir(&["fmt", "--check"]).arg(&file))?.code, 0);
    assert_eq!(run(world.weir(&["fmt"]).arg(&file))?.code, 0);
    assert_eq!(std::fs::read_to_string(&file)?, canonical);

    std::fs::write(&file, "{\"format\": 1")?;
    assert_ne!(run(world.weir(&["fmt"]).arg(&file))?.code, 0);
    assert_eq!(std::fs::read_to_string(&file)?, "{\"format\": 1");
    Ok(())
}

#[test]
fn run_prints_the_result_and_its_exit_code_tells_the_outcome() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let world = worker.world();
    let mut greet = one_command_flow("Greet", "echo hello {{inputs.who}}");
    greet["inputs"] = json!({ "type": "object", "properties": { "who": { "type": "string" } }, "required": ["who"] });
    client.create_flow("greet", &greet)?;
    client.create_flow("fails", &one_command_flow("Fails", "echo sorry >&2; exit 7"))?;
    client.create_flow("broken", &one_command_flow("Broken", "echo {{node.nobody.result}}"))?;
    let free = ["--permission-mode", "full-access"];

    let done = run(world.weir(&["run", "greet", "--input", "who=you; rm -rf x"]).args(free))?;
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stdout.contains("hello you; rm -rf x"), "{done:?}");
    assert!(!done.stderr.is_empty(), "steps are told on stderr");
    let json = run(world.weir(&["run", "greet", "--input", "who=you", "--json"]).args(free))?;
    let value: Value = serde_json::from_str(&json.stdout).with_context(|| format!("{json:?}"))?;
    assert!(value.to_string().contains("hello you"), "{value}");

    let failed = run(world.weir(&["run", "fails"]).args(free))?;
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(failed.stderr.contains("exit code 7: sorry"), "{failed:?}");
    assert_eq!(run(world.weir(&["run", "broken"]).args(free))?.code, 3);
    let unbound = run(world.weir(&["run", "greet"]).args(free))?;
    assert_ne!(unbound.code, 0);
    assert!(unbound.stderr.contains("who"), "{unbound:?}");
    assert_eq!(run(&mut world.weir(&["run", "--no-such-option"]))?.code, 2);
    // Nobody is there to answer a gate.
    let gate = run(&mut world.weir(&["run", "fails"]))?;
    assert_eq!(gate.code, 4, "{gate:?}");
    Ok(())
}

#[test]
fn ctrl_c_cancels_the_run() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    client.create_flow("slow", &one_command_flow("Slow", "sleep 971.1"))?;
    let mut command = worker.world().weir(&["run", "slow", "--permission-mode", "full-access"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    until("the step", PATIENCE, || (!processes::running("sleep 971.1").is_empty()).then_some(()))?;
    processes::signal(i32::try_from(child.id())?, Signal::SIGINT);
    let status = until("the end of weir run", PATIENCE, || child.try_wait().ok().flatten())?;
    assert_eq!(code_of(status), 130);
    let runs = client.runs("flow=slow")?;
    assert_eq!(client.finish(&runs.runs[0].run_id)?.row.status.as_str(), "cancelled");
    assert!(processes::running("sleep 971.1").is_empty());
    Ok(())
}

#[test]
fn list_runs_cancel_and_approve_speak_to_the_worker() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let world = worker.world();
    let asks = client.create_flow("asks", &flow("Asks first", &[command_node("a", "echo yes")], &[]))?;
    assert!(run(&mut world.weir(&["list"]))?.stdout.contains("asks"));

    let start = || -> Result<weir_shared::ids::RunId> {
        let accepted: weir_shared::wire::RunAccepted =
            client.post(&format!("/api/workflows/{}/run", asks.id), &json!({}))?.having(202)?;
        client.follow(&accepted.run_id)?.until("step_approval_requested", |_| true)?;
        Ok(accepted.run_id)
    };
    let approved = start()?;
    assert_eq!(run(&mut world.weir(&["approve", approved.as_str()]))?.code, 0);
    assert_eq!(client.finish(&approved)?.row.status.as_str(), "completed");
    let cancelled = start()?;
    assert_eq!(run(&mut world.weir(&["cancel", cancelled.as_str()]))?.code, 0);
    assert_eq!(client.finish(&cancelled)?.row.status.as_str(), "cancelled");

    let listed = run(&mut world.weir(&["runs"]))?;
    assert!(listed.stdout.contains(approved.as_str()) && listed.stdout.contains("cancelled"), "{}", listed.stdout);
    Ok(())
}

#[test]
fn without_a_worker_it_says_so() -> Result<()> {
    let world = World::new()?;
    for arguments in [&["list"][..], &["runs"], &["cancel", "00000000-0000-7000-8000-000000000000"]] {
        let said = run(&mut world.weir(arguments))?;
        assert_ne!(said.code, 0, "{arguments:?}");
        assert!(said.stderr.contains("weir serve"), "{arguments:?}: what to do next: {}", said.stderr);
        assert!(said.stdout.is_empty(), "{arguments:?}: stdout is data: {}", said.stdout);
    }
    Ok(())
}
