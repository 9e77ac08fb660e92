//! Runs over HTTP: start, follow, cut and resume, read.

use serde_json::{Value, json};

use super::client::{Answer, Ask};
use super::server::Server;

/// A plan of two waits of no time.
fn plan() -> Value {
    json!({ "steps": [
        { "index": 0, "toolName": "delay", "args": { "seconds": 0 } },
        { "index": 1, "toolName": "delay", "args": { "seconds": 0 }, "dependsOn": [0] },
    ]})
}

async fn start(server: &Server) -> String {
    let body = json!({ "goal": "wait twice", "workflow": plan() });
    let accepted = server.ask("POST", "/api/agent/run").body(body.to_string()).send(server.address).await;
    assert_eq!(accepted.status, 202, "{accepted:?}");
    accepted.json()["runId"].as_str().unwrap().to_owned()
}

fn follow(server: &Server, run: &str) -> Ask {
    server.ask("GET", &format!("/api/agent/stream?runId={run}"))
}

/// The ids of a stream, in order. Chunk sizes of the transfer do not begin with `id`.
fn ids(answer: &Answer) -> Vec<u64> {
    answer.body.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
}

#[tokio::test]
async fn a_run_is_followed_to_its_end_and_again_from_every_event() {
    let server = Server::start().await;
    let run = start(&server).await;
    let whole = follow(&server, &run).send(server.address).await;
    assert_eq!(whole.header("content-type"), Some("text/event-stream"));
    assert!(whole.body.contains("retry: 1000\n\n"), "{}", whole.body);
    let all = ids(&whole);
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    assert!(whole.body.contains("event: complete"));

    let last = all.len() as u64;
    for after in 0..last {
        let rest = follow(&server, &run).header("Last-Event-ID", after.to_string()).send(server.address).await;
        assert_eq!(ids(&rest), (after + 1..=last).collect::<Vec<_>>());
    }
    for past in [last, last + 1, 99_999_999] {
        let rest = follow(&server, &run).header("Last-Event-ID", past.to_string()).send(server.address).await;
        assert_eq!(rest.status, 204, "{past}");
    }
    let by_query = server.ask("GET", &format!("/api/agent/stream?runId={run}&after={}", last - 1));
    assert_eq!(ids(&by_query.clone().send(server.address).await), [last]);
    assert_eq!(ids(&by_query.header("Last-Event-ID", "0").send(server.address).await), all, "the header wins");
}

#[tokio::test]
async fn a_stream_that_cannot_be_is_refused() {
    let server = Server::start().await;
    let run = start(&server).await;
    let bad = follow(&server, &run).header("Last-Event-ID", "abc").send(server.address).await;
    assert_eq!((bad.status, bad.code()), (400, "bad_event_id".to_owned()));
    for (path, status) in [
        ("/api/agent/stream", 400),
        ("/api/agent/stream?runId=nobody", 404),
        ("/api/agent/stream?runId=00000000-0000-7000-8000-000000000000", 404),
    ] {
        assert_eq!(server.ask("GET", path).send(server.address).await.status, status, "{path}");
    }
    let with_query_token = Ask::new("GET", &format!("/api/agent/stream?runId={run}&token={}", server.token));
    assert_eq!(with_query_token.send(server.address).await.status, 200);
    let elsewhere = Ask::new("GET", &format!("/api/agent/runs?token={}", server.token));
    assert_eq!(elsewhere.send(server.address).await.status, 401);
}

#[tokio::test]
async fn a_run_is_listed_and_shown_whole() {
    let server = Server::start().await;
    let run = start(&server).await;
    follow(&server, &run).send(server.address).await;
    let listed =
        server.ask("GET", "/api/agent/runs?q=TWICE&status=completed&cause=api&limit=1").send(server.address).await;
    assert_eq!(listed.json()["runs"][0]["runId"], run.as_str(), "{listed:?}");
    for bad in ["limit=0", "limit=501", "limit=x", "status=done", "flow=A", "before=x", "stauts=failed"] {
        assert_eq!(
            server.ask("GET", &format!("/api/agent/runs?{bad}")).send(server.address).await.status,
            400,
            "{bad}"
        );
    }
    let shown = server.ask("GET", &format!("/api/agent/runs/{run}")).send(server.address).await;
    assert_eq!(shown.json()["executions"].as_array().unwrap().len(), 2);
    assert_eq!(shown.json()["status"], "completed");
    let page = server.ask("GET", &format!("/api/agent/runs/{run}?eventLimit=2&after=1")).send(server.address).await;
    assert_eq!(page.json()["events"][0]["seq"], 2);
    assert_eq!(page.json()["events"].as_array().unwrap().len(), 2);
    let none = server.ask("GET", &format!("/api/agent/runs/{run}/steps/0/output")).send(server.address).await;
    assert_eq!((none.status, none.body.as_str()), (200, ""));
    let never = server.ask("GET", &format!("/api/agent/runs/{run}/steps/7/output")).send(server.address).await;
    assert_eq!(never.status, 404);
}

#[tokio::test]
async fn what_this_version_does_not_do_is_refused_by_name() {
    let server = Server::start().await;
    let ask = |path: &str, body: Value| server.ask("POST", path).body(body.to_string());
    let no_model = ask("/api/agent/run", json!({ "goal": "tidy up" })).send(server.address).await;
    assert_eq!((no_model.status, no_model.code()), (503, "no_model".to_owned()));
    let replans = json!({ "workflow": plan(), "config": { "maxReplans": 1 } });
    let refused = ask("/api/agent/run", replans).send(server.address).await;
    assert_eq!((refused.status, refused.code()), (422, "not_supported_yet".to_owned()), "{refused:?}");
    let faulty = json!({ "workflow": { "steps": [{ "index": 0, "toolName": "nothing_like_it" }] } });
    let refused = ask("/api/agent/run", faulty).send(server.address).await;
    assert_eq!((refused.status, refused.code()), (400, "invalid_plan".to_owned()));
    assert!(!refused.json()["faults"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_part_of_a_flow_is_run_up_to_a_node() {
    let server = Server::start().await;
    let wait = |id: &str| json!({ "id": id, "tool": "delay", "args": { "seconds": 0 } });
    let flow = json!({
        "format": 1, "name": "Part", "nodes": [wait("a"), wait("b"), wait("c"), wait("d")],
        "edges": [
            { "source": "a", "target": "b" }, { "source": "b", "target": "c" }, { "source": "c", "target": "d" },
        ],
    });
    let created = server.ask("POST", "/api/workflows").body(json!({ "flow": flow }).to_string());
    assert_eq!(created.send(server.address).await.status, 201);
    let run = |node: &str| server.ask("POST", "/api/workflows/part/run").body(json!({ "upTo": node }).to_string());
    let accepted = run("b").send(server.address).await;
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let id = accepted.json()["runId"].as_str().unwrap().to_owned();
    follow(&server, &id).send(server.address).await;
    let shown = server.ask("GET", &format!("/api/agent/runs/{id}")).send(server.address).await.json();
    let steps: Vec<&str> =
        shown["executions"].as_array().unwrap().iter().filter_map(|step| step["nodeId"].as_str()).collect();
    assert_eq!(steps, ["a", "b"]);
    let unknown = run("z").send(server.address).await;
    assert_eq!((unknown.status, unknown.code()), (422, "unknown_node".to_owned()));

    // `b` alone is served by the last run; `d`, which comes after `c`, has nothing to be served by.
    let only = |node: &str| server.ask("POST", "/api/workflows/part/run").body(json!({ "only": node }).to_string());
    let accepted = only("b").send(server.address).await;
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let id = accepted.json()["runId"].as_str().unwrap().to_owned();
    follow(&server, &id).send(server.address).await;
    let shown = server.ask("GET", &format!("/api/agent/runs/{id}")).send(server.address).await.json();
    assert_eq!(shown["status"], "completed");
    assert!(shown["plan"]["steps"][0].get("pinnedResult").is_some());
    assert!(shown["plan"]["steps"][1].get("pinnedResult").is_none());
    let missing = only("d").send(server.address).await;
    assert_eq!(missing.status, 422, "{missing:?}");
    assert!(missing.json()["error"].as_str().unwrap().contains('c'));
}

#[tokio::test]
async fn a_batch_starts_whole_or_not_at_all() {
    let server = Server::start().await;
    let ask = |body: Value| server.ask("POST", "/api/agent/batch").body(body.to_string());
    let accepted = ask(json!({ "workflows": [plan(), plan()], "capabilityMode": "read-only" }));
    let accepted = accepted.send(server.address).await;
    assert_eq!((accepted.status, accepted.json()["runIds"].as_array().unwrap().len()), (202, 2));
    let writes = json!({ "steps": [{ "index": 0, "toolName": "execute_command", "args": { "command": "true" } }] });
    let refused = ask(json!({ "workflows": [plan(), writes], "capabilityMode": "read-only" }));
    let refused = refused.send(server.address).await;
    assert_eq!((refused.status, refused.code()), (400, "invalid_plan".to_owned()));
    let runs = server.ask("GET", "/api/agent/runs").send(server.address).await.json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
    for bad in [json!({}), json!({ "workflows": [] }), json!({ "workflows": vec![plan(); 9] })] {
        assert_eq!(ask(bad.clone()).send(server.address).await.status, 400, "{bad}");
    }
    let goals = ask(json!({ "goals": ["tidy up"] })).send(server.address).await;
    assert_eq!((goals.status, goals.code()), (503, "no_model".to_owned()));
}

/// A place that no file has was answered as a fault of the worker.
#[tokio::test]
async fn output_past_its_end_is_nothing() {
    let server = Server::start().await;
    let plan = json!({ "steps": [
        { "index": 0, "toolName": "execute_command", "args": { "command": "printf abc" } },
    ]});
    let body = json!({ "goal": "print", "workflow": plan, "config": { "permissionMode": "full-access" } });
    let accepted = server.ask("POST", "/api/agent/run").body(body.to_string()).send(server.address).await;
    let run = accepted.json()["runId"].as_str().unwrap().to_owned();
    assert!(follow(&server, &run).send(server.address).await.body.contains("event: complete"));
    for (offset, rest) in [(1, "bc"), (3, ""), (4, ""), (i64::MAX.unsigned_abs() - 1, ""), (u64::MAX, "")] {
        let path = format!("/api/agent/runs/{run}/steps/0/output?offset={offset}");
        let answer = server.ask("GET", &path).send(server.address).await;
        assert_eq!(answer.status, 200, "{offset}: {answer:?}");
        assert!(rest.is_empty() == answer.body.trim_start_matches('0').trim().is_empty(), "{offset}: {answer:?}");
        assert!(answer.body.contains(rest), "{offset}: {answer:?}");
    }
}
