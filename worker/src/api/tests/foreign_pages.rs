//! A page on any other site, against every route that changes something: nothing happens.

use super::client::Ask;
use super::server::Server;

const BODY: &str = r#"{"goal":"x","workflow":{"steps":[]},"flow":{"format":1,"name":"N","nodes":[],"edges":[]}}"#;

const ROUTES: [(&str, &str); 14] = [
    ("POST", "/api/workflows"),
    ("PUT", "/api/workflows/a"),
    ("DELETE", "/api/workflows/a"),
    ("POST", "/api/workflows/check"),
    ("POST", "/api/workflows/a/run"),
    ("POST", "/api/agent/run"),
    ("POST", "/api/agent/batch"),
    ("POST", "/api/agent/00000000-0000-7000-8000-000000000000/approve"),
    ("POST", "/api/agent/00000000-0000-7000-8000-000000000000/cancel"),
    ("POST", "/api/agent/schedules"),
    ("POST", "/api/agent/schedules/preview"),
    ("PATCH", "/api/agent/schedules/00000000-0000-7000-8000-000000000000"),
    ("DELETE", "/api/agent/schedules/00000000-0000-7000-8000-000000000000"),
    ("DELETE", "/api/session"),
];

async fn cookie(server: &Server) -> String {
    let body = serde_json::json!({ "token": server.token }).to_string();
    let opened = Ask::new("POST", "/api/session").body(body).send(server.address).await;
    opened.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn whatever_it_sends_it_is_refused() {
    let server = Server::start().await;
    let cookie = cookie(&server).await;
    for (method, path) in ROUTES {
        for content_type in
            [Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/json"), None]
        {
            let mut ask = Ask::new(method, path)
                .header("Cookie", cookie.as_str())
                .header("Origin", "https://evil.example")
                .header("Sec-Fetch-Site", "cross-site");
            if let Some(content_type) = content_type {
                ask = ask.header("Content-Type", content_type);
            }
            let answer = ask.body(BODY).send(server.address).await;
            assert_eq!(answer.status, 403, "{method} {path} {content_type:?}");
        }
    }
    nothing_happened(&server).await;
}

#[tokio::test]
async fn the_workers_own_origin_must_send_json() {
    let server = Server::start().await;
    let cookie = cookie(&server).await;
    for (method, path) in ROUTES {
        for content_type in [Some("text/plain"), Some("application/x-www-form-urlencoded"), None] {
            let mut ask = Ask::new(method, path)
                .header("Cookie", cookie.as_str())
                .header("Origin", format!("http://{}", server.address));
            if let Some(content_type) = content_type {
                ask = ask.header("Content-Type", content_type);
            }
            let answer = ask.body(BODY).send(server.address).await;
            assert_eq!(answer.status, 415, "{method} {path} {content_type:?}");
        }
        let without_origin =
            Ask::new(method, path).header("Cookie", cookie.as_str()).header("Content-Type", "application/json");
        assert_eq!(without_origin.body(BODY).send(server.address).await.status, 403, "{method} {path}");
        assert_eq!(Ask::new(method, path).body(BODY).send(server.address).await.status, 401, "{method} {path}");
    }
    nothing_happened(&server).await;
}

#[tokio::test]
async fn a_bare_curl_with_the_token_is_read_as_json() {
    let server = Server::start().await;
    let ask = server.ask("POST", "/api/agent/run").header("Content-Type", "application/x-www-form-urlencoded");
    let answer = ask.body(r#"{"workflow":{"steps":[]}}"#).send(server.address).await;
    assert_eq!(answer.status, 202, "{answer:?}");
}

async fn nothing_happened(server: &Server) {
    let runs = server.ask("GET", "/api/agent/runs").send(server.address).await;
    assert_eq!(runs.json()["runs"].as_array().unwrap().len(), 0);
    let flows = server.ask("GET", "/api/workflows").send(server.address).await;
    assert_eq!(flows.json().as_array().unwrap().len(), 0);
}
