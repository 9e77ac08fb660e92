//! What the door does to every request, whatever it is for.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::client::{Ask, read_answer};
use super::server::Server;

#[tokio::test]
async fn health_is_open_and_every_answer_keeps_the_browser_in_bounds() {
    let server = Server::start().await;
    let health = Ask::new("GET", "/api/health").send(server.address).await;
    assert_eq!((health.status, health.json()["status"].as_str()), (200, Some("ok")));
    let refused = Ask::new("GET", "/api/workflows").send(server.address).await;
    assert_eq!((refused.status, refused.code()), (401, "unauthorized".to_owned()));
    let page = Ask::new("GET", "/").send(server.address).await;
    assert_eq!(page.status, 200);
    for answer in [health, refused, page] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("script-src 'self' 'wasm-unsafe-eval';") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe-inline"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
}

#[tokio::test]
async fn a_host_this_worker_does_not_know_is_misdirected() {
    let server = Server::start().await;
    for host in ["evil.example", "127.0.0.1", "localhost:1"] {
        let answer = Ask::new("GET", "/api/health").header("Host", host).send(server.address).await;
        assert_eq!((answer.status, answer.code()), (421, "unknown_host".to_owned()), "{host}");
    }
    let absolute = format!("http://evil.example:{}/api/health", server.address.port());
    assert_eq!(Ask::new("GET", &absolute).send(server.address).await.status, 421);
    let own = format!("http://localhost:{}/api/health", server.address.port());
    assert_eq!(Ask::new("GET", &own).send(server.address).await.status, 200);
}

#[tokio::test]
async fn paths_and_methods_are_told_apart_for_those_who_may_know() {
    let server = Server::start().await;
    for (method, path, status) in [
        ("GET", "/api/unknown", 404),
        ("POST", "/api/unknown", 404),
        ("POST", "/api/health", 405),
        ("GET", "/api", 404),
        ("GET", "/nowhere.txt", 404),
        ("POST", "/", 405),
        ("HEAD", "/api/health", 200),
        ("OPTIONS", "/api/health", 405),
    ] {
        let ask = Ask::new(method, path).header("X-Weir-Token", server.token.as_str());
        assert_eq!(ask.send(server.address).await.status, status, "{method} {path}");
    }
    let stranger = Ask::new("GET", "/api/unknown").send(server.address).await;
    assert_eq!(stranger.status, 401);
}

#[tokio::test]
async fn a_page_from_elsewhere_is_answered_only_when_it_is_allowed() {
    let server = Server::start().await;
    let ask = |origin: &str| {
        Ask::new("OPTIONS", "/api/workflows").header("Origin", origin).header("Access-Control-Request-Method", "POST")
    };
    let allowed = ask("https://ally.example").send(server.address).await;
    assert_eq!(allowed.status, 204);
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://ally.example"));
    for foreign in ["https://evil.example", "null"] {
        let refused = ask(foreign).send(server.address).await;
        assert_eq!((refused.status, refused.code()), (403, "foreign_origin".to_owned()));
        assert_eq!(refused.header("access-control-allow-origin"), None);
    }
}

#[tokio::test]
async fn a_body_past_the_limit_is_refused_however_its_length_is_told() {
    let server = Server::start().await;
    let declared = Ask::new("POST", "/api/session").body(vec![b' '; 17 * 1024]).send(server.address).await;
    assert_eq!((declared.status, declared.code()), (413, "too_large".to_owned()));

    let chunked = Ask::new("POST", "/api/session").header("Transfer-Encoding", "chunked");
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&chunked.bytes(server.address)).await.unwrap();
    let piece = [b"1000\r\n".as_slice(), &[b' '; 4096], b"\r\n"].concat();
    // 50 MiB are offered; the server stops taking them long before.
    let mut taken = 0;
    while taken < 12_800 && stream.write_all(&piece).await.is_ok() {
        taken += 1;
    }
    assert!(taken < 12_800, "all of it was taken");
    assert_eq!(read_answer(&mut stream).await.status, 413);

    let zipped =
        Ask::new("POST", "/api/session").header("Content-Encoding", "gzip").body("x").send(server.address).await;
    assert_eq!((zipped.status, zipped.code()), (415, "content_encoding".to_owned()));
    assert_eq!(Ask::new("GET", "/api/health").send(server.address).await.status, 200);
}

#[tokio::test]
async fn a_false_short_length_does_not_hide_a_second_request() {
    let server = Server::start().await;
    let body = "{}GET /api/workflows HTTP/1.1\r\n\r\n";
    let ask = Ask::new("POST", "/api/session").header("Content-Length", "2");
    let mut bytes = ask.bytes(server.address);
    bytes.extend_from_slice(body.as_bytes());
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    let answer = read_answer(&mut stream).await;
    assert!(!answer.body.contains("HTTP/1.1"), "{answer:?}");
}

#[tokio::test]
async fn the_end_waits_for_an_open_request_only_within_a_bound() {
    let server = Server::start().await;
    let address = server.address;
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"GET /api/health HTTP/1.1\r\n").await.unwrap();
    server.end().await;
    let mut rest = Vec::new();
    // Closed, one way or the other.
    let _end = idle.read_to_end(&mut rest).await;
    assert!(TcpStream::connect(address).await.is_err(), "the port is still taken");
}
