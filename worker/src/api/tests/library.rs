//! The library over HTTP: what a page and a `curl` do with flows.

use serde_json::{Value, json};

use super::client::Ask;
use super::server::Server;

fn flow(name: &str) -> Value {
    json!({
        "format": 1, "name": name,
        "nodes": [{ "id": "wait", "tool": "delay", "args": { "seconds": 0 } }], "edges": [],
    })
}

fn with(ask: Ask, body: &Value) -> Ask {
    ask.body(body.to_string())
}

#[tokio::test]
async fn a_flow_is_created_read_saved_and_deleted() {
    let server = Server::start().await;
    let created =
        with(server.ask("POST", "/api/workflows"), &json!({ "flow": flow("Two words") })).send(server.address).await;
    assert_eq!((created.status, created.json()["id"].as_str()), (201, Some("two-words")), "{created:?}");
    assert!(server.flows().join("two-words.flow.json").is_file());
    let again =
        with(server.ask("POST", "/api/workflows"), &json!({ "flow": flow("Two words") })).send(server.address).await;
    assert_eq!(again.json()["id"], "two-words-2");
    let taken = json!({ "id": "two-words", "flow": flow("X") });
    let refused = with(server.ask("POST", "/api/workflows"), &taken).send(server.address).await;
    assert_eq!((refused.status, refused.code()), (409, "flow_exists".to_owned()));

    let shown = server.ask("GET", "/api/workflows/two-words").send(server.address).await;
    let revision = shown.json()["revision"].as_str().unwrap().to_owned();
    assert_eq!(shown.header("etag"), Some(format!("\"{revision}\"").as_str()));
    let listed = server.ask("GET", "/api/workflows").send(server.address).await;
    assert_eq!(listed.json().as_array().unwrap().len(), 2);

    let save = server.ask("PUT", "/api/workflows/two-words");
    let missing = with(save.clone(), &json!({ "flow": flow("New") })).send(server.address).await;
    assert_eq!((missing.status, missing.code()), (428, "revision_required".to_owned()));
    let saved = with(save.clone().header("If-Match", format!("\"{revision}\"")), &json!({ "flow": flow("New") }));
    assert_eq!(saved.send(server.address).await.status, 200);
    let stale = with(save, &json!({ "flow": flow("Other"), "expectedRevision": revision })).send(server.address).await;
    assert_eq!((stale.status, stale.code()), (409, "revision_conflict".to_owned()));
    assert_eq!(stale.json()["flow"]["name"], "New");

    let stale = server.ask("DELETE", &format!("/api/workflows/two-words?expectedRevision={revision}"));
    assert_eq!(stale.send(server.address).await.status, 409);
    let gone = server.ask("DELETE", "/api/workflows/two-words").send(server.address).await;
    assert_eq!((gone.status, gone.json()["ok"].as_bool()), (200, Some(true)));
    assert_eq!(server.ask("GET", "/api/workflows/two-words").send(server.address).await.status, 404);
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_with_its_findings_and_not_written() {
    let server = Server::start().await;
    let mut wrong = flow("Wrong");
    wrong["nodes"][0]["aproval"] = json!(true);
    let refused = with(server.ask("POST", "/api/workflows"), &json!({ "flow": wrong })).send(server.address).await;
    assert_eq!((refused.status, refused.code()), (400, "unreadable_flow".to_owned()));
    assert_eq!(refused.json()["findings"][0]["code"], "unknown_key");
    assert!(!server.flows().join("wrong.flow.json").exists());

    let checked =
        with(server.ask("POST", "/api/workflows/check"), &json!({ "flow": wrong })).send(server.address).await;
    assert_eq!((checked.status, checked.json()["canonical"].clone()), (200, Value::Null));
    let good = with(server.ask("POST", "/api/workflows/check"), &json!({ "text": flow("Good").to_string() }));
    let good = good.send(server.address).await;
    assert_eq!(good.json()["plan"]["steps"][0]["toolName"], "delay");
    for body in [json!({}), json!({ "flow": {}, "text": "" }), json!({ "txt": "" })] {
        assert_eq!(with(server.ask("POST", "/api/workflows/check"), &body).send(server.address).await.status, 400);
    }
}

#[tokio::test]
async fn deep_nesting_is_refused_and_not_followed() {
    let server = Server::start().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (method, path) in [("POST", "/api/workflows"), ("POST", "/api/agent/run"), ("PUT", "/api/workflows/a")] {
        let raw = server.ask(method, path).body(deep.clone()).send(server.address).await;
        assert_eq!(raw.status, 400, "{method} {path}");
        let wrapped = format!("{{\"flow\":{deep},\"workflow\":{deep},\"expectedRevision\":\"0123456789abcdef\"}}");
        let wrapped = server.ask(method, path).body(wrapped).send(server.address).await;
        assert_eq!(wrapped.status, 400, "{method} {path}");
    }
    let flow = format!("{{\"flow\":{deep}}}");
    let created = server.ask("POST", "/api/workflows").body(flow.clone()).send(server.address).await;
    assert_eq!((created.status, created.code()), (400, "unreadable_flow".to_owned()));
    assert_eq!(server.ask("POST", "/api/workflows/check").body(flow).send(server.address).await.status, 200);
    let plan = server.ask("POST", "/api/agent/run").body(format!("{{\"workflow\":{deep}}}")).send(server.address).await;
    assert_eq!((plan.status, plan.code()), (400, "invalid_plan".to_owned()));
}
