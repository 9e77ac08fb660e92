//! The API as a test speaks it: typed where the answer matters, raw where the request does.

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use ureq::http;
use weir_shared::ids::{FlowId, Revision, RunId};
use weir_shared::published::VersionList;
use weir_shared::wire::{FlowSummary, FlowView, Problem, RunAccepted, RunDetail, RunPage, TOKEN_HEADER};

use crate::stream::Stream;
use crate::wait::PATIENCE;

/// One caller of one worker.
#[derive(Debug, Clone)]
pub struct Client {
    address: String,
    token: Option<String>,
    agent: ureq::Agent,
}

/// What came back, whatever its status.
#[derive(Debug, Clone)]
pub struct Answer {
    /// What was asked, for errors.
    pub request: String,
    pub status: u16,
    pub headers: http::HeaderMap,
    pub body: Vec<u8>,
}

/// A request that is made by hand, header by header.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub headers: &'a [(&'a str, &'a str)],
    pub body: Option<&'a [u8]>,
}

/// The modes that let every step of a test run without asking.
pub fn full_access() -> Value {
    json!({ "permissionMode": "full-access" })
}

impl Client {
    /// A caller without a token.
    pub fn anonymous(address: &str) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE))
            .timeout_per_read(Some(PATIENCE))
            .build()
            .new_agent();
        Self { address: address.to_owned(), token: None, agent }
    }

    /// The same caller with a token.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Sends a request as it is, without the caller's token.
    pub fn send(&self, request: &Request<'_>) -> Result<Answer> {
        let response = self.open(request)?;
        let (parts, mut body) = response.into_parts();
        Ok(Answer {
            request: format!("{} {}", request.method, request.path),
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.with_config().limit(64 * 1024 * 1024).read_to_vec()?,
        })
    }

    fn open(&self, request: &Request<'_>) -> Result<http::Response<ureq::Body>> {
        let mut builder =
            http::Request::builder().method(request.method).uri(format!("http://{}{}", self.address, request.path));
        for (name, value) in request.headers {
            builder = builder.header(*name, *value);
        }
        let sent = match request.body {
            Some(body) => self.agent.run(builder.body(body)?),
            None => self.agent.run(builder.body(())?),
        };
        sent.with_context(|| format!("{} {}", request.method, request.path))
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Answer> {
        let text = body.map(Value::to_string);
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(self.token.as_deref().map(|token| (TOKEN_HEADER, token)));
        self.send(&Request { method, path, headers: &headers, body: text.as_deref().map(str::as_bytes) })
    }

    /// GET.
    pub fn get(&self, path: &str) -> Result<Answer> {
        self.call("GET", path, None)
    }

    /// POST of a JSON body.
    pub fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.call("POST", path, Some(body))
    }

    /// PUT of a JSON body.
    pub fn put(&self, path: &str, body: &Value) -> Result<Answer> {
        self.call("PUT", path, Some(body))
    }

    /// DELETE.
    pub fn delete(&self, path: &str) -> Result<Answer> {
        self.call("DELETE", path, None)
    }

    /// Creates a flow under this id.
    pub fn create_flow(&self, id: &str, flow: &Value) -> Result<FlowView> {
        self.post("/api/workflows", &json!({ "id": id, "flow": flow }))?.having(201)
    }

    /// Reads a flow.
    pub fn flow(&self, id: &str) -> Result<FlowView> {
        self.get(&format!("/api/workflows/{id}"))?.having(200)
    }

    /// Lists the flows.
    pub fn flows(&self) -> Result<Vec<FlowSummary>> {
        self.get("/api/workflows")?.having(200)
    }

    /// Saves a flow over the revision a test last saw.
    pub fn save_flow(&self, id: &str, flow: &Value, expected: &Revision) -> Result<Answer> {
        self.put(&format!("/api/workflows/{id}"), &json!({ "flow": flow, "expectedRevision": expected }))
    }

    /// PATCH with a body.
    pub fn patch(&self, path: &str, body: &Value) -> Result<Answer> {
        self.call("PATCH", path, Some(body))
    }

    /// Creates a flow under this id and publishes it.
    pub fn publish_flow(&self, id: &str, flow: &Value) -> Result<FlowView> {
        let made = self.create_flow(id, flow)?;
        self.publish(id, &made.revision)?;
        Ok(made)
    }

    /// Publishes a flow that is at this revision.
    pub fn publish(&self, id: &str, expected: &Revision) -> Result<VersionList> {
        let body = json!({ "published": true, "expectedRevision": expected });
        self.post(&format!("/api/workflows/{id}/publish"), &body)?.having(200)
    }

    /// Starts a flow with full access.
    pub fn run_flow(&self, id: &FlowId, inputs: &Map<String, Value>) -> Result<RunId> {
        let body = json!({ "inputs": inputs, "config": full_access() });
        let accepted: RunAccepted = self.post(&format!("/api/workflows/{id}/run"), &body)?.having(202)?;
        Ok(accepted.run_id)
    }

    /// Starts a plan with full access.
    pub fn run_plan(&self, plan: &Value) -> Result<RunId> {
        self.run_plan_as(plan, &full_access())
    }

    /// Starts a plan with a configuration of its own.
    pub fn run_plan_as(&self, plan: &Value, config: &Value) -> Result<RunId> {
        let body = json!({ "goal": "a test", "workflow": plan, "config": config });
        let accepted: RunAccepted = self.post("/api/agent/run", &body)?.having(202)?;
        Ok(accepted.run_id)
    }

    /// Asks for the end of a run.
    pub fn cancel(&self, run: &RunId) -> Result<Answer> {
        self.post(&format!("/api/agent/{run}/cancel"), &json!({}))
    }

    /// Answers a gate.
    pub fn approve(&self, run: &RunId, body: &Value) -> Result<Answer> {
        self.post(&format!("/api/agent/{run}/approve"), body)
    }

    /// Everything about a run.
    pub fn run(&self, run: &RunId) -> Result<RunDetail> {
        self.get(&format!("/api/agent/runs/{run}"))?.having(200)
    }

    /// A page of runs, with this query.
    pub fn runs(&self, query: &str) -> Result<RunPage> {
        self.get(&format!("/api/agent/runs?{query}"))?.having(200)
    }

    /// Follows a run from its beginning.
    pub fn follow(&self, run: &RunId) -> Result<Stream> {
        self.follow_after(run, None)
    }

    /// Follows a run as a browser does that was cut off after this id.
    pub fn follow_after(&self, run: &RunId, last: Option<&str>) -> Result<Stream> {
        match self.try_to_follow(run, last)? {
            Followed::Stream(stream) => Ok(stream),
            Followed::Answer(answer) => anyhow::bail!("{answer:?} is no stream"),
        }
    }

    /// Follows a run, or tells what else the worker answered.
    pub fn try_to_follow(&self, run: &RunId, last: Option<&str>) -> Result<Followed> {
        let path = format!("/api/agent/stream?runId={run}");
        let mut headers = vec![("accept", "text/event-stream")];
        headers.extend(self.token.as_deref().map(|token| (TOKEN_HEADER, token)));
        headers.extend(last.map(|last| ("last-event-id", last)));
        let response = self.open(&Request { method: "GET", path: &path, headers: &headers, body: None })?;
        let (parts, mut body) = response.into_parts();
        if parts.status.as_u16() == 200 {
            return Ok(Followed::Stream(Stream::of(body.into_reader())));
        }
        Ok(Followed::Answer(Answer {
            request: format!("GET {path}"),
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.read_to_vec()?,
        }))
    }

    /// Waits for the end of a run and tells everything about it.
    pub fn finish(&self, run: &RunId) -> Result<RunDetail> {
        self.follow(run)?.to_end()?;
        self.run(run)
    }
}

/// What following a run gives.
#[derive(Debug)]
pub enum Followed {
    Stream(Stream),
    /// Another status than 200.
    Answer(Answer),
}

impl Followed {
    /// The status of the answer.
    pub fn status(&self) -> u16 {
        match self {
            Followed::Stream(_) => 200,
            Followed::Answer(answer) => answer.status,
        }
    }
}

impl Answer {
    /// The body, when the status is this one.
    pub fn having<T: DeserializeOwned>(&self, status: u16) -> Result<T> {
        ensure!(self.status == status, "{}: {}, not {status}: {}", self.request, self.status, self.text());
        serde_json::from_slice(&self.body).with_context(|| format!("{}: {}", self.request, self.text()))
    }

    /// The problem it tells, when the status is this one.
    pub fn problem(&self, status: u16) -> Result<Problem> {
        self.having(status)
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header as text, empty when it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}
