//! A page of another site can start nothing, whatever it sends and whatever cookie the browser adds.
//!
//! The kind of C138: a local server that read any body as JSON, so that any page could start runs with a plain-text
//! request that no browser asks about first.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use weir_shared::ids::RunId;
use weir_shared::run::state::RunStatus;
use weir_tests::client::{Answer, Client, Request};
use weir_tests::flows::{one_command, one_command_flow};
use weir_tests::worker::Worker;

/// A worker with one flow and one run that waits for a person.
struct Scene {
    worker: Worker,
    client: Client,
    run: RunId,
    cookie: String,
    revision: String,
}

impl Scene {
    fn set() -> Result<Self> {
        let worker = Worker::start()?;
        let client = worker.client()?;
        let flow = client.create_flow("victim", &one_command_flow("Victim", "touch \"$HOME/ran\""))?;
        let run = client.run_plan_as(&one_command("touch \"$HOME/ran\""), &json!({}))?;
        client.follow(&run)?.until("step_approval_requested", |_| true)?;
        let opened = Client::anonymous(worker.address()).send(&Request {
            method: "POST",
            path: "/api/session",
            headers: &[("content-type", "application/json"), ("origin", &worker.url(""))],
            body: Some(json!({ "token": worker.token()? }).to_string().as_bytes()),
        })?;
        let cookie = opened.header("set-cookie").split(';').next().unwrap_or("").to_owned();
        anyhow::ensure!(cookie.contains('='), "a session sets a cookie: {opened:?}");
        Ok(Self { worker, client, run, cookie, revision: flow.revision.to_string() })
    }

    /// Every route that changes something, with a body that would.
    fn routes(&self) -> Vec<(&'static str, String, Value)> {
        let flow = one_command_flow("Evil", "touch \"$HOME/ran\"");
        let config = json!({ "permissionMode": "full-access" });
        vec![
            ("POST", "/api/workflows".into(), json!({ "id": "evil", "flow": flow })),
            ("PUT", "/api/workflows/victim".into(), json!({ "flow": flow, "expectedRevision": self.revision })),
            ("DELETE", format!("/api/workflows/victim?expectedRevision={}", self.revision), json!({})),
            ("POST", "/api/workflows/check".into(), json!({ "flow": flow })),
            ("POST", "/api/workflows/victim/run".into(), json!({ "config": config })),
            (
                "POST",
                "/api/agent/run".into(),
                json!({ "goal": "x", "config": config, "workflow": one_command("touch \"$HOME/ran\"") }),
            ),
            ("POST", format!("/api/agent/{}/approve", self.run), json!({ "approved": true })),
            ("POST", format!("/api/agent/{}/cancel", self.run), json!({})),
            (
                "POST",
                "/api/agent/webhook-triggers".into(),
                json!({ "workflowId": "victim", "permissionMode": "full-access" }),
            ),
            (
                "POST",
                "/api/agent/schedules".into(),
                json!({ "workflowId": "victim", "permissionMode": "full-access", "cron": "* * * * *" }),
            ),
            ("DELETE", "/api/session".into(), json!({})),
        ]
    }

    fn send(&self, route: &(&str, String, Value), headers: &[(&str, &str)]) -> Result<Answer> {
        let body = route.2.to_string();
        self.client.send(&Request { method: route.0, path: &route.1, headers, body: Some(body.as_bytes()) })
    }

    fn nothing_has_happened(&self, after: &str) -> Result<()> {
        let flows: Vec<String> = self.client.flows()?.iter().map(|flow| flow.revision.to_string()).collect();
        assert_eq!(flows, std::slice::from_ref(&self.revision), "after {after}");
        let run = self.client.run(&self.run)?;
        assert_eq!(run.row.status, RunStatus::AwaitingStepApproval, "after {after}");
        assert_eq!(self.client.runs("limit=10")?.runs.len(), 1, "after {after}");
        assert!(!self.worker.world().path("home/ran").exists(), "after {after}");
        Ok(())
    }
}

#[test]
fn no_request_of_a_foreign_page_changes_anything() -> Result<()> {
    let scene = Scene::set()?;
    let token = scene.worker.token()?;
    let cookie = ("cookie", scene.cookie.as_str());
    let own = scene.worker.url("");
    let attempts: [(&str, Vec<(&str, &str)>); 8] = [
        ("plain text, no token", vec![("content-type", "text/plain"), ("origin", "https://evil.example")]),
        (
            "plain text with the session",
            vec![cookie, ("content-type", "text/plain"), ("origin", "https://evil.example")],
        ),
        (
            "JSON with the session",
            vec![cookie, ("content-type", "application/json"), ("origin", "https://evil.example")],
        ),
        (
            "JSON with the token",
            vec![
                ("x-weir-token", &token),
                ("content-type", "application/json"),
                ("origin", "https://evil.example"),
                ("sec-fetch-site", "cross-site"),
            ],
        ),
        ("JSON with the session, from nowhere", vec![cookie, ("content-type", "application/json"), ("origin", "null")]),
        (
            "a form with the session",
            vec![cookie, ("content-type", "application/x-www-form-urlencoded"), ("origin", &own)],
        ),
        ("no type with the session", vec![cookie, ("origin", &own)]),
        ("plain text of the own page", vec![cookie, ("content-type", "text/plain"), ("origin", &own)]),
    ];
    for (what, headers) in &attempts {
        for route in scene.routes() {
            let answer = scene.send(&route, headers)?;
            let refused = [401, 403, 415].contains(&answer.status);
            assert!(refused, "{what}: {} {}: {}", route.0, route.1, answer.status);
            scene.nothing_has_happened(&format!("{what}: {} {}", route.0, route.1))?;
        }
    }
    Ok(())
}

#[test]
fn a_name_that_is_not_the_workers_own_is_turned_away() -> Result<()> {
    let scene = Scene::set()?;
    let token = scene.worker.token()?;
    let port = scene.worker.address().rsplit(':').next().context("no port")?;
    for host in ["evil.example".to_owned(), format!("evil.example:{port}"), "127.0.0.1:1".to_owned()] {
        for path in ["/api/workflows".to_owned(), format!("/api/agent/stream?runId={}", scene.run), "/".to_owned()] {
            let headers = [("host", host.as_str()), ("x-weir-token", token.as_str())];
            let answer = scene.client.send(&Request { method: "GET", path: &path, headers: &headers, body: None })?;
            assert_eq!(answer.status, 421, "{host} {path}");
        }
    }
    Ok(())
}

#[test]
fn the_command_line_works_without_an_origin_and_with_any_type() -> Result<()> {
    let scene = Scene::set()?;
    let token = scene.worker.token()?;
    let bearer = format!("Bearer {token}");
    for headers in [
        vec![("x-weir-token", token.as_str())],
        vec![("authorization", bearer.as_str()), ("content-type", "application/x-www-form-urlencoded")],
        vec![("x-weir-token", token.as_str()), ("content-type", "text/plain")],
    ] {
        let route = ("POST", "/api/workflows/check".to_owned(), json!({ "flow": one_command_flow("X", "true") }));
        assert_eq!(scene.send(&route, &headers)?.status, 200, "{headers:?}");
    }
    let without = ("GET", "/api/workflows".to_owned(), json!({}));
    assert_eq!(scene.send(&without, &[])?.status, 401);
    assert_eq!(scene.send(&without, &[("x-weir-token", "wrong")])?.status, 401);
    assert_eq!(scene.send(&without, &[("cookie", &scene.cookie)])?.status, 200, "a read may rest on the session");
    Ok(())
}

#[test]
fn the_page_may_do_all_this() -> Result<()> {
    let scene = Scene::set()?;
    let own = scene.worker.url("");
    let headers = [("cookie", scene.cookie.as_str()), ("content-type", "application/json"), ("origin", own.as_str())];
    let cancel = ("POST", format!("/api/agent/{}/cancel", scene.run), json!({}));
    assert_eq!(scene.send(&cancel, &headers)?.status, 202);
    assert_eq!(scene.client.finish(&scene.run)?.row.status, RunStatus::Cancelled);
    let logout = ("DELETE", "/api/session".to_owned(), json!({}));
    assert!(scene.send(&logout, &headers)?.status < 300);
    assert_eq!(scene.send(&("GET", "/api/workflows".to_owned(), json!({})), &headers)?.status, 401);
    Ok(())
}
