//! One HTTP exchange: a request out, an answer in, within limits.
//!
//! The client blocks, so each exchange has a thread of its own; many may wait at once, and the pool that reads files
//! is not theirs to fill. When a call is stopped or its time is up, its sockets are shut down, which ends the thread;
//! one that still looks up a name ends when that does. No proxy is taken from the environment.

use std::io::Read as _;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::oneshot;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body, ResponseExt as _};

use super::resolver::{CheckedResolver, Names, Reach, SystemNames};
use crate::tool::call::{StopReceiver, ToolFailure};
use crate::tool::toolbox::bounded;

/// Bytes of a thread's stack; TLS takes most of it.
const STACK_BYTES: usize = 1024 * 1024;
/// What requests say they come from, unless they say it themselves.
const USER_AGENT: &str = concat!("weir/", env!("CARGO_PKG_VERSION"));

/// The network as the tools may use it. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    /// Where `http_request` may go.
    pub(crate) reach: Reach,
    /// Where `web_fetch` may go.
    pub(crate) fetch_reach: Reach,
    names: Arc<dyn Names>,
    /// Whom connections trust; none: whom this machine trusts.
    roots: Option<RootCerts>,
}

impl Default for Network {
    fn default() -> Self {
        Self { reach: Reach::Anywhere, fetch_reach: Reach::PUBLIC, names: Arc::new(SystemNames), roots: None }
    }
}

impl Network {
    /// As the setting `network.publicOnly` says; `None` when it says nothing.
    pub(crate) fn public_only(setting: Option<bool>) -> Self {
        match setting {
            None => Self::default(),
            Some(true) => Self { reach: Reach::PUBLIC, ..Self::default() },
            Some(false) => Self { fetch_reach: Reach::Anywhere, ..Self::default() },
        }
    }

    #[cfg(test)]
    pub(crate) fn for_tests(reach: Reach, names: Arc<dyn Names>, roots: Option<RootCerts>) -> Self {
        Self { reach, fetch_reach: reach, names, roots }
    }
}

/// What is asked.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Option<Vec<u8>>,
    pub(super) reach: Reach,
    /// Redirects that are followed; with 0 a redirect is an answer like any other.
    pub(super) redirects: u32,
    /// Bytes of the answer's body that are read.
    pub(super) most_bytes: u64,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// There is more of the body than was to be read.
    pub(super) is_cut: bool,
    /// Where the answer came from, after all redirects.
    pub(super) url: String,
}

/// Asks, for as long as this; a stop ends it at once.
pub(super) async fn ask(
    network: &Network,
    question: Question,
    limit: Duration,
    stopping: StopReceiver,
) -> Result<Answer, ToolFailure> {
    let agent = agent(network, &question, limit);
    let (tell, told) = oneshot::channel();
    let for_thread = agent.clone();
    let exchange = move || {
        // Nobody listens any more after a stop.
        let _late = tell.send(exchange(&for_thread, question));
    };
    let asked = async move {
        let _hang_up = HangUp(Some(agent));
        let thread = std::thread::Builder::new().name("weir-http".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(exchange).map_err(|error| Fault::Other(format!("no thread for the call: {error}")))?;
        told.await.unwrap_or_else(|_| Err(Fault::Other("the call broke off".to_owned())))
    };
    match bounded(async { Ok(asked.await) }, Some(limit), stopping).await? {
        Ok(answer) => Ok(answer),
        Err(Fault::TimedOut) => Err(ToolFailure::timed_out(limit)),
        Err(Fault::Other(message)) => Err(ToolFailure::because(message)),
    }
}

/// Shuts the connections of a call down when nobody waits for it any more, or when it is over.
struct HangUp(Option<Agent>);

impl Drop for HangUp {
    fn drop(&mut self) {
        if let Some(agent) = self.0.take() {
            agent.shutdown();
        }
    }
}

enum Fault {
    TimedOut,
    Other(String),
}

fn agent(network: &Network, question: &Question, limit: Duration) -> Agent {
    static OF_THIS_MACHINE: LazyLock<RootCerts> = LazyLock::new(|| {
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(%error, "a certificate of this machine cannot be read");
        }
        found.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).into()
    });
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(network.roots.clone().unwrap_or_else(|| OF_THIS_MACHINE.clone()))
        .build();
    let config = Agent::config_builder()
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(question.redirects)
        .max_redirects_will_error(question.redirects > 0)
        .redirect_auth_headers(ureq::config::RedirectAuthHeaders::SameHost)
        .user_agent(USER_AGENT)
        .timeout_global(Some(limit))
        .tls_config(tls)
        .build();
    let resolver = CheckedResolver { names: Arc::clone(&network.names), reach: question.reach };
    Agent::with_parts(config, DefaultConnector::new(), resolver)
}

fn exchange(agent: &Agent, question: Question) -> Result<Answer, Fault> {
    let Question { method, url, headers, body, most_bytes, redirects, .. } = question;
    let mut request = Request::builder().method(method).uri(&url);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let sent = match body {
        Some(body) => request.body(body).map_err(ureq::Error::from).and_then(|request| agent.run(request)),
        None => request.body(()).map_err(ureq::Error::from).and_then(|request| agent.run(request)),
    };
    let response = sent.map_err(|error| fault(error, redirects))?;
    read(response, most_bytes).map_err(|error| fault(error, redirects))
}

fn read(response: Response<Body>, most_bytes: u64) -> Result<Answer, ureq::Error> {
    let url = response.get_uri().to_string();
    let (parts, body) = response.into_parts();
    let mut bytes = Vec::new();
    let mut reader = body.into_reader();
    reader.by_ref().take(most_bytes + 1).read_to_end(&mut bytes).map_err(ureq::Error::from)?;
    let is_cut = bytes.len() as u64 > most_bytes;
    if is_cut {
        bytes.pop();
    }
    Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body: bytes, is_cut, url })
}

fn fault(error: ureq::Error, redirects: u32) -> Fault {
    Fault::Other(match error {
        ureq::Error::Timeout(_) => return Fault::TimedOut,
        ureq::Error::TooManyRedirects => format!("more than {redirects} redirects"),
        ureq::Error::Other(error) => error.to_string(),
        ureq::Error::HostNotFound => "the host has no address".to_owned(),
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => return Fault::TimedOut,
        ureq::Error::Io(error) => format!("the connection failed: {error}"),
        other => other.to_string(),
    })
}
