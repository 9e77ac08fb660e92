//! Tasks over HTTP: what was admitted, waiting for it, ending it, and how many runs of a flow may go on.

use std::time::Duration;

use serde_json::{Value, json};

use super::server::Server;

async fn get(server: &Server, path: &str) -> (u16, Value) {
    let answer = server.ask("GET", path).send(server.address).await;
    (answer.status, answer.json())
}

async fn post(server: &Server, path: &str, body: &Value) -> (u16, Value) {
    let answer = server.ask("POST", path).body(body.to_string()).send(server.address).await;
    (answer.status, answer.json())
}

/// Starts a plan of one wait; its task's id.
async fn start(server: &Server, seconds: u64) -> String {
    let plan = json!({ "steps": [{ "index": 0, "toolName": "delay", "args": { "seconds": seconds } }] });
    let (status, accepted) = post(server, "/api/agent/run", &json!({ "goal": "wait", "workflow": plan })).await;
    assert_eq!(status, 202, "{accepted}");
    accepted["taskId"].as_str().unwrap().to_owned()
}

/// Makes a flow that waits for an hour.
async fn make_flow(server: &Server, id: &str, on_limit: &str) {
    let flow = json!({
        "format": 1, "name": id, "edges": [], "concurrency": { "limit": 1, "onLimit": on_limit },
        "nodes": [{ "id": "wait", "tool": "delay", "args": { "seconds": 3600 } }],
    });
    let (status, made) = post(server, "/api/workflows", &json!({ "id": id, "flow": flow })).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(made["findings"], json!([]), "its concurrency is in force");
}

async fn run_flow(server: &Server, id: &str) -> (u16, Value) {
    post(server, &format!("/api/workflows/{id}/run"), &json!({})).await
}

#[tokio::test]
async fn a_task_is_waited_for_and_holds_the_result_of_its_run() {
    let server = Server::start().await;
    let id = start(&server, 0).await;
    let (status, task) = get(&server, &format!("/api/agent/tasks/{id}?timeoutMs=60000")).await;
    assert_eq!((status, task["status"].as_str()), (200, Some("completed")), "{task}");
    assert_eq!((task["kind"].as_str(), task["priority"].as_str()), (Some("workflow"), Some("interactive")));
    assert!(task["output"].as_str().unwrap().contains("waitedSeconds"), "{task}");
    assert_eq!(task["cancelRequested"], json!(false));
    let (_, list) = get(&server, "/api/agent/tasks?status=completed").await;
    assert_eq!(list["tasks"][0]["taskId"].as_str(), Some(id.as_str()));
    let (_, none) = get(&server, "/api/agent/tasks?status=running").await;
    assert_eq!(none["tasks"], json!([]));
    assert_eq!(get(&server, "/api/agent/tasks?status=sleeping").await.0, 400);
}

#[tokio::test]
async fn several_are_waited_for_and_a_wait_has_its_own_end() {
    let server = Server::start().await;
    let (quick, slow) = (start(&server, 0).await, start(&server, 3600).await);
    let wait = async |mode: &str, timeout: u64| {
        let body = json!({ "ids": [slow, quick], "mode": mode, "timeoutMs": timeout });
        post(&server, "/api/agent/tasks/wait", &body).await
    };
    let (status, any) = wait("any", 60_000).await;
    assert_eq!((status, &any["timedOut"]), (200, &json!(false)), "{any}");
    assert_eq!(any["tasks"][1]["status"].as_str(), Some("completed"), "in the order that was asked for");
    let (_, all) = wait("all", 20).await;
    assert_eq!(all["timedOut"], json!(true), "{all}");
    assert!(matches!(all["tasks"][0]["status"].as_str(), Some("queued" | "running")), "{all}");

    let killed = server.ask("DELETE", &format!("/api/agent/tasks/{slow}")).send(server.address).await;
    assert_eq!(killed.status, 202, "{killed:?}");
    let (_, all) = wait("all", 60_000).await;
    assert_eq!(all["tasks"][0]["status"].as_str(), Some("cancelled"), "{all}");
    let again = server.ask("DELETE", &format!("/api/agent/tasks/{slow}")).send(server.address).await;
    assert_eq!(again.status, 404, "it has ended");
    let unknown = "/api/agent/tasks/0191d9a0-0000-7000-8000-000000000009";
    assert_eq!(get(&server, unknown).await.0, 404);
    let none = post(&server, "/api/agent/tasks/wait", &json!({ "ids": [], "mode": "any" })).await;
    assert_eq!(none.0, 400, "{}", none.1);
}

#[tokio::test]
async fn capacity_says_what_runs_and_waits() {
    let server = Server::start().await;
    let (status, idle) = get(&server, "/api/agent/tasks/capacity").await;
    assert_eq!((status, &idle["running"], &idle["available"]), (200, &json!(0), &idle["runningLimit"]));
    make_flow(&server, "one", "queue").await;
    assert_eq!(run_flow(&server, "one").await.0, 202);
    assert_eq!(run_flow(&server, "one").await.0, 202);
    let (_, busy) = get(&server, "/api/agent/tasks/capacity").await;
    assert_eq!((&busy["running"], &busy["queued"]), (&json!(1), &json!(1)), "its flow is at its limit: {busy}");
    assert_eq!((&busy["ownedQueuedInteractive"], &busy["activeOwners"]), (&json!(1), &json!(1)));
    assert_eq!(busy["schedulingPolicy"].as_str(), Some("owner-round-robin-weighted-priority"));
}

#[tokio::test]
async fn at_its_limit_a_flow_is_skipped_queued_or_its_oldest_run_gives_way() {
    let server = Server::start().await;
    make_flow(&server, "skips", "skip").await;
    let (_, first) = run_flow(&server, "skips").await;
    let (status, refused) = run_flow(&server, "skips").await;
    assert_eq!((status, refused["code"].as_str()), (409, Some("flow_busy")), "{refused}");
    let task = first["taskId"].as_str().unwrap();
    server.ask("DELETE", &format!("/api/agent/tasks/{task}")).send(server.address).await;
    get(&server, &format!("/api/agent/tasks/{task}?timeoutMs=60000")).await;
    assert_eq!(run_flow(&server, "skips").await.0, 202);

    make_flow(&server, "replaces", "cancelOldest").await;
    let (_, old) = run_flow(&server, "replaces").await;
    let (_, new) = run_flow(&server, "replaces").await;
    let old = old["taskId"].as_str().unwrap();
    let (_, old) = get(&server, &format!("/api/agent/tasks/{old}?timeoutMs=60000")).await;
    assert_eq!(old["status"].as_str(), Some("cancelled"), "{old}");
    let new = new["taskId"].as_str().unwrap();
    let started = async {
        loop {
            let (_, task) = get(&server, &format!("/api/agent/tasks/{new}")).await;
            if task["status"].as_str() == Some("running") {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), started).await.expect("the new run starts once the old one is gone");
}
