//! The HTTP tools against servers on this machine, hostile ones among them.
//!
//! 127.0.0.1 stands for the public Internet and 127.0.0.2 for a machine inside, so that nothing leaves this one.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::Network;
use super::resolver::{Names, Reach};
use crate::tool::call::StopReason;
use crate::tool::desk::{Desk, failure, result};
use crate::tool::toolbox::ToolSettings;

const OUTSIDE: Ipv4Addr = Ipv4Addr::LOCALHOST;
const INSIDE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// A server that answers each path with the same bytes, and keeps what it was asked.
struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

/// What a path is answered with.
enum Reply {
    Bytes(Vec<u8>),
    /// Headers that never end, a piece at a time.
    Never,
}

fn reply(head: &str, body: impl AsRef<[u8]>) -> Reply {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    Reply::Bytes([head.as_bytes(), body].concat())
}

fn server(ip: Ipv4Addr, port: u16, replies: BTreeMap<&'static str, Reply>) -> Server {
    let listener = TcpListener::bind((ip, port)).unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that hangs up is what some tests are about.
            let _hung_up = serve(stream, &replies, &heard);
        }
    });
    Server { address, asked }
}

fn serve(mut stream: TcpStream, replies: &BTreeMap<&'static str, Reply>, heard: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut request, mut length) = (String::new(), 0);
    loop {
        let from = request.len();
        if reader.read_line(&mut request)? == 0 || request[from..].trim().is_empty() {
            break;
        }
        if let Some(value) = request[from..].to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.push_str(&String::from_utf8_lossy(&body));
    let path = request.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
    heard.lock().unwrap().push(request);
    match replies.get(path.as_str()) {
        Some(Reply::Bytes(bytes)) => stream.write_all(bytes),
        Some(Reply::Never) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
            // Until the other side hangs up.
            stream.read(&mut [0]).map(drop)
        }
        None => stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
    }
}

impl Server {
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Names of the tests: the nth look-up of a name gives the nth of its addresses, and then the last again.
#[derive(Debug, Default)]
struct TestNames {
    addresses: BTreeMap<&'static str, Vec<Vec<IpAddr>>>,
    looked_up: AtomicUsize,
}

impl Names for TestNames {
    fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let answers = self.addresses.get(host).ok_or_else(|| io::Error::other("no such name"))?;
        let nth = self.looked_up.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
        Ok(answers[nth].iter().map(|ip| SocketAddr::new(*ip, port)).collect())
    }
}

fn only_outside(address: IpAddr) -> bool {
    address == IpAddr::V4(OUTSIDE)
}

fn desk(names: TestNames) -> Desk {
    let network = Network::for_tests(Reach::Only(only_outside), Arc::new(names), None);
    Desk::with(ToolSettings { network, ..ToolSettings::default() })
}

fn plain_desk() -> Desk {
    desk(TestNames::default())
}

async fn request(desk: &Desk, args: Value) -> Value {
    result(&desk.call("http_request", args).await).clone()
}

async fn refusal(desk: &Desk, tool: &str, args: Value) -> String {
    failure(&desk.call(tool, args).await).message.clone()
}

#[tokio::test]
async fn a_request_sends_what_it_is_given_and_gives_back_what_comes() {
    let server = server(
        OUTSIDE,
        0,
        BTreeMap::from([(
            "/orders",
            reply("201 Created\r\nContent-Type: application/json; charset=utf-8\r\nX-Two: a\r\nX-Two: b", "{\"id\":7}"),
        )]),
    );
    let args = json!({
        "method": "POST", "url": server.url("/orders?old=1#part"), "json": { "name": "Ada & Bob" },
        "query": { "q": "a b&c=d/ü", "n": [1, true] }, "headers": { "X-Key": "k", "Accept": "application/json" },
    });
    let answer = request(&plain_desk(), args).await;
    assert_eq!(
        (&answer["status"], &answer["json"], &answer["body"]),
        (&json!(201), &json!({"id": 7}), &json!("{\"id\":7}"))
    );
    assert_eq!(answer["headers"]["x-two"], "a, b");
    let asked = server.asked().join("\n");
    let first = "POST /orders?old=1&q=a%20b%26c%3Dd%2F%C3%BC&n=1&n=true HTTP/1.1\r\n";
    assert!(asked.starts_with(first), "{asked}");
    assert!(asked.ends_with("\r\n\r\n{\"name\":\"Ada & Bob\"}"), "{asked}");
    let asked = asked.to_ascii_lowercase();
    for field in ["x-key: k", "accept: application/json", "content-type: application/json", "user-agent: weir/"] {
        assert!(asked.contains(&format!("\r\n{field}")), "{field} in {asked}");
    }
}

#[tokio::test]
async fn a_bad_status_is_an_answer_and_a_long_body_is_a_failure() {
    let server = server(
        OUTSIDE,
        0,
        BTreeMap::from([
            ("/gone", reply("503 Busy\r\nContent-Type: application/json", "not json")),
            ("/long", reply("200 OK", "x".repeat(2_000))),
        ]),
    );
    let desk = plain_desk();
    let gone = request(&desk, json!({ "url": server.url("/gone") })).await;
    assert_eq!((&gone["status"], &gone["body"], gone.get("json")), (&json!(503), &json!("not json"), None));
    let whole = request(&desk, json!({ "url": server.url("/long"), "maxBytes": 2_000 })).await;
    assert_eq!(whole["body"].as_str().unwrap().len(), 2_000);
    let long = refusal(&desk, "http_request", json!({ "url": server.url("/long"), "maxBytes": 1_999 })).await;
    assert!(long.contains("above the limit of 1999 bytes"), "{long}");
}

#[tokio::test]
async fn redirects_are_followed_to_their_number() {
    let mut replies = BTreeMap::from([("/end", reply("200 OK", "there"))]);
    for (from, to) in [("/1", "/2"), ("/2", "/end"), ("/round", "/round")] {
        replies.insert(from, reply(&format!("302 Found\r\nLocation: {to}"), ""));
    }
    replies.insert("/out", reply("302 Found\r\nLocation: file:///etc/passwd", ""));
    let server = server(OUTSIDE, 0, replies);
    let desk = plain_desk();
    let there = request(&desk, json!({ "url": server.url("/1"), "followRedirects": 2 })).await;
    assert_eq!((&there["body"], &there["url"]), (&json!("there"), &json!(server.url("/end"))));
    let short = refusal(&desk, "http_request", json!({ "url": server.url("/1"), "followRedirects": 1 })).await;
    assert_eq!(short, "more than 1 redirects");
    let round = refusal(&desk, "http_request", json!({ "url": server.url("/round") })).await;
    assert_eq!(round, "more than 5 redirects");
    let itself = request(&desk, json!({ "url": server.url("/1"), "followRedirects": 0 })).await;
    assert_eq!((&itself["status"], &itself["headers"]["location"]), (&json!(302), &json!("/2")));
    let out = request(&desk, json!({ "url": server.url("/out") })).await;
    assert!(out["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "it is a path on the same server: {out}");
}

#[tokio::test]
async fn public_only_checks_every_address_and_every_redirect() {
    // The machine inside listens on the same port, so that only its address is in the way.
    let outside = TcpListener::bind((OUTSIDE, 0)).unwrap().local_addr().unwrap().port();
    let inside = server(INSIDE, outside, BTreeMap::from([("/secret", reply("200 OK", "secret"))]));
    let to = |host: &str| reply(&format!("302 Found\r\nLocation: http://{host}:{outside}/secret"), "");
    let outer = server(
        OUTSIDE,
        outside,
        BTreeMap::from([("/address", to("127.0.0.2")), ("/name", to("inside.test")), ("/same", to("rebinds.test"))]),
    );
    let (o, i) = (IpAddr::V4(OUTSIDE), IpAddr::V4(INSIDE));
    let desk = |host: &'static str, answers: Vec<Vec<IpAddr>>| {
        desk(TestNames { addresses: BTreeMap::from([(host, answers)]), ..TestNames::default() })
    };
    let url = |host: &str, path: &str| json!({ "url": format!("http://{host}:{outside}{path}") });
    for tool in ["http_request", "web_fetch"] {
        let refused = [
            // An address, in forms that programs take for one.
            (desk("none", vec![vec![o]]), url("127.0.0.2", "/secret")),
            (desk("none", vec![vec![o]]), url("[::ffff:127.0.0.2]", "/secret")),
            // A name inside, and one that is both inside and outside.
            (desk("inside.test", vec![vec![i]]), url("inside.test", "/secret")),
            (desk("mixed.test", vec![vec![o, i]]), url("mixed.test", "/secret")),
            // A redirect to an address, and to a name.
            (desk("none", vec![vec![o]]), url("127.0.0.1", "/address")),
            (desk("inside.test", vec![vec![i]]), url("127.0.0.1", "/name")),
            // A name that is outside when it is asked for first, and inside after that.
            (desk("rebinds.test", vec![vec![o], vec![i]]), url("rebinds.test", "/same")),
        ];
        for (desk, args) in refused {
            let message = refusal(&desk, tool, args.clone()).await;
            assert!(message.contains("no public address"), "{tool} {args}: {message}");
        }
    }
    assert_eq!(inside.asked(), Vec::<String>::new(), "the machine inside was reached");
    assert!(!outer.asked().is_empty());
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_a_connection() {
    let server = server(OUTSIDE, 0, BTreeMap::from([("/", reply("200 OK", "outside"))]));
    let answers = vec![vec![IpAddr::V4(OUTSIDE)], vec![IpAddr::V4(INSIDE)]];
    let desk = desk(TestNames { addresses: BTreeMap::from([("rebinds.test", answers)]), ..TestNames::default() });
    let url = format!("http://rebinds.test:{}/", server.address.port());
    assert_eq!(request(&desk, json!({ "url": url })).await["body"], "outside", "what was checked is what is used");
}

#[tokio::test]
async fn by_default_a_page_is_read_from_the_internet_alone() {
    let server = server(OUTSIDE, 0, BTreeMap::from([("/", reply("200 OK\r\nContent-Type: text/plain", "here"))]));
    let desk = Desk::new();
    let message = refusal(&desk, "web_fetch", json!({ "url": server.url("/") })).await;
    assert!(message.contains("127.0.0.1, which is no public address"), "{message}");
    assert_eq!(request(&desk, json!({ "url": server.url("/") })).await["body"], "here");
}

#[tokio::test]
async fn a_silent_server_holds_no_call() {
    let server = server(OUTSIDE, 0, BTreeMap::from([("/", Reply::Never)]));
    let desk = plain_desk();
    let late = desk.call("http_request", json!({ "url": server.url("/"), "timeoutSeconds": 0.2 })).await;
    assert!(failure(&late).timed_out, "{:?}", late.ended);
    assert!(late.duration < Duration::from_secs(5), "{:?}", late.duration);
    let (stopped, ()) = tokio::join!(desk.call("http_request", json!({ "url": server.url("/") })), async {
        desk.stop(StopReason::Cancelled);
    });
    assert_eq!(failure(&stopped).stopped, Some(StopReason::Cancelled));
    assert!(stopped.duration < Duration::from_secs(5), "{:?}", stopped.duration);
}

#[tokio::test]
async fn a_stop_closes_the_connection() {
    let listener = tokio::net::TcpListener::bind((OUTSIDE, 0)).await.unwrap();
    let desk = plain_desk();
    let args = json!({ "url": format!("http://{}/", listener.local_addr().unwrap()) });
    let (stopped, ()) = tokio::join!(desk.call("http_request", args), async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = [0; 4];
        tokio::io::AsyncReadExt::read_exact(&mut stream, &mut asked).await.unwrap();
        assert_eq!(&asked, b"GET ");
        desk.stop(StopReason::Cancelled);
        let mut rest = Vec::new();
        // Ends when the other side hangs up, and not before.
        let _reset = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut rest).await;
    });
    assert_eq!(failure(&stopped).stopped, Some(StopReason::Cancelled));
}

#[tokio::test]
async fn what_cannot_be_sent_says_why() {
    let desk = plain_desk();
    let url = "http://127.0.0.1:9/";
    for (args, part) in [
        (json!({ "url": "file:///etc/passwd" }), "no address that begins with http:// or https://"),
        (json!({ "url": "127.0.0.1:9" }), "no address that begins with http:// or https://"),
        (json!({ "url": url, "headers": { "X": "a\r\nHost: b" } }), "characters that a header cannot have"),
        (json!({ "url": url, "headers": { "a b": "c" } }), "it is no name of a header"),
        (json!({ "url": url, "headers": { "Content-Length": "5" } }), "it follows from the body"),
        (json!({ "url": url, "body": "x" }), "a GET request has no body"),
        (json!({ "method": "POST", "url": url, "body": "x", "json": 1 }), "arguments do not fit"),
        (json!({ "url": url }), "the connection failed"),
        (json!({ "url": "http://nowhere.test/" }), "nowhere.test cannot be looked up: no such name"),
    ] {
        let message = refusal(&desk, "http_request", args.clone()).await;
        assert!(message.contains(part), "{args}: {message}");
    }
}

#[tokio::test]
async fn a_page_is_read_as_text() {
    let server = server(
        OUTSIDE,
        0,
        BTreeMap::from([
            (
                "/page",
                reply("200 OK\r\nContent-Type: text/html; charset=ISO-8859-1", b"<title>Caf\xe9</title><p>au lait"),
            ),
            ("/image", reply("200 OK\r\nContent-Type: image/png", b"\x89PNG")),
            ("/plain", reply("200 OK\r\nContent-Type: text/plain", "<b> is left &amp; right")),
        ]),
    );
    let desk = plain_desk();
    let fetch = async |args: Value| result(&desk.call("web_fetch", args).await).clone();
    let page = fetch(json!({ "url": server.url("/page") })).await;
    let kind = "text/html; charset=ISO-8859-1";
    assert_eq!(page, json!({ "title": "Café", "text": "au lait", "contentType": kind, "truncated": false }));
    let cut = fetch(json!({ "url": server.url("/page"), "maxChars": 4 })).await;
    assert_eq!((&cut["text"], &cut["truncated"]), (&json!("au l"), &json!(true)));
    let plain = fetch(json!({ "url": server.url("/plain") })).await;
    assert_eq!((&plain["title"], &plain["text"]), (&Value::Null, &json!("<b> is left &amp; right")));
    assert!(refusal(&desk, "web_fetch", json!({ "url": server.url("/image") })).await.ends_with("which is no text"));
    assert!(
        refusal(&desk, "web_fetch", json!({ "url": server.url("/no") })).await.ends_with("answers with status 404")
    );
}

/// A server that speaks TLS as `tls.test`, and says how each of its handshakes went.
fn tls_server() -> (SocketAddr, std::sync::mpsc::Receiver<Result<(), String>>) {
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};

    let certificate = CertificateDer::from_pem_slice(include_bytes!("testdata/certificate.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("testdata/key.pem")).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind((OUTSIDE, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, stream);
            let answered = stream.read(&mut [0; 4_096]).and_then(|_| {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nsafe")?;
                stream.conn.send_close_notify();
                stream.flush()
            });
            // The test may be over.
            let _nobody_listens = tell.send(answered.map_err(|error| error.to_string()));
        }
    });
    (address, told)
}

#[tokio::test]
async fn a_certificate_is_believed_when_it_is_trusted_and_for_the_right_name() {
    let (address, handshakes) = tls_server();
    let certificate = ureq::tls::Certificate::from_pem(include_bytes!("testdata/certificate.pem")).unwrap();
    let desk = |trusted: &[ureq::tls::Certificate<'static>]| {
        let answers = vec![vec![IpAddr::V4(OUTSIDE)]];
        let addresses = BTreeMap::from([("tls.test", answers.clone()), ("other.test", answers)]);
        let names = Arc::new(TestNames { addresses, ..TestNames::default() });
        let roots = ureq::tls::RootCerts::new_with_certs(trusted);
        let network = Network::for_tests(Reach::Only(only_outside), names, Some(roots));
        Desk::with(ToolSettings { network, ..ToolSettings::default() })
    };
    let url = |host: &str| json!({ "url": format!("https://{host}:{}/", address.port()) });
    let trusting = desk(std::slice::from_ref(&certificate));
    assert_eq!(request(&trusting, url("tls.test")).await["body"], "safe");
    assert_eq!(handshakes.recv().unwrap(), Ok(()));
    let wrong_name = refusal(&trusting, "http_request", url("other.test")).await;
    assert!(wrong_name.to_lowercase().contains("certificate"), "{wrong_name}");
    let wary = refusal(&desk(&[]), "http_request", url("tls.test")).await;
    assert!(wary.to_lowercase().contains("certificate"), "{wary}");
    for _ in 0..2 {
        handshakes.recv().unwrap().unwrap_err();
    }
}
