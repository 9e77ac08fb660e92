//! Named tokens: what each scope opens, whose things each owner sees, and what ends with a token.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_shared::ids::RunId;
use weir_shared::run::state::RunStatus;
use weir_tests::client::{Client, Request};
use weir_tests::command_line;
use weir_tests::flows::{one_command, one_command_flow};
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::Worker;

/// A worker, and clients of named tokens.
struct Scene {
    worker: Worker,
    tokens: BTreeMap<&'static str, String>,
}

impl Scene {
    /// Makes a token of each of these: name, owner, scope.
    fn set(named: &[(&'static str, &str, &str)]) -> Result<Self> {
        let worker = Worker::start()?;
        let mut tokens = BTreeMap::new();
        for (name, owner, scope) in named {
            let mode = "full-access";
            let arguments = ["token", "new", name, "--owner", owner, "--scope", scope, "--max-permission-mode", mode];
            let said = command_line::run(&mut worker.world().weir(&arguments))?;
            ensure!(said.code == 0, "{said:?}");
            tokens.insert(*name, said.stdout.trim().to_owned());
        }
        let scene = Self { worker, tokens };
        for (name, ..) in named {
            scene.wait_for(name, 200)?;
        }
        Ok(scene)
    }

    fn client(&self, name: &str) -> Client {
        Client::anonymous(self.worker.address()).with_token(self.tokens.get(name).map_or("", String::as_str))
    }

    /// The worker reads the file when it is told to, not while it is written.
    fn wait_for(&self, name: &str, status: u16) -> Result<()> {
        let client = self.client(name);
        let what = format!("`{name}` is answered with {status}");
        until(&what, PATIENCE, || client.get("/api/session").is_ok_and(|answer| answer.status == status).then_some(()))
    }
}

/// Every kind of thing that can be asked for, and the narrowest scope that may.
fn questions(run: &RunId, revision: &str) -> Vec<(&'static str, String, Value, &'static str)> {
    let flow = one_command_flow("New", "true");
    let plan = json!({ "goal": "x", "workflow": one_command("true") });
    let saved = |rest: &str| format!("/api/workflows/saved{rest}");
    let expected = json!({ "expectedRevision": revision });
    vec![
        ("GET", "/api/session".into(), Value::Null, "read"),
        ("GET", "/api/workflows".into(), Value::Null, "read"),
        ("GET", saved(""), Value::Null, "read"),
        ("GET", saved("/revisions"), Value::Null, "read"),
        ("GET", saved("/diff?from=draft&to=draft"), Value::Null, "read"),
        ("GET", "/api/agent/runs".into(), Value::Null, "read"),
        ("GET", "/api/agent/tasks".into(), Value::Null, "read"),
        ("GET", "/api/agent/tasks/capacity".into(), Value::Null, "read"),
        ("GET", "/api/agent/tools".into(), Value::Null, "read"),
        ("GET", "/api/agent/webhook-triggers".into(), Value::Null, "read"),
        ("GET", "/api/agent/schedules".into(), Value::Null, "read"),
        ("POST", "/api/agent/schedules/preview".into(), json!({ "cron": "@daily" }), "read"),
        ("GET", "/api/plugins".into(), Value::Null, "read"),
        ("POST", "/api/workflows/check".into(), json!({ "flow": flow }), "read"),
        ("POST", saved("/run"), json!({}), "run"),
        ("POST", "/api/agent/tasks".into(), json!({ "workflowId": "saved" }), "run"),
        ("POST", "/api/agent/schedules".into(), json!({ "workflowId": "missing" }), "run"),
        ("DELETE", "/api/agent/schedules/none".into(), Value::Null, "run"),
        ("POST", "/api/agent/run".into(), plan, "admin"),
        ("POST", format!("/api/agent/{run}/approve"), json!({ "approved": false }), "admin"),
        ("POST", "/api/session/code".into(), json!({}), "admin"),
        ("POST", "/api/workflows".into(), json!({ "id": "new", "flow": flow }), "admin"),
        ("PUT", saved(""), json!({ "flow": flow, "expectedRevision": "0" }), "admin"),
        ("POST", saved("/publish"), expected, "admin"),
        ("POST", saved("/accept"), json!({ "number": 9, "sha256": "" }), "admin"),
        ("POST", saved("/revisions/9/restore"), json!({}), "admin"),
        ("POST", saved("/rename"), json!({ "id": "other", "expectedRevision": "0" }), "admin"),
        ("POST", saved("/duplicate"), json!({}), "admin"),
        ("DELETE", saved("?expectedRevision=0"), Value::Null, "admin"),
        ("POST", "/api/agent/webhook-triggers".into(), json!({ "workflowId": "missing" }), "admin"),
        ("POST", "/api/plugins/none/trust".into(), json!({ "digest": "", "effects": "command" }), "admin"),
        ("POST", "/api/plugins/none/enabled".into(), json!({ "enabled": true }), "admin"),
    ]
}

#[test]
fn each_scope_opens_what_it_names_and_nothing_more() -> Result<()> {
    let scene = Scene::set(&[("reader", "ada", "read"), ("runner", "ada", "run"), ("keeper", "ada", "admin")])?;
    let local = scene.worker.client()?;
    let revision = local.create_flow("saved", &one_command_flow("Saved", "true"))?.revision.to_string();
    let run = scene.client("keeper").run_plan_as(&one_command("true"), &json!({}))?;
    let scopes = ["read", "run", "admin"];
    for (name, own) in [("reader", 0), ("runner", 1), ("keeper", 2)] {
        let client = scene.client(name);
        for (method, path, body, needed) in questions(&run, &revision) {
            let answer = match method {
                "GET" => client.get(&path),
                "POST" => client.post(&path, &body),
                "PUT" => client.put(&path, &body),
                _ => client.delete(&path),
            }?;
            let needed = scopes.iter().position(|scope| *scope == needed).context("a scope")?;
            let refused = answer.status == 403;
            ensure!(refused == (own < needed), "{name}: {method} {path}: {}: {}", answer.status, answer.text());
            ensure!(answer.status != 401 && answer.status < 500, "{name}: {method} {path}: {}", answer.text());
            ensure!(!refused || answer.problem(403)?.code == "scope", "{}", answer.text());
        }
    }
    Ok(())
}

#[test]
fn what_belongs_to_another_does_not_exist() -> Result<()> {
    let scene = Scene::set(&[("ada", "ada", "run"), ("bob", "bob", "run"), ("chief", "eve", "admin")])?;
    scene.worker.client()?.create_flow("saved", &one_command_flow("Saved", "sleep 60"))?;
    let (ada, bob, chief) = (scene.client("ada"), scene.client("bob"), scene.client("chief"));
    let mode = json!({ "config": { "permissionMode": "full-access" } });
    let started: Value = ada.post("/api/workflows/saved/run", &mode)?.having(202)?;
    let (run, task) = (started["runId"].as_str().unwrap_or(""), started["taskId"].as_str().unwrap_or(""));
    for (path, method) in [
        (format!("/api/agent/runs/{run}"), "GET"),
        (format!("/api/agent/stream?runId={run}"), "GET"),
        (format!("/api/agent/runs/{run}/steps/0/output"), "GET"),
        (format!("/api/agent/tasks/{task}"), "GET"),
        (format!("/api/agent/{run}/cancel"), "POST"),
        (format!("/api/agent/tasks/{task}"), "DELETE"),
    ] {
        let ask = |client: &Client| match method {
            "GET" => client.get(&path),
            "POST" => client.post(&path, &json!({})),
            _ => client.delete(&path),
        };
        let answer = ask(&bob)?;
        ensure!(answer.status == 404, "{method} {path}: {} {}", answer.status, answer.text());
        let unknown = path.replace(run, "01890a5d-ac96-774b-bcce-b302099a8057");
        let unknown = unknown.replace(task, "01890a5d-ac96-774b-bcce-b302099a8057");
        let nobody = if method == "GET" { bob.get(&unknown) } else { continue }?;
        ensure!(nobody.problem(404)?.code == answer.problem(404)?.code, "{path} differs from one that is unknown");
    }
    ensure!(bob.runs("")?.runs.is_empty() && ada.runs("")?.runs.len() == 1 && chief.runs("")?.runs.len() == 1);
    let capacity: Value = bob.get("/api/agent/tasks/capacity")?.having(200)?;
    ensure!(capacity["running"] == 1 && capacity["ownedRunning"] == 0, "{capacity}");
    let run: RunId = run.parse().map_err(|_| anyhow::anyhow!("no id: {run}"))?;
    ada.cancel(&run)?.having::<Value>(202)?;
    ensure!(ada.finish(&run)?.row.status == RunStatus::Cancelled);
    Ok(())
}

#[test]
fn a_mode_wider_than_the_token_allows_is_refused() -> Result<()> {
    let worker = Worker::start()?;
    let said = command_line::run(&mut worker.world().weir(&["token", "new", "ci"]))?;
    let client = Client::anonymous(worker.address()).with_token(said.stdout.trim());
    worker.client()?.create_flow("saved", &one_command_flow("Saved", "true"))?;
    until("the token is known", PATIENCE, || {
        client.get("/api/workflows").is_ok_and(|a| a.status == 200).then_some(())
    })?;
    let mode = |mode: &str| json!({ "config": { "permissionMode": mode } });
    let refused = client.post("/api/workflows/saved/run", &mode("full-access"))?;
    ensure!(refused.status == 403, "{}", refused.text());
    client.post("/api/workflows/saved/run", &mode("ask-for-approval"))?.having::<Value>(202)?;
    Ok(())
}

#[test]
fn a_session_ends_with_the_token_that_opened_it() -> Result<()> {
    let scene = Scene::set(&[("phone", "ada", "run")])?;
    let body = json!({ "token": scene.tokens["phone"] }).to_string();
    let anonymous = Client::anonymous(scene.worker.address());
    let origin = scene.worker.url("");
    let opened = anonymous.send(&Request {
        method: "POST",
        path: "/api/session",
        headers: &[("content-type", "application/json"), ("origin", &origin)],
        body: Some(body.as_bytes()),
    })?;
    let cookie = opened.header("set-cookie").split(';').next().unwrap_or("").to_owned();
    let ask = || {
        let headers = [("cookie", cookie.as_str()), ("origin", origin.as_str())];
        anonymous.send(&Request { method: "GET", path: "/api/session", headers: &headers, body: None })
    };
    let session: Value = ask()?.having(200)?;
    ensure!(session["owner"] == "ada" && session["scope"] == "run", "{session}");

    let listed = command_line::run(&mut scene.worker.world().weir(&["token", "list"]))?;
    ensure!(listed.stdout.contains("phone") && !listed.stdout.contains(&scene.tokens["phone"]), "{listed:?}");
    let removed = command_line::run(&mut scene.worker.world().weir(&["token", "remove", "phone"]))?;
    ensure!(removed.code == 0, "{removed:?}");
    scene.wait_for("phone", 401)?;
    ensure!(ask()?.status == 401, "its session goes with it");
    Ok(())
}

/// Read again whole or not at all; what waits for the next start is named.
#[test]
fn sighup_reads_the_configuration_again() -> Result<()> {
    let worker = Worker::start()?;
    let foreign = |worker: &Worker| {
        let token = worker.token()?;
        let headers = [("origin", "https://ally.example"), ("x-weir-token", token.as_str())];
        let ask = Request { method: "GET", path: "/api/session", headers: &headers, body: None };
        Ok::<u16, anyhow::Error>(Client::anonymous(worker.address()).send(&ask)?.status)
    };
    ensure!(foreign(&worker)? == 403);
    let says = |what: &str| until(what, PATIENCE, || worker.log().contains(what).then_some(()));

    worker.world().configure("allowOrigins = [\"https://ally.example\"]\n[run]\nparallel = 3\n")?;
    worker.signal(nix::sys::signal::Signal::SIGHUP);
    says("run.parallel")?;
    ensure!(foreign(&worker)? == 200, "{}", worker.log());

    worker.world().configure("allowOrigin = []\n")?;
    worker.signal(nix::sys::signal::Signal::SIGHUP);
    says("did you mean `allowOrigins`?")?;
    ensure!(foreign(&worker)? == 200, "what held goes on holding: {}", worker.log());
    Ok(())
}
