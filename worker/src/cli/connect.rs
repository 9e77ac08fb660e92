//! The way to a running worker: its card and token from the state directory, then the API.

use std::io::Read;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::{Response, StatusCode};
use weir_shared::finding::{Fault, Finding};
use weir_shared::wire::{Health, Problem, TOKEN_HEADER};

use super::exit::{Exit, Stop};
use crate::access::token::Token;
use crate::config::Config;
use crate::state_dir::{StateDirectory, StateError};

/// The most of an answer that is read: a run with every event of its first page stays well below.
const ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// A worker that can be asked.
#[derive(Debug, Clone)]
pub(super) struct Worker {
    agent: Agent,
    address: String,
    token: Token,
}

/// A worker's answer that is not a success.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) problem: Problem,
}

/// What came of asking.
#[derive(Debug, thiserror::Error)]
pub(super) enum AskError {
    #[error("{}", text(.0))]
    Refused(Box<Refused>),
    #[error("the worker at {address} does not answer: {reason}")]
    Unreachable { address: String, reason: String },
    #[error("the worker at {address} said something else than was asked: {reason}")]
    Odd { address: String, reason: String },
}

/// The problem and everything it lists, one a line.
fn text(refused: &Refused) -> String {
    let findings = refused.problem.findings.iter().map(finding_line);
    let faults = refused.problem.faults.iter().map(|Fault { path, message, .. }| format!("{path}: {message}"));
    std::iter::once(refused.problem.error.clone())
        .chain(findings.chain(faults).map(|line| format!("  {line}")))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A finding as one line.
pub(super) fn finding_line(finding: &Finding) -> String {
    let place = finding.line.zip(finding.column).map(|(line, column)| format!("{line}:{column}: ")).unwrap_or_default();
    format!("{place}{} [{}]", finding.message, finding.code.as_str())
}

impl From<AskError> for Stop {
    fn from(error: AskError) -> Self {
        let exit = match &error {
            AskError::Refused(refused) if !refused.problem.findings.is_empty() => Exit::Findings,
            AskError::Refused(refused) if refused.status.is_server_error() => Exit::Failed,
            AskError::Refused(_) | AskError::Unreachable { .. } => Exit::Usage,
            AskError::Odd { .. } => Exit::Failed,
        };
        Self { exit, message: error.to_string() }
    }
}

impl Worker {
    /// The worker of this configuration's state directory.
    pub(super) fn find(config: &Config) -> Result<Self, Stop> {
        let card = StateDirectory::at(config.state.clone()).worker().map_err(|error| Stop::usage(&error))?;
        Self::named(config, card.address)
    }

    /// The worker that runs there, if one does. One that died has left its card, and does not answer.
    pub(super) fn running(config: &Config) -> Result<Option<Self>, Stop> {
        let card = match StateDirectory::at(config.state.clone()).worker() {
            Ok(card) => card,
            Err(StateError::NoWorker { .. }) => return Ok(None),
            Err(error) => return Err(Stop::usage(&error)),
        };
        let worker = Self::named(config, card.address)?;
        match worker.get::<Health>("/api/health") {
            Ok(_) => Ok(Some(worker)),
            Err(AskError::Unreachable { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn named(config: &Config, address: String) -> Result<Self, Stop> {
        let token = StateDirectory::at(config.state.clone()).token().map_err(|error| Stop::usage(&error))?;
        let agent = Agent::config_builder()
            // The worker is on this machine: a proxy of the environment is not meant for it.
            .proxy(None)
            .http_status_as_error(false)
            .timeout_connect(Some(Duration::from_secs(5)))
            .build()
            .into();
        Ok(Self { agent, address, token })
    }

    /// An address on this worker.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn unreachable(&self, error: &ureq::Error) -> AskError {
        AskError::Unreachable { address: self.address.clone(), reason: error.to_string() }
    }

    /// GET of JSON.
    pub(super) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, AskError> {
        let request = self.agent.get(self.url(path)).header(TOKEN_HEADER, self.token.reveal());
        self.read(request.call().map_err(|error| self.unreachable(&error))?)
    }

    /// POST of JSON for JSON.
    pub(super) fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, AskError> {
        let request = self.agent.post(self.url(path)).header(TOKEN_HEADER, self.token.reveal());
        self.read(request.send_json(body).map_err(|error| self.unreachable(&error))?)
    }

    /// DELETE, for JSON.
    pub(super) fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, AskError> {
        let request = self.agent.delete(self.url(path)).header(TOKEN_HEADER, self.token.reveal());
        self.read(request.call().map_err(|error| self.unreachable(&error))?)
    }

    /// A stream of events from after `last` on; `None` when there is nothing after it.
    pub(super) fn follow(&self, path: &str, last: Option<&str>) -> Result<Option<impl Read + use<>>, AskError> {
        let mut request = self.agent.get(self.url(path)).header(TOKEN_HEADER, self.token.reveal());
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let response = request.call().map_err(|error| self.unreachable(&error))?;
        match response.status() {
            StatusCode::OK => Ok(Some(response.into_body().into_reader())),
            StatusCode::NO_CONTENT => Ok(None),
            _ => Err(self.refused(response)),
        }
    }

    fn read<T: DeserializeOwned>(&self, mut response: Response<ureq::Body>) -> Result<T, AskError> {
        if !response.status().is_success() {
            return Err(self.refused(response));
        }
        let bytes = response
            .body_mut()
            .with_config()
            .limit(ANSWER_BYTES)
            .read_to_vec()
            .map_err(|error| self.unreachable(&error))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| AskError::Odd { address: self.address.clone(), reason: error.to_string() })
    }

    fn refused(&self, mut response: Response<ureq::Body>) -> AskError {
        let status = response.status();
        match response.body_mut().read_json::<Problem>() {
            Ok(problem) => AskError::Refused(Box::new(Refused { status, problem })),
            Err(error) => {
                AskError::Odd { address: self.address.clone(), reason: format!("status {status}, and {error}") }
            }
        }
    }
}
