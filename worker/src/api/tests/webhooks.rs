//! Calls of webhooks over HTTP: who is let in, what a call starts, and what it does not.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::client::{Answer, Ask, read_answer};
use super::hook::{EVENT, Hook, SECRET, deliveries, greeter, make_hook, post, send};
use super::server::Server;
use crate::api::hooks;
use crate::api::serve::Peer;
use crate::engine::Settings;
use crate::intake::webhook::Call;
use crate::queue::admission::{Bound, Bounds};

#[tokio::test]
async fn a_call_starts_a_run_and_is_told_of_its_end_when_it_waits() {
    let server = Server::start().await;
    greeter(&server).await;
    let (status, made) = post(
        &server,
        "/api/agent/webhook-triggers",
        &json!({ "workflowId": "greeter", "name": " Greetings ", "defaultInputs": { "who": "nobody" } }),
    )
    .await;
    assert_eq!(status, 201);
    assert_eq!(made["name"], "Greetings");
    assert_eq!(
        (made["secretHeader"].as_str(), made["eventIdHeader"].as_str()),
        (Some("X-Weir-Webhook-Secret"), Some(EVENT))
    );
    assert_eq!((made["state"].as_str(), made["permissionMode"].as_str()), (Some("active"), Some("ask-for-approval")));
    let (path, secret) = (made["path"].as_str().unwrap(), made["secret"].as_str().unwrap());
    assert_eq!(made["url"], format!("http://{}{path}", server.address));
    assert!(made["curl"].as_str().unwrap().contains(secret));
    let hook = Hook { id: made["triggerId"].as_str().unwrap().into(), path: path.into(), secret: secret.into() };

    let answer = send(&server, &hook.call("")).await;
    let told = answer.json();
    assert_eq!((answer.status, &told["accepted"], &told["duplicate"]), (202, &json!(true), &json!(false)), "{told}");
    assert_eq!((&told["triggerId"], &told["deliveryStatus"]), (&json!(hook.id), &json!("QUEUED")));
    let task = told["taskId"].as_str().unwrap();

    let waiting = Ask::new("POST", &format!("{}?wait=60", hook.path)).header(SECRET, secret).body(r#"{"who":"Ada"}"#);
    let answer = send(&server, &waiting).await;
    let told = answer.json();
    assert_eq!((answer.status, told["status"].as_str()), (200, Some("completed")), "{told}");
    assert_eq!(
        (told["result"]["text"].as_str(), told["deliveryStatus"].as_str()),
        (Some("Hello Ada"), Some("COMPLETED"))
    );

    let ended = send(&server, &server.ask("GET", &format!("/api/agent/tasks/{task}?timeoutMs=60000"))).await.json();
    assert_eq!((ended["kind"].as_str(), ended["priority"].as_str()), (Some("workflow-webhook"), Some("interactive")));
    assert_eq!(ended["output"], r#"{"text":"Hello nobody"}"#);
    let kept = deliveries(&server, &hook).await;
    assert_eq!(kept.len(), 2);
    for delivery in &kept {
        assert_eq!(delivery["status"], "COMPLETED", "{delivery}");
        assert_eq!((&delivery["duplicates"], &delivery["idempotencyKeyPresent"]), (&json!(0), &json!(false)));
        assert!(delivery["durationMs"].is_u64() && delivery["completedAt"].is_string());
    }
    assert_eq!(kept[1]["taskId"], task);
    let list = send(&server, &server.ask("GET", "/api/agent/webhook-triggers")).await;
    assert!(!list.body.contains(secret) && !list.body.contains("digest"), "{}", list.body);
    assert_eq!(list.json()["triggers"][0]["lastDelivery"]["deliveryId"], kept[0]["deliveryId"]);
    for limit in ["0", "101", "x"] {
        let path = format!("/api/agent/webhook-triggers/{}/deliveries?limit={limit}", hook.id);
        assert_eq!(send(&server, &server.ask("GET", &path)).await.status, 400);
    }
}

#[tokio::test]
async fn whoever_is_not_let_in_learns_nothing() {
    let server = Server::with(Settings::default(), &[("GH", "It's a Secret to Everybody")]).await;
    greeter(&server).await;
    let hook = make_hook(&server, json!({})).await;
    let signed = make_hook(&server, json!({ "signature": { "preset": "github", "secret": "GH" } })).await;
    let gone = make_hook(&server, json!({})).await;
    let path = format!("/api/agent/webhook-triggers/{}", gone.id);
    assert_eq!(send(&server, &server.ask("DELETE", &path)).await.status, 200);
    assert_eq!(send(&server, &server.ask("DELETE", &path)).await.status, 404);

    let unknown = hook.path.replace(&hook.id, "01890a5d-ac96-774b-bcce-b302099a8057");
    let call = |path: &str| Ask::new("POST", path);
    let hub = |ask: Ask, signature: &str| ask.header("X-Hub-Signature-256", signature);
    let right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let strangers = [
        call(&unknown).header(SECRET, hook.secret.as_str()).body("{}"),
        call("/api/workflow-hooks/no-id").header(SECRET, "x").body("{}"),
        call(&hook.path).header(SECRET, "wrong").body("{}"),
        call(&hook.path).body("{}"),
        hub(call(&hook.path), right).body("Hello, World!"),
        gone.call("{}"),
        hub(call(&signed.path), right).body("Hello, World"),
        call(&signed.path).body("Hello, World!"),
        hub(call(&unknown), right).body("Hello, World!"),
        call(&hook.path).header(SECRET, hook.secret.as_str()).header(SECRET, hook.secret.as_str()).body("{}"),
    ];
    let head = |answer: &Answer| {
        let lines = answer.head.lines().filter(|line| !line.starts_with("date: "));
        lines.collect::<Vec<_>>().join("\n")
    };
    let mut answers = Vec::new();
    for stranger in &strangers {
        let answer = send(&server, stranger).await;
        assert_eq!((answer.status, answer.code()), (401, "unauthorized".to_owned()), "{stranger:?}");
        answers.push((head(&answer), answer.body));
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");

    // Past ten a minute, wrong ones of this peer are all told to wait; right ones are not.
    let mut answers = Vec::new();
    for stranger in &strangers {
        let answer = send(&server, stranger).await;
        assert_eq!((answer.status, answer.code()), (429, "rate_limited".to_owned()), "{stranger:?}");
        let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=7).contains(&wait), "{wait}");
        answers.push(answer.json()["error"].clone());
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(send(&server, &hook.call(r#"{"who":"x"}"#)).await.status, 202);
    assert_eq!(server.store.runs(&crate::store::RunQuery::default()).unwrap().runs.len(), 1);
}

/// Without the network, in turns, and by medians, so that a busy machine takes as long for the one as for the other.
#[tokio::test]
async fn a_wrong_secret_and_a_trigger_that_is_not_there_take_about_as_long() {
    let server = Server::start().await;
    greeter(&server).await;
    let hook = make_hook(&server, json!({})).await;
    let strangers = [hook.id.as_str(), "01890a5d-ac96-774b-bcce-b302099a8057", "no-id"];
    let mut took = [const { Vec::new() }; 3];
    for _ in 0..600 {
        for (trigger, took) in strangers.into_iter().zip(&mut took) {
            let headers = |name: &str| (name == SECRET).then_some(&b"wrong"[..]);
            let call = Call { trigger, peer: Ipv4Addr::LOCALHOST.into(), headers: &headers };
            let began = Instant::now();
            let refused = server.webhooks.knock(&call).is_err();
            took.push(began.elapsed());
            assert!(refused);
        }
    }
    let took = took.map(|mut took| {
        took.sort_unstable();
        took[took.len() / 2]
    });
    let (least, most) = (took.iter().min().unwrap(), took.iter().max().unwrap());
    eprintln!("{took:?}");
    assert!(*most < *least * 2, "{strangers:?} took {took:?}");
}

#[tokio::test]
async fn the_secret_is_judged_before_a_byte_of_the_body() {
    let server = Server::start().await;
    greeter(&server).await;
    let hook = make_hook(&server, json!({})).await;
    // Whoever expects to be asked for the body is not asked.
    for secret in ["wrong", hook.secret.as_str()] {
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\n{SECRET}: {secret}\r\nContent-Length: 13\r\nExpect: 100-continue\r\n\
             Connection: close\r\n\r\n",
            hook.path, server.address
        );
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        if secret == "wrong" {
            let answer = tokio::time::timeout(Duration::from_mins(1), read_answer(&mut stream)).await.unwrap();
            assert_eq!(answer.status, 401);
        } else {
            let mut asked = [0; 25];
            let asking = tokio::io::AsyncReadExt::read_exact(&mut stream, &mut asked);
            tokio::time::timeout(Duration::from_mins(1), asking).await.unwrap().unwrap();
            assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
            stream.write_all(br#"{"who":"Ada"}"#).await.unwrap();
            let answer = tokio::time::timeout(Duration::from_mins(1), read_answer(&mut stream)).await.unwrap();
            assert_eq!(answer.status, 202, "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_body_is_an_object_of_at_most_256_kib_as_it_is() {
    let server = Server::start().await;
    greeter(&server).await;
    let hook = make_hook(&server, json!({ "rateLimit": null })).await;
    let padded = |bytes: usize| {
        let frame = r#"{"who":""}"#.len();
        format!(r#"{{"who":"{}"}}"#, "x".repeat(bytes - frame))
    };
    assert_eq!(send(&server, &hook.call(padded(256 * 1024))).await.status, 202);
    let over = send(&server, &hook.call(padded(256 * 1024 + 1))).await;
    assert_eq!((over.status, over.json()["params"]["limit"].as_u64()), (413, Some(262_144)));
    let chunked = hook.call("").header("Transfer-Encoding", "chunked");
    let chunked = String::from_utf8(chunked.bytes(server.address)).unwrap().replace("Content-Length: 0\r\n", "");
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let _cut_off = stream.write_all(format!("{chunked}50000\r\n{}\r\n0\r\n\r\n", padded(0x5_0000)).as_bytes()).await;
    let answer = tokio::time::timeout(Duration::from_mins(1), read_answer(&mut stream)).await.unwrap();
    assert_eq!(answer.status, 413);
    let zipped = send(&server, &hook.call("\u{1f}\u{8b}").header("Content-Encoding", "gzip")).await;
    assert_eq!((zipped.status, zipped.code()), (415, "content_encoding".to_owned()));
    let deep = format!("{{\"who\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for bad in [
        deep.into_bytes(),
        "[".repeat(100_000).into_bytes(),
        b"[]".to_vec(),
        b"null".to_vec(),
        b"who=Ada".to_vec(),
        b"{\"who\":\"\xff\xfe\"}".to_vec(),
        b"{\"who\":\"a\x00b\"}".to_vec(),
        br#"{"who":"a"} x"#.to_vec(),
    ] {
        let answer = send(&server, &hook.call(bad.clone())).await;
        assert_eq!((answer.status, answer.code()), (400, "bad_body".to_owned()), "{}", String::from_utf8_lossy(&bad));
    }
    assert_eq!(deliveries(&server, &hook).await.len(), 1);
}

#[tokio::test]
async fn an_event_starts_one_run_however_often_it_is_told() {
    let server = Server::start().await;
    greeter(&server).await;
    // Many more calls than the queue has places or the limit lets through: only one of them needs either.
    let hook = make_hook(&server, json!({ "rateLimit": { "perMinute": 1, "burst": 3 } })).await;
    let call = hook.call(r#"{"who":"Ada"}"#).header(EVENT, "evt-1");
    let answers = futures_util::future::join_all((0..50).map(|_| send(&server, &call))).await;
    let first: Vec<_> = answers.iter().filter(|answer| answer.status == 202).collect();
    assert_eq!(first.len(), 1, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 202) {
        let told = answer.json();
        assert_eq!((answer.status, &told["duplicate"]), (200, &json!(true)), "{told}");
        assert_eq!((&told["runId"], &told["taskId"]), (&first[0].json()["runId"], &first[0].json()["taskId"]));
    }
    let kept = deliveries(&server, &hook).await;
    assert_eq!(kept.len(), 1);
    assert_eq!((&kept[0]["duplicates"], &kept[0]["idempotencyKeyPresent"]), (&json!(49), &json!(true)));

    // A refusal does not use the event up, whatever it was for.
    let event = "evt-2";
    assert_eq!(send(&server, &hook.call("[]").header(EVENT, event)).await.status, 400);
    let wrong = send(&server, &hook.call(r#"{"who":1,"and":2}"#).header(EVENT, event)).await;
    assert_eq!((wrong.status, wrong.code()), (422, "invalid_inputs".to_owned()));
    assert_eq!(wrong.json()["faults"][0]["path"], "inputs.who");
    let limited = send(&server, &hook.call(r#"{"who":"b"}"#).header(EVENT, event)).await;
    assert_eq!((limited.status, limited.code()), (429, "rate_limited".to_owned()));
    assert!(limited.header("retry-after").is_some());
    assert_eq!(send(&server, &call).await.status, 200, "a duplicate is answered before the limit");
    let free = make_hook(&server, json!({ "rateLimit": null })).await;
    assert_eq!(send(&server, &free.call("[]").header(EVENT, "evt-1")).await.status, 400);
    assert_eq!(send(&server, &free.call(r#"{"who":"b"}"#).header(EVENT, "evt-1")).await.status, 202);
    for bad in [String::new(), "x".repeat(201)] {
        let answer = send(&server, &free.call(r#"{"who":"b"}"#).header(EVENT, bad)).await;
        assert_eq!((answer.status, answer.code()), (400, "bad_event_id".to_owned()));
    }
    assert_eq!(send(&server, &free.call(r#"{"who":"b"}"#).header(EVENT, "x".repeat(200))).await.status, 202);
}

#[tokio::test]
async fn a_full_queue_gives_the_event_back() {
    let none = Bound { all: 0, per_owner: 0 };
    let bounds = Bounds { running: 1, waiting: none, ..Bounds::default() };
    let server = Server::with(Settings { bounds, ..Settings::default() }, &[]).await;
    greeter(&server).await;
    let hook = make_hook(&server, json!({})).await;
    let plan = json!({ "steps": [{ "index": 0, "toolName": "delay", "args": { "seconds": 3600 } }] });
    let (_, blocker) = post(&server, "/api/agent/run", &json!({ "goal": "wait", "workflow": plan })).await;
    let call = hook.call(r#"{"who":"Ada"}"#).header(EVENT, "evt");
    let full = send(&server, &call).await;
    assert_eq!((full.status, full.code(), full.header("retry-after")), (429, "capacity".to_owned(), Some("1")));
    assert_eq!(full.json()["capacityScope"], "owner");
    let task = blocker["taskId"].as_str().unwrap();
    send(&server, &server.ask("DELETE", &format!("/api/agent/tasks/{task}"))).await;
    send(&server, &server.ask("GET", &format!("/api/agent/tasks/{task}?timeoutMs=60000"))).await;
    let again = send(&server, &call).await;
    assert_eq!((again.status, &again.json()["duplicate"]), (202, &json!(false)));
}

#[tokio::test]
async fn signed_calls_are_let_in_by_the_bytes_that_were_signed() {
    let server = Server::with(Settings::default(), &[("KEY", "0123456789")]).await;
    greeter(&server).await;
    let rule = json!({ "secret": "KEY", "header": "X-Sig", "prefix": "sha256=" });
    let hook = make_hook(&server, json!({ "signature": rule })).await;
    assert_eq!(hook.secret, "", "it has none of its own");
    let sign = |body: &str| {
        use hmac::{KeyInit, Mac};
        let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(b"0123456789").unwrap();
        mac.update(body.as_bytes());
        crate::access::token::hexadecimal(&mac.finalize().into_bytes())
    };
    let body = r#"{"who":"Ada"}"#;
    let call = |signature: String, body: &str| {
        Ask::new("POST", &hook.path).header("X-Sig", format!("sha256={signature}")).body(body)
    };
    let answer = send(&server, &call(sign(body), body)).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    assert_eq!(send(&server, &call(sign(body), r#"{ "who": "Ada" }"#)).await.status, 401, "spaced otherwise");
    // A stranger's signature does not open a body of any size.
    let long = "x".repeat(300 * 1024);
    assert_eq!(send(&server, &call(sign(body), &long)).await.status, 413);
    let unknown = hook.path.replace(&hook.id, "01890a5d-ac96-774b-bcce-b302099a8057");
    assert_eq!(send(&server, &Ask::new("POST", &unknown).header("X-Sig", "x").body(long)).await.status, 413);
    // Both are asked for when both were wanted.
    let both = make_hook(&server, json!({ "signature": rule, "requireSecret": true })).await;
    let with_both = both.call(body).header("X-Sig", format!("sha256={}", sign(body)));
    assert_eq!(send(&server, &with_both).await.status, 202);
    assert_eq!(send(&server, &both.call(body)).await.status, 401);
    let (status, problem) =
        post(&server, &format!("/api/agent/webhook-triggers/{}/rotate-secret", hook.id), &json!({})).await;
    assert_eq!((status, problem["code"].as_str()), (400, Some("bad_trigger")));
}

#[tokio::test]
async fn the_origin_does_not_matter_and_the_name_and_the_peer_do() {
    let server = Server::start().await;
    greeter(&server).await;
    let hook = make_hook(&server, json!({})).await;
    let body = r#"{"who":"a"}"#;
    let foreign = hook.call(body).header("Origin", "https://evil.example").header("Sec-Fetch-Site", "cross-site");
    assert_eq!(send(&server, &foreign.header("Content-Type", "text/plain")).await.status, 202);
    assert_eq!(send(&server, &hook.call(body).header("Host", "evil.example")).await.status, 421);
    assert_eq!(send(&server, &Ask::new("GET", &hook.path).header(SECRET, hook.secret.as_str())).await.status, 401);

    for (peer, status) in [("10.0.0.9:7", 403), ("[::ffff:127.0.0.1]:7", 202), ("[::1]:7", 202)] {
        let request = warp::http::Request::post(&hook.path).header(SECRET, hook.secret.as_str());
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        parts.extensions.insert(Peer(peer.parse().unwrap()));
        let body = Full::new(Bytes::from(body));
        let answer = hooks::receive(&server.webhooks, &hook.id, &parts, body).await;
        assert_eq!(answer.status(), status, "{peer}");
    }
}
