//! Triggers of webhooks over HTTP: which are made, and what becomes of them when their flow changes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weir_shared::run::event::SandboxPosture;

use super::client::{Answer, Ask};
use super::hook::{EVENT, Hook, SECRET, flow_of, greeter, make_flow, make_hook, post, publish, revision, save, send};
use super::server::Server;
use crate::engine::Settings;

#[tokio::test]
async fn a_flow_that_needs_a_person_is_refused_with_what_needs_one() {
    let server = Server::start().await;
    let open = json!({ "type": "object" });
    let files = json!({ "type": "object", "properties": {
        "in": { "type": "object", "properties": { "csv": { "type": "string", "format": "weir-file" } } },
    } });
    let wait = json!({ "id": "wait", "tool": "delay", "args": { "seconds": 0 } });
    let command = |command: &str| json!({ "id": "cmd", "tool": "execute_command", "args": { "command": command } });
    let approved = json!({ "id": "wait", "tool": "delay", "approval": true, "args": { "seconds": 0 } });
    make_flow(&server, "picks", &files, &wait).await;
    let declared = json!({ "type": "object", "properties": { "x": { "type": "string", "default": "" } } });
    make_flow(&server, "pastes", &declared, &command("echo {{ inputs.x | shell }}")).await;
    make_flow(&server, "commands", &open, &command("echo hello")).await;
    make_flow(&server, "asks", &open, &approved).await;
    make_flow(&server, "fine", &open, &wait).await;
    let draft = json!({ "id": "draft", "flow": flow_of("draft", &open, &wait) });
    assert_eq!(post(&server, "/api/workflows", &draft).await.0, 201);
    for (flow, mode, status, code, named) in [
        ("picks", "full-access", 422, "picks_files", json!({ "inputs": ["inputs.in.csv"] })),
        ("pastes", "full-access", 422, "raw_shell", json!({ "steps": ["cmd"] })),
        ("commands", "ask-for-approval", 422, "could_open_gates", json!({ "steps": ["cmd"] })),
        ("commands", "approve-for-me", 422, "could_open_gates", json!({ "steps": ["cmd"] })),
        ("asks", "ask-for-approval", 422, "could_open_gates", json!({ "steps": ["wait"] })),
        ("draft", "full-access", 409, "not_published", Value::Null),
        ("missing", "full-access", 404, "not_found", Value::Null),
        ("commands", "full-access", 201, "", Value::Null),
        ("fine", "ask-for-approval", 201, "", Value::Null),
    ] {
        let body = json!({ "workflowId": flow, "permissionMode": mode });
        let (got, problem) = post(&server, "/api/agent/webhook-triggers", &body).await;
        assert_eq!((got, problem["code"].as_str().unwrap_or_default()), (status, code), "{flow} {mode}: {problem}");
        assert_eq!(problem["params"], named, "{flow} {mode}");
    }
    greeter(&server).await;
    for (body, code) in [
        (json!({ "workflowId": "greeter", "defaultInputs": { "who": 1 } }), "invalid_inputs"),
        (json!({ "workflowId": "greeter", "signature": { "secret": "NONE", "preset": "slack" } }), "unknown_secret"),
        (json!({ "workflowId": "greeter", "signature": { "secret": "NONE" } }), "bad_signature_rule"),
        (json!({ "workflowId": "greeter", "requireSecret": false }), "bad_trigger"),
        (json!({ "workflowId": "greeter", "rateLimit": { "perMinute": 0, "burst": 1 } }), "bad_trigger"),
        (json!({ "workflowId": "greeter", "permisionMode": "full-access" }), "bad_body"),
    ] {
        let (_, problem) = post(&server, "/api/agent/webhook-triggers", &body).await;
        assert_eq!(problem["code"], code, "{body}");
    }
}

#[tokio::test]
async fn a_webhook_whose_flow_is_away_is_as_if_it_were_not_there_until_it_is_back() {
    let server = Server::start().await;
    greeter(&server).await;
    let hook = make_hook(&server, json!({})).await;
    let file = server.flows().join("greeter.flow.json");
    let text = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    until_state(&server, "paused").await;
    assert_eq!(send(&server, &hook.call(r#"{"who":"a"}"#)).await.status, 401);
    std::fs::write(&file, text).unwrap();
    until_state(&server, "active").await;
    assert_eq!(send(&server, &hook.call(r#"{"who":"a"}"#)).await.status, 202);
}

/// Waits until the one trigger is in this state.
async fn until_state(server: &Server, state: &str) {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let list = send(server, &server.ask("GET", "/api/agent/webhook-triggers")).await.json();
        if list["triggers"][0]["state"] == state {
            return;
        }
        assert!(Instant::now() < deadline, "it does not become {state}: {list}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_weaker_sandbox_pauses_and_uses_no_event_up() {
    let server = Server::start().await;
    greeter(&server).await;
    let hook = make_hook(&server, json!({})).await;
    let mut trigger = server.store.triggers().unwrap().remove(0);
    trigger.sandbox = SandboxPosture::Landlock;
    server.store.put_trigger(trigger.clone()).await.unwrap();
    let call = hook.call(r#"{"who":"a"}"#).header(EVENT, "evt");
    let answer = send(&server, &call).await;
    assert_eq!((answer.status, answer.code()), (409, "sandbox_weakened".to_owned()));
    let list = send(&server, &server.ask("GET", "/api/agent/webhook-triggers")).await.json();
    assert_eq!(list["triggers"][0]["state"], "paused");
    assert_eq!(list["triggers"][0]["pausedReason"], "sandbox_weakened");
    trigger.sandbox = SandboxPosture::Off;
    server.store.put_trigger(trigger).await.unwrap();
    assert_eq!(send(&server, &call).await.status, 202);
}

#[tokio::test]
async fn a_secret_that_was_replaced_opens_nothing_any_more() {
    let server = Server::start().await;
    greeter(&server).await;
    let hook = make_hook(&server, json!({})).await;
    let (status, rotated) =
        post(&server, &format!("/api/agent/webhook-triggers/{}/rotate-secret", hook.id), &json!({})).await;
    assert_eq!(status, 200);
    let secret = rotated["secret"].as_str().unwrap();
    assert_ne!(secret, hook.secret);
    assert!(rotated["rotatedAt"].is_string());
    assert_eq!(send(&server, &hook.call(r#"{"who":"a"}"#)).await.status, 401);
    let hook = Hook { secret: secret.to_owned(), ..hook };
    assert_eq!(send(&server, &hook.call(r#"{"who":"a"}"#)).await.status, 202);
    let (status, _) = post(&server, "/api/agent/webhook-triggers/nobody/rotate-secret", &json!({})).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn a_webhook_whose_flow_is_not_in_service_is_as_if_it_were_not_there() {
    let server = Server::with(Settings::default(), &[("GH", "It's a Secret to Everybody")]).await;
    greeter(&server).await;
    let hook = make_hook(&server, json!({})).await;
    let signed = make_hook(&server, json!({ "signature": { "preset": "github", "secret": "GH" } })).await;
    let right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let sign = |path: &str| Ask::new("POST", path).header("X-Hub-Signature-256", right).body("Hello, World!");
    let unknown = hook.path.replace(&hook.id, "01890a5d-ac96-774b-bcce-b302099a8057");
    let told = async |ask: &Ask| {
        let Answer { head, body, .. } = send(&server, ask).await;
        (head.lines().filter(|line| !line.starts_with("date: ")).collect::<Vec<_>>().join("\n"), body)
    };
    let nobody = told(&Ask::new("POST", &unknown).header(SECRET, hook.secret.as_str()).body("{}")).await;
    assert!(nobody.0.starts_with("http/1.1 401 "), "{nobody:?}");
    assert_eq!(send(&server, &sign(&signed.path)).await.code(), "bad_body", "it is let in");

    let draft = revision(&server, "greeter").await;
    publish(&server, "greeter", &draft, false).await;
    assert_eq!(told(&hook.call("{}")).await, nobody, "taken out of service");
    assert_eq!(told(&sign(&signed.path)).await, nobody);
    assert_eq!(paused(&server).await, json!("not_published"));
    let (status, problem) = post(&server, "/api/agent/webhook-triggers", &json!({ "workflowId": "greeter" })).await;
    assert_eq!((status, &problem["code"]), (409, &json!("out_of_service")));

    publish(&server, "greeter", &draft, true).await;
    assert_eq!((send(&server, &hook.call(r#"{"who":"a"}"#)).await.status, paused(&server).await), (202, Value::Null));

    // What is not what was accepted runs nowhere.
    let file = server.flows().join("published/greeter/1.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("Hello", "Goodbye")).unwrap();
    assert_eq!(told(&hook.call("{}")).await, nobody, "tampered with");
    assert_eq!(paused(&server).await, json!("not_published"));
    std::fs::write(&file, text).unwrap();
    assert_eq!(send(&server, &hook.call(r#"{"who":"a"}"#)).await.status, 202);
    assert_eq!(server.store.runs(&crate::store::RunQuery::default()).unwrap().runs.len(), 2);
}

#[tokio::test]
async fn a_call_runs_what_is_published_and_not_the_draft() {
    let server = Server::start().await;
    let open = json!({ "type": "object" });
    let say = |text: &str| {
        let node = json!({ "id": "say", "tool": "text_template", "args": { "template": text, "input": {} } });
        flow_of("greeter", &open, &node)
    };
    make_flow(&server, "greeter", &open, &say("one")["nodes"][0]).await;
    let hook = make_hook(&server, json!({})).await;
    let draft = save(&server, "greeter", &say("two"), &revision(&server, "greeter").await).await;
    let call = Ask::new("POST", &format!("{}?wait=60", hook.path)).header(SECRET, hook.secret.as_str()).body("{}");
    assert_eq!(send(&server, &call).await.json()["result"]["text"], "one");
    publish(&server, "greeter", &draft, true).await;
    assert_eq!(send(&server, &call).await.json()["result"]["text"], "two");

    // A version that could need a person is not started either, and uses no event up.
    let mut asks = say("three");
    asks["nodes"][0]["approval"] = json!(true);
    let asks = save(&server, "greeter", &asks, &draft).await;
    publish(&server, "greeter", &asks, true).await;
    let event = call.clone().header(EVENT, "evt");
    let refused = send(&server, &event).await;
    assert_eq!((refused.status, refused.code()), (422, "could_open_gates".to_owned()), "{refused:?}");
    assert_eq!(refused.json()["params"], json!({ "steps": ["say"] }));
    assert_eq!(paused(&server).await, json!("needs_person"));
    let mended = save(&server, "greeter", &say("four"), &asks).await;
    publish(&server, "greeter", &mended, true).await;
    let again = send(&server, &event).await.json();
    assert_eq!((&again["duplicate"], &again["result"]["text"]), (&json!(false), &json!("four")));
}

#[tokio::test]
async fn webhooks_go_with_their_flow_to_another_id_and_with_it_for_good() {
    let server = Server::start().await;
    greeter(&server).await;
    let hook = make_hook(&server, json!({})).await;
    let body = json!({ "to": "welcome", "expectedRevision": revision(&server, "greeter").await });
    assert_eq!(post(&server, "/api/workflows/greeter/rename", &body).await.0, 201);
    let answer = send(&server, &hook.call(r#"{"who":"a"}"#)).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let list = send(&server, &server.ask("GET", "/api/agent/webhook-triggers")).await.json();
    assert_eq!(list["triggers"][0]["workflowId"], "welcome");

    // Another flow that takes the id has nothing to do with it.
    greeter(&server).await;
    let deleted = send(&server, &server.ask("DELETE", "/api/workflows/welcome")).await;
    assert_eq!(deleted.json()["cancelledWebhookTriggers"], 1, "{deleted:?}");
    assert_eq!(send(&server, &hook.call(r#"{"who":"a"}"#)).await.status, 401);
    let list = send(&server, &server.ask("GET", "/api/agent/webhook-triggers")).await.json();
    assert_eq!(list["triggers"], json!([]));
}

/// Why the newest trigger takes no calls.
async fn paused(server: &Server) -> Value {
    let list = send(server, &server.ask("GET", "/api/agent/webhook-triggers")).await.json();
    list["triggers"][0]["pausedReason"].clone()
}
