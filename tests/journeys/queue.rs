//! The queue from outside: limits that cover every way in, places that come back, nobody who holds the others up.
//!
//! Wishes 9 to 15.

use std::path::Path;
use std::thread;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_shared::ids::RunId;
use weir_shared::run::state::RunStatus;
use weir_shared::task::Capacity;
use weir_tests::client::{Answer, Client, Request, full_access};
use weir_tests::command_line;
use weir_tests::flows::{command_node, flow, one_command_flow};
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::{Worker, World};

/// A command that fails when another of its kind runs, and leaves a line when it is through.
const ALONE: &str = "mkdir \"$HOME/alone\" || exit 9; sleep 0.05; echo . >> \"$HOME/through\"; rmdir \"$HOME/alone\"";
/// A command that goes on until there is a file.
const UNTIL_TOLD: &str = "until [ -e \"$HOME/go\" ]; do sleep 0.02; done";

fn limited(command: &str, on_limit: &str) -> Value {
    let mut flow = flow("Limited", &[command_node("step", command)], &[]);
    flow["concurrency"] = json!({ "limit": 1, "onLimit": on_limit });
    flow
}

fn start(client: &Client, flow: &str) -> Result<Answer> {
    client.post(&format!("/api/workflows/{flow}/run"), &json!({ "config": full_access() }))
}

fn run_of(answer: &Answer) -> Result<RunId> {
    let started: Value = answer.having(202)?;
    started["runId"].as_str().unwrap_or("").parse().map_err(|_| anyhow::anyhow!("no run: {started}"))
}

fn capacity(client: &Client) -> Result<Capacity> {
    client.get("/api/agent/tasks/capacity")?.having(200)
}

fn tell(world: &World) -> Result<()> {
    Ok(std::fs::write(world.path("home/go"), "")?)
}

/// A webhook's caller and path.
fn webhook(worker: &Worker, flow: &str) -> Result<(Client, String, String)> {
    let client = worker.client()?;
    let view = client.flow(flow)?;
    let expected = json!({ "expectedRevision": view.revision });
    client.post(&format!("/api/workflows/{flow}/publish"), &expected)?.having::<Value>(200)?;
    let body = json!({ "workflowId": flow, "permissionMode": "full-access" });
    let made: Value = client.post("/api/agent/webhook-triggers", &body)?.having(201)?;
    let text = |name: &str| made[name].as_str().unwrap_or("").to_owned();
    Ok((client, text("path"), text("secret")))
}

#[test]
fn however_a_run_is_started_only_so_many_of_its_flow_run_and_the_next_follows_at_once() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    client.create_flow("limited", &limited(ALONE, "queue"))?;
    let (_, path, secret) = webhook(&worker, "limited")?;
    ensure!(path.starts_with("/api/workflow-hooks/"), "{path}");
    let ways: Vec<Box<dyn Fn() -> Result<RunId> + Send>> = (0..12)
        .map(|way| -> Box<dyn Fn() -> Result<RunId> + Send> {
            let client = client.clone();
            let (path, secret, anonymous) = (path.clone(), secret.clone(), Client::anonymous(worker.address()));
            match way % 3 {
                0 => Box::new(move || run_of(&start(&client, "limited")?)),
                1 => Box::new(move || {
                    let task =
                        json!({ "workflowId": "limited", "permissionMode": "full-access", "priority": "normal" });
                    run_of(&client.post("/api/agent/tasks", &task)?)
                }),
                _ => Box::new(move || {
                    let headers = [("x-weir-webhook-secret", secret.as_str())];
                    let call = Request { method: "POST", path: &path, headers: &headers, body: Some(b"{}") };
                    run_of(&anonymous.send(&call)?)
                }),
            }
        })
        .collect();
    let started: Vec<_> = ways.into_iter().map(thread::spawn).collect();
    let mut spans = Vec::new();
    for thread in started {
        let run = thread.join().map_err(|_| anyhow::anyhow!("a start broke off"))??;
        let detail = client.finish(&run)?;
        ensure!(detail.row.status == RunStatus::Completed, "{:?}", detail.row);
        spans.push((detail.row.started_at.context("started")?.0, detail.row.completed_at.context("ended")?.0));
    }
    ensure!(std::fs::read_to_string(worker.world().path("home/through"))?.lines().count() == 12);
    spans.sort_unstable();
    let gaps: Vec<i64> = spans.windows(2).map(|pair| pair[1].0 - pair[0].1).collect();
    ensure!(gaps.iter().all(|gap| *gap >= 0), "two at a time: {spans:?}");
    // A tenth of a second at most, of which a machine with other work may need several.
    ensure!(gaps.iter().all(|gap| *gap < 1_000), "the next did not follow at once: {gaps:?}");
    Ok(())
}

#[test]
fn two_starts_in_one_moment_are_one_run_and_one_refusal() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    client.create_flow("limited", &limited(UNTIL_TOLD, "skip"))?;
    let starts: Vec<_> = (0..8)
        .map(|_| {
            let client = client.clone();
            thread::spawn(move || start(&client, "limited"))
        })
        .collect();
    let mut statuses = Vec::new();
    for start in starts {
        let answer = start.join().map_err(|_| anyhow::anyhow!("a start broke off"))??;
        ensure!(answer.status == 202 || answer.problem(409)?.code == "flow_busy", "{}", answer.text());
        statuses.push(answer.status);
    }
    ensure!(statuses.iter().filter(|status| **status == 202).count() == 1, "{statuses:?}");
    tell(worker.world())?;
    until("the place is free again", PATIENCE, || {
        start(&client, "limited").ok().filter(|answer| answer.status == 202)
    })?;
    Ok(())
}

#[test]
fn after_a_power_cut_every_place_is_free_and_nothing_that_waited_starts_by_itself() -> Result<()> {
    let mut worker = Worker::start()?;
    let client = worker.client()?;
    client.create_flow("limited", &limited(&format!("echo . >> \"$HOME/begun\"; {UNTIL_TOLD}"), "queue"))?;
    let runs: Vec<RunId> = (0..3).map(|_| run_of(&start(&client, "limited")?)).collect::<Result<_>>()?;
    let begun = worker.world().path("home/begun");
    until("the first one runs", PATIENCE, || begun.exists().then_some(()))?;
    ensure!(capacity(&client)?.queued == 2);
    worker.kill()?;
    worker.start_again()?;
    let now = capacity(&client)?;
    ensure!(now.running == 0 && now.queued == 0, "{now:?}");
    for run in &runs {
        let row = client.run(run)?.row;
        ensure!(matches!(row.status, RunStatus::Interrupted), "{row:?}");
    }
    tell(worker.world())?;
    let next = client.finish(&run_of(&start(&client, "limited")?)?)?;
    ensure!(next.row.status == RunStatus::Completed);
    ensure!(std::fs::read_to_string(&begun)?.lines().count() == 2, "only the first and the new one ran");
    Ok(())
}

#[test]
fn a_step_that_waits_for_its_next_attempt_holds_no_place() -> Result<()> {
    let world = World::new()?;
    world.configure("[run]\nparallel = 1\n")?;
    let worker = Worker::start_in(world)?;
    let client = worker.client()?;
    // It is right at its second attempt only if the other one ran in between.
    let mut flow = flow(
        "Siblings",
        &[command_node("waits", "[ -e \"$HOME/other\" ]"), command_node("other", "touch \"$HOME/other\"")],
        &[],
    );
    flow["nodes"][0]["idempotent"] = json!(true);
    flow["nodes"][0]["retry"] = json!({ "maxAttempts": 2, "backoffMs": 3000 });
    client.create_flow("siblings", &flow)?;
    let detail = client.finish(&run_of(&start(&client, "siblings")?)?)?;
    ensure!(detail.row.status == RunStatus::Completed, "{:?}", detail.row);
    Ok(())
}

/// What was admitted has all that it needs; what is taken from under it makes it fail once, and the next one goes on.
#[test]
fn what_waited_and_cannot_run_any_more_fails_once_and_holds_nobody_up() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let plugin = worker.world().flows().join("plugins/gone");
    std::fs::create_dir_all(&plugin)?;
    write_plugin(&plugin)?;
    let trust = || command_line::run(&mut worker.world().weir(&["trust", "gone", "--yes", "--flows", "flows"])).ok();
    until("the plugin is seen and trusted", PATIENCE, || trust().filter(|said| said.code == 0))?;
    let mut flow = flow(
        "Limited",
        &[command_node("first", UNTIL_TOLD), json!({ "id": "second", "tool": "gone_tool", "args": {} })],
        &[("first", "second")],
    );
    flow["concurrency"] = json!({ "limit": 1, "onLimit": "queue" });
    until("the flow can run", PATIENCE, || {
        client
            .post("/api/workflows/check", &json!({ "flow": flow }))
            .ok()
            .filter(|answer| !answer.text().contains("unavailable_tool") && !answer.text().contains("untrusted"))
    })?;
    client.create_flow("limited", &flow)?;
    let runs: Vec<RunId> = (0..3).map(|_| run_of(&start(&client, "limited")?)).collect::<Result<_>>()?;
    std::fs::remove_dir_all(&plugin)?;
    client
        .delete(&format!("/api/workflows/limited?expectedRevision={}", client.flow("limited")?.revision))?
        .having::<Value>(200)?;
    tell(worker.world())?;
    for run in &runs {
        let detail = client.finish(run)?;
        let error = detail.row.error.clone().unwrap_or_default();
        ensure!(detail.row.status == RunStatus::Failed && error.contains("gone"), "{:?}", detail.row);
    }
    let now = capacity(&client)?;
    ensure!(now.running == 0 && now.queued == 0, "{now:?}");
    Ok(())
}

fn write_plugin(folder: &Path) -> Result<()> {
    let manifest = json!({
        "schema": 1, "id": "gone", "name": "Gone", "version": "1.0.0",
        "tools": [{
            "name": "gone_tool", "effect": "read",
            "inputSchema": { "type": "object", "properties": {} },
            "run": { "command": ["true"], "input": "none", "output": "text" }
        }]
    });
    Ok(std::fs::write(folder.join("plugin.json"), manifest.to_string())?)
}

#[test]
fn a_flow_of_many_steps_does_not_hold_up_a_small_one() -> Result<()> {
    let world = World::new()?;
    world.configure("[limits]\nflowSteps = 500\n")?;
    let worker = Worker::start_in(world)?;
    let client = worker.client()?;
    let nodes: Vec<Value> =
        (0..500).map(|n| command_node(&format!("n{n}"), "echo . >> \"$HOME/big\"; sleep 0.05")).collect();
    client.create_flow("big", &flow("Big", &nodes, &[]))?;
    client.create_flow("small", &one_command_flow("Small", "wc -l < \"$HOME/big\" > \"$HOME/seen\""))?;
    let big = run_of(&start(&client, "big")?)?;
    let file = worker.world().path("home/big");
    let lines = || std::fs::read_to_string(&file).unwrap_or_default().lines().count();
    until("the big one is at work", PATIENCE, || (lines() >= 16).then_some(()))?;
    let before = lines();
    let small = client.finish(&run_of(&start(&client, "small")?)?)?;
    ensure!(small.row.status == RunStatus::Completed);
    let seen: usize = std::fs::read_to_string(worker.world().path("home/seen"))?.trim().parse()?;
    // One round of what runs side by side, and not what waits behind it.
    ensure!(seen - before <= 64, "{} steps of the big flow went first", seen - before);
    ensure!(client.run(&big)?.row.completed_at.is_none(), "the big one still runs");
    client.cancel(&big)?.having::<Value>(202)?;
    Ok(())
}

#[test]
fn an_owner_who_floods_the_queue_holds_nobody_else_up_and_capacity_says_what_waits() -> Result<()> {
    let worker = Worker::start()?;
    let local = worker.client()?;
    let token = |name: &str| -> Result<Client> {
        let arguments = ["token", "new", name, "--max-permission-mode", "full-access"];
        let said = command_line::run(&mut worker.world().weir(&arguments))?;
        let client = Client::anonymous(worker.address()).with_token(said.stdout.trim());
        until("the token is known", PATIENCE, || {
            client.get("/api/workflows").is_ok_and(|answer| answer.status == 200).then_some(())
        })?;
        Ok(client)
    };
    let (flood, quick) = (token("flood")?, token("quick")?);
    local.create_flow("slow", &one_command_flow("Slow", UNTIL_TOLD))?;
    let revision = local.flow("slow")?.revision;
    local.post("/api/workflows/slow/publish", &json!({ "expectedRevision": revision }))?.having::<Value>(200)?;
    let ask = |client: &Client, priority: &str| {
        client.post(
            "/api/agent/tasks",
            &json!({ "workflowId": "slow", "permissionMode": "full-access", "priority": priority }),
        )
    };
    // Sixteen run, and as many as one owner may have wait.
    let mut refused = None;
    for _ in 0..64 {
        let answer = ask(&flood, "normal")?;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        answer.having::<Value>(202)?;
    }
    let refused = refused.context("an owner's share of the queue has an end")?;
    let problem: Value = serde_json::from_slice(&refused.body)?;
    ensure!(problem["code"] == "capacity" && problem["capacityScope"] == "owner-priority", "{problem}");
    ensure!(problem["capacityPriority"] == "normal" && problem["retryAfterSeconds"] == 1, "{problem}");
    ensure!(refused.header("retry-after") == "1");
    let full = capacity(&flood)?;
    ensure!(full.running == 16 && full.queued_normal > 0 && full.owned_queued_normal == full.queued_normal, "{full:?}");

    let own: Value = ask(&quick, "interactive")?.having(202)?;
    let own = own["taskId"].as_str().context("a task")?.to_owned();
    let seen = capacity(&quick)?;
    ensure!(seen.owned_queued_interactive == 1 && seen.owned_running == 0, "{seen:?}");
    tell(worker.world())?;
    let done: Value = quick.get(&format!("/api/agent/tasks/{own}?timeoutMs=60000"))?.having(200)?;
    ensure!(done["status"] == "completed", "{done}");
    // It took the first or second place that came free, whatever waited before it; and those had their turn, too.
    let started = quick.runs("")?.runs.first().and_then(|row| row.started_at).context("started")?;
    let rows = flood.runs("limit=100")?.runs;
    let before = rows.iter().filter(|row| row.started_at.is_some_and(|at| at < started)).count();
    ensure!((16..=18).contains(&before), "{before} of the flood started before it");
    for row in rows {
        ensure!(flood.finish(&row.run_id)?.row.status == RunStatus::Completed);
    }
    Ok(())
}
