//! A client that sends raw bytes: real clients mend what these tests must break.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// In lower case, one a line.
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    /// The value of a header, in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The body, as JSON.
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The code of a problem.
    pub(super) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// A request in the making.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask {
    /// A request with a `Host` that is right, and nothing else.
    pub(super) fn new(method: &str, target: &str) -> Self {
        Self { line: format!("{method} {target} HTTP/1.1"), headers: Vec::new(), body: Vec::new() }
    }

    /// One more header. `Host` replaces the one that would be sent.
    pub(super) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// A body with its length.
    pub(super) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        let length = self.body.len().to_string();
        self.header("Content-Length", length)
    }

    /// The bytes that go out.
    pub(super) fn bytes(&self, address: SocketAddr) -> Vec<u8> {
        let mut head = format!("{}\r\n", self.line);
        if !self.headers.iter().any(|(name, _)| name == "Host") {
            head = format!("{head}Host: {address}\r\n");
        }
        for (name, value) in &self.headers {
            head = format!("{head}{name}: {value}\r\n");
        }
        head.push_str("Connection: close\r\n\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Sends it and reads until the server closes.
    pub(super) async fn send(&self, address: SocketAddr) -> Answer {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // A server that answers early closes while we still write: then its answer is what counts.
        let _sent_or_closed = stream.write_all(&self.bytes(address)).await;
        read_answer(&mut stream).await
    }
}

/// Reads one answer up to the end of the connection.
pub(super) async fn read_answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut piece).await {
        bytes.extend_from_slice(&piece[..read]);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}
