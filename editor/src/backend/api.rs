//! Every call the page makes, typed; the worker's side is documented in the HTTP pages.
//!
//! [`Api`] is what pages use: besides the answer it tells the connection and the session what the call has shown.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use weir_shared::flow::Flow;
use weir_shared::ids::{FlowId, Revision, RunId, TriggerId};
use weir_shared::tool::ToolDeclaration;
use weir_shared::webhook::{CreateTrigger, DeliveryList, TriggerList, TriggerSecret};
use weir_shared::wire::{Approve, FlowDeleted, FlowSummary, FlowView, RunAccepted, RunFlow, RunPage};

use super::address::{OutputWanted, RunsWanted};
use super::answer::{Answer, CallError, read};
use super::connection::Connection;
use super::http::{Verb, send, text_of};
use super::session::SessionHandle;

/// The worker's API. A cheap handle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Api {
    connection: Connection,
    session: SessionHandle,
}

impl Api {
    /// The API, telling the connection and the session of the page.
    pub(crate) fn from_context() -> Self {
        Self { connection: Connection::from_context(), session: SessionHandle::from_context() }
    }

    async fn call<T: DeserializeOwned>(self, verb: Verb, path: &str, body: Option<String>) -> Result<T, CallError> {
        let answer = self.raw(verb, path, body).await?;
        let read = read(&answer);
        if let Err(error) = &read {
            self.learn(error);
        }
        read
    }

    async fn raw(self, verb: Verb, path: &str, body: Option<String>) -> Result<Answer, CallError> {
        let answer = send(verb, path, body).await;
        match &answer {
            Ok(_) => self.connection.found(),
            Err(error) => self.learn(error),
        }
        answer
    }

    fn learn(self, error: &CallError) {
        match error {
            CallError::Unreachable => self.connection.lost(),
            CallError::Refused { status: 401, .. } => self.session.ended(),
            CallError::Refused { .. } | CallError::Garbled { .. } => {}
        }
    }

    /// Every flow of the library.
    pub(crate) async fn flows(self) -> Result<Vec<FlowSummary>, CallError> {
        self.call(Verb::Get, "/api/workflows", None).await
    }

    /// One flow, with its findings.
    pub(crate) async fn flow(self, id: &FlowId) -> Result<FlowView, CallError> {
        self.call(Verb::Get, &format!("/api/workflows/{id}"), None).await
    }

    /// Keeps a new flow; its id is made from its name.
    pub(crate) async fn create_flow(self, flow: &Flow) -> Result<FlowView, CallError> {
        self.call(Verb::Post, "/api/workflows", Some(text_of(&json!({ "flow": flow })))).await
    }

    /// Saves a flow over the revision it started from.
    pub(crate) async fn save_flow(self, id: &FlowId, flow: &Flow, from: &Revision) -> Result<FlowView, CallError> {
        let body = text_of(&json!({ "flow": flow, "expectedRevision": from }));
        self.call(Verb::Put, &format!("/api/workflows/{id}"), Some(body)).await
    }

    /// Deletes a flow as it was at `from`.
    pub(crate) async fn delete_flow(self, id: &FlowId, from: &Revision) -> Result<FlowDeleted, CallError> {
        self.call(Verb::Delete, &format!("/api/workflows/{id}?expectedRevision={from}"), None).await
    }

    /// Starts a run of a saved flow.
    pub(crate) async fn run_flow(self, id: &FlowId, run: &RunFlow) -> Result<RunAccepted, CallError> {
        self.call(Verb::Post, &format!("/api/workflows/{id}/run"), Some(text_of(run))).await
    }

    /// Every tool that can be named.
    pub(crate) async fn tools(self) -> Result<Vec<ToolDeclaration>, CallError> {
        self.call(Verb::Get, "/api/agent/tools", None).await
    }

    /// Every webhook.
    pub(crate) async fn webhooks(self) -> Result<TriggerList, CallError> {
        self.call(Verb::Get, "/api/agent/webhook-triggers", None).await
    }

    /// Makes a webhook; the answer holds its secret.
    pub(crate) async fn create_webhook(self, asked: &CreateTrigger) -> Result<TriggerSecret, CallError> {
        self.call(Verb::Post, "/api/agent/webhook-triggers", Some(text_of(asked))).await
    }

    /// Gives a webhook another secret, which the answer holds.
    pub(crate) async fn rotate_webhook(self, id: &TriggerId) -> Result<TriggerSecret, CallError> {
        let path = format!("/api/agent/webhook-triggers/{id}/rotate-secret");
        self.call(Verb::Post, &path, Some("{}".to_owned())).await
    }

    /// Removes a webhook.
    pub(crate) async fn remove_webhook(self, id: &TriggerId) -> Result<(), CallError> {
        self.call::<Value>(Verb::Delete, &format!("/api/agent/webhook-triggers/{id}"), None).await.map(|_| ())
    }

    /// The newest accepted calls of a webhook.
    pub(crate) async fn deliveries(self, id: &TriggerId) -> Result<DeliveryList, CallError> {
        self.call(Verb::Get, &format!("/api/agent/webhook-triggers/{id}/deliveries"), None).await
    }

    /// A page of the runs, newest first.
    pub(crate) async fn runs(self, wanted: &RunsWanted) -> Result<RunPage, CallError> {
        self.call(Verb::Get, &wanted.path(), None).await
    }

    /// Answers a gate.
    pub(crate) async fn approve(self, id: &RunId, answer: &Approve) -> Result<(), CallError> {
        self.call::<Value>(Verb::Post, &format!("/api/agent/{id}/approve"), Some(text_of(answer))).await.map(|_| ())
    }

    /// Asks a run to stop.
    pub(crate) async fn cancel(self, id: &RunId) -> Result<(), CallError> {
        self.call::<Value>(Verb::Post, &format!("/api/agent/{id}/cancel"), Some("{}".to_owned())).await.map(|_| ())
    }

    /// Output of one attempt from `offset` on, as text.
    pub(crate) async fn output(self, of: &OutputWanted, offset: u64) -> Result<String, CallError> {
        let path = of.path(offset);
        let answer = self.raw(Verb::Get, &path, None).await?;
        if (200..300).contains(&answer.status) {
            return Ok(answer.body);
        }
        let refused = read::<Value>(&answer).err();
        Err(refused.unwrap_or(CallError::Garbled { status: answer.status, why: "no output".to_owned() }))
    }
}
