//! Webhooks of one test: their flows, and whoever calls them.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Answer, Ask};
use super::server::Server;

pub(super) const SECRET: &str = "x-weir-webhook-secret";
pub(super) const EVENT: &str = "X-Weir-Event-Id";

pub(super) async fn post(server: &Server, path: &str, body: &Value) -> (u16, Value) {
    let answer = server.ask("POST", path).body(body.to_string()).send(server.address).await;
    (answer.status, answer.json())
}

/// A flow of one node, with these inputs.
pub(super) fn flow_of(name: &str, inputs: &Value, node: &Value) -> Value {
    json!({ "format": 1, "name": name, "inputs": inputs, "nodes": [node], "edges": [] })
}

/// Makes a flow of one node, with these inputs, and publishes it.
pub(super) async fn make_flow(server: &Server, id: &str, inputs: &Value, node: &Value) {
    let body = json!({ "id": id, "flow": flow_of(id, inputs, node) });
    let (status, made) = post(server, "/api/workflows", &body).await;
    assert_eq!(status, 201, "{made}");
    publish(server, id, &made["revision"], true).await;
}

/// Saves a flow over this revision; the revision that it has then.
pub(super) async fn save(server: &Server, id: &str, flow: &Value, expected: &Value) -> Value {
    let body = json!({ "flow": flow, "expectedRevision": expected });
    let answer = server.ask("PUT", &format!("/api/workflows/{id}")).body(body.to_string()).send(server.address).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["revision"].clone()
}

/// Publishes a flow that is at this revision, or takes it out of service.
pub(super) async fn publish(server: &Server, id: &str, expected: &Value, published: bool) {
    let body = json!({ "published": published, "expectedRevision": expected });
    let (status, told) = post(server, &format!("/api/workflows/{id}/publish"), &body).await;
    assert_eq!(status, 200, "{told}");
}

/// The revision that a flow has.
pub(super) async fn revision(server: &Server, id: &str) -> Value {
    send(server, &server.ask("GET", &format!("/api/workflows/{id}"))).await.json()["revision"].clone()
}

/// A flow that greets, and needs to be told whom.
pub(super) async fn greeter(server: &Server) {
    let inputs = json!({ "type": "object", "required": ["who"], "properties": { "who": { "type": "string" } } });
    let node = json!({ "id": "greet", "tool": "text_template", "args": { "template": "Hello {{ input.who }}", "input": { "who": "{{inputs.who}}" } } });
    make_flow(server, "greeter", &inputs, &node).await;
}

/// A webhook as its maker sees it.
pub(super) struct Hook {
    pub(super) id: String,
    pub(super) path: String,
    pub(super) secret: String,
}

pub(super) async fn make_hook(server: &Server, more: Value) -> Hook {
    let mut body = json!({ "workflowId": "greeter" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, made) = post(server, "/api/agent/webhook-triggers", &body).await;
    assert_eq!(status, 201, "{made}");
    let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
    Hook { id: text("triggerId"), path: text("path"), secret: text("secret") }
}

impl Hook {
    /// A call that would be let in.
    pub(super) fn call(&self, body: impl Into<Vec<u8>>) -> Ask {
        Ask::new("POST", &self.path).header(SECRET, self.secret.as_str()).body(body)
    }
}

pub(super) async fn send(server: &Server, ask: &Ask) -> Answer {
    tokio::time::timeout(Duration::from_mins(1), ask.send(server.address)).await.expect("an answer within a minute")
}

pub(super) async fn deliveries(server: &Server, hook: &Hook) -> Vec<Value> {
    let path = format!("/api/agent/webhook-triggers/{}/deliveries", hook.id);
    let answer = send(server, &server.ask("GET", &path)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["deliveries"].as_array().unwrap().clone()
}
