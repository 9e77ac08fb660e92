//! Schedules over HTTP: what is answered, and what is refused with which status.

use serde_json::{Value, json};

use super::client::Answer;
use super::hook::{make_flow, post, send};
use super::server::Server;

const ALL: &str = "/api/agent/schedules";

async fn ask(server: &Server, method: &str, path: &str, body: &Value) -> Answer {
    let ask = server.ask(method, &format!("{ALL}{path}"));
    let ask = if body.is_null() { ask } else { ask.body(body.to_string()) };
    send(server, &ask).await
}

/// A server with a flow that waits for no time, and one that runs a command.
async fn server() -> Server {
    let server = Server::start().await;
    let open = json!({ "type": "object" });
    let needs = json!({ "type": "object", "required": ["day"], "properties": { "day": { "type": "string" } } });
    let wait = json!({ "id": "wait", "tool": "delay", "args": { "seconds": 0 } });
    make_flow(&server, "report", &open, &wait).await;
    make_flow(&server, "daily", &needs, &wait).await;
    let command = json!({ "id": "cmd", "tool": "execute_command", "args": { "command": "true" } });
    make_flow(&server, "commands", &open, &command).await;
    server
}

#[tokio::test]
async fn a_schedule_is_made_shown_changed_and_removed() {
    let server = server().await;
    let asked = json!({ "workflowId": "report", "name": " Mondays ", "timeZone": "Europe/Berlin",
        "calendar": { "frequency": "weekly", "weekdays": [1], "time": "07:30" } });
    let (status, made) = post(&server, ALL, &asked).await;
    assert_eq!(status, 201, "{made}");
    for (key, value) in [
        ("workflowId", json!("report")),
        ("name", json!("Mondays")),
        ("source", json!("api")),
        ("owner", json!("local")),
        ("state", json!("active")),
        ("recurring", json!(true)),
        ("timeZone", json!("Europe/Berlin")),
        ("expiresAt", Value::Null),
        ("fires", json!(0)),
        ("missedFires", json!(0)),
        ("skippedFires", json!(0)),
        ("lastError", Value::Null),
        ("permissionMode", json!("ask-for-approval")),
        ("sandboxProfile", json!("off")),
        ("inputs", json!({})),
    ] {
        assert_eq!(made[key], value, "{key}: {made}");
    }
    let id = made["scheduleId"].as_str().unwrap();
    let list = ask(&server, "GET", "", &Value::Null).await.json();
    assert_eq!(list["schedules"], json!([made]));
    let flows = send(&server, &server.ask("GET", "/api/workflows")).await.json();
    let report = flows.as_array().unwrap().iter().find(|flow| flow["id"] == "report").unwrap();
    assert_eq!(report["nextFireAt"], made["nextFireAt"]);

    let preview = ask(&server, "GET", &format!("/{id}/preview?count=3"), &Value::Null).await.json();
    assert_eq!(preview["timeZone"], "Europe/Berlin");
    let fires = preview["fires"].as_array().unwrap();
    assert_eq!((fires.len(), &fires[0]["utc"]), (3, &made["nextFireAt"]));
    assert!(fires[0]["local"].as_str().unwrap().contains("T07:30:00+0"), "{preview}");

    let changed = ask(&server, "PATCH", &format!("/{id}"), &json!({ "paused": true, "overlap": "queue" })).await.json();
    assert_eq!((&changed["state"], &changed["pausedReason"]), (&json!("paused"), &json!("person")));
    assert_eq!((&changed["overlap"], &changed["nextFireAt"]), (&json!("queue"), &Value::Null));
    let changed = ask(&server, "PATCH", &format!("/{id}"), &json!({ "paused": false })).await.json();
    assert_eq!(changed["nextFireAt"], made["nextFireAt"]);
    let fires = ask(&server, "GET", &format!("/{id}/fires"), &Value::Null).await.json();
    assert_eq!(fires, json!({ "fires": [] }));

    let removed = ask(&server, "DELETE", &format!("/{id}"), &Value::Null).await;
    assert_eq!((removed.status, &removed.json()["state"]), (200, &json!("cancelled")));
    for (method, path, body) in [
        ("GET", String::new(), Value::Null),
        ("PATCH", String::new(), json!({ "paused": true })),
        ("DELETE", String::new(), Value::Null),
        ("GET", "/preview".to_owned(), Value::Null),
        ("GET", "/fires".to_owned(), Value::Null),
    ] {
        let answer = ask(&server, method, &format!("/{id}{path}"), &body).await;
        assert_eq!((answer.status, answer.code()), (404, "not_found".to_owned()), "{method} {path}");
    }
    assert_eq!(ask(&server, "GET", "/nonsense", &Value::Null).await.status, 404);
}

#[tokio::test]
async fn what_cannot_be_a_schedule_is_refused_by_name() {
    let server = server().await;
    let daily = |more: Value| {
        let mut body = json!({ "workflowId": "report", "cron": "@daily" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for (body, status, code, path) in [
        (daily(json!({ "cron": "0 0 30 2 *" })), 400, "bad_schedule", "cron"),
        (daily(json!({ "cron": "61 * * * *" })), 400, "bad_schedule", "cron"),
        (daily(json!({ "timeZone": "Europe/Atlantis" })), 400, "bad_schedule", "timeZone"),
        (daily(json!({ "expiresAt": "2001-01-01T00:00:00Z" })), 400, "bad_schedule", "expiresAt"),
        (daily(json!({ "cron": null, "intervalSeconds": 59 })), 400, "bad_schedule", "intervalSeconds"),
        (daily(json!({ "crom": "@daily" })), 400, "bad_body", ""),
        (daily(json!({ "workflowId": "missing" })), 404, "not_found", ""),
        (daily(json!({ "workflowId": "daily" })), 422, "invalid_inputs", "day"),
        (daily(json!({ "workflowId": "commands" })), 422, "could_open_gates", ""),
        (daily(json!({ "workflowId": "commands", "permissionMode": "full-access" })), 201, "", ""),
    ] {
        let (got, answer) = post(&server, ALL, &body).await;
        assert_eq!((got, answer["code"].as_str().unwrap_or_default()), (status, code), "{body}: {answer}");
        if !path.is_empty() {
            let fault = answer["faults"][0]["path"].as_str().unwrap_or_default();
            assert!(fault.ends_with(path), "{body}: {answer}");
        }
        if code == "could_open_gates" {
            assert_eq!(answer["params"], json!({ "steps": ["cmd"] }));
        }
    }
    for (body, status) in [
        (json!({ "cron": "*/15 2 * * *", "timeZone": "Europe/Berlin", "count": 2 }), 200),
        (json!({ "cron": "every day" }), 400),
        (json!({ "intervalSeconds": 60, "cron": "@daily" }), 400),
        (json!({ "cron": "@daily", "count": 101 }), 400),
    ] {
        let answer = ask(&server, "POST", "/preview", &body).await;
        assert_eq!(answer.status, status, "{body}: {answer:?}");
    }
}

#[tokio::test]
async fn a_schedule_of_a_file_is_changed_in_its_file() {
    let server = Server::start().await;
    let flow = json!({ "format": 1, "name": "Hourly", "edges": [],
        "nodes": [{ "id": "wait", "tool": "delay", "args": { "seconds": 0 } }],
        "schedules": [{ "name": "hourly", "cron": "@hourly", "timeZone": "UTC" }] });
    let (_, made) = post(&server, "/api/workflows", &json!({ "id": "hourly", "flow": flow })).await;
    super::hook::publish(&server, "hourly", &made["revision"], true).await;
    let began = std::time::Instant::now();
    let row = loop {
        let list = ask(&server, "GET", "", &Value::Null).await.json();
        if !list["schedules"][0].is_null() {
            break list["schedules"][0].clone();
        }
        assert!(began.elapsed() < std::time::Duration::from_mins(1), "it is never registered");
        tokio::task::yield_now().await;
    };
    assert_eq!((&row["source"], &row["name"], &row["state"]), (&json!("file"), &json!("hourly"), &json!("active")));
    let id = row["scheduleId"].as_str().unwrap();
    for (method, body) in [("PATCH", json!({ "paused": true })), ("DELETE", Value::Null)] {
        let answer = ask(&server, method, &format!("/{id}"), &body).await;
        assert_eq!((answer.status, answer.code()), (409, "schedule_in_file".to_owned()), "{method}");
    }
}
