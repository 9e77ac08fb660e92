//! `GET /api/workflows/events`: the library as it changes. Frames carry no ids: whoever connects gets everything first.

use std::collections::VecDeque;

use futures_util::stream::{self, Stream};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use weir_shared::finding::FindingCounts;
use weir_shared::wire::LibraryFrame;

use super::Api;
use super::answer::Answer;
use super::flow_view::summaries;
use super::problem::ApiError;
use super::route::{Route, get, of};
use super::sse;
use crate::access::scope::Scope;
use crate::library::LibraryChange;
use crate::shutdown::{ShutdownWatch, Stage};

/// The one route.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/api/workflows/events", "followLibrary", "The library as it changes: everything first, then each change")
            .streams(of::<LibraryFrame>(), "A stream of events without ids, which names each frame")
            .to(Scope::Read, |ask| async move { follow(ask.api) }),
    ]
}

fn follow(api: Api) -> Answer {
    // Before the snapshot, so that no change falls between the two.
    let changes = api.library.subscribe();
    let first = snapshot(&api)?;
    let shutdown = api.shutdown.clone();
    Ok(sse::answer(frames(Following { api, changes, shutdown, ready: VecDeque::from([first]) })))
}

struct Following {
    api: Api,
    changes: Receiver<LibraryChange>,
    shutdown: ShutdownWatch,
    ready: VecDeque<String>,
}

fn frames(following: Following) -> impl Stream<Item = String> + Send {
    stream::unfold(following, |mut following| async move { following.next().await.map(|text| (text, following)) })
}

impl Following {
    async fn next(&mut self) -> Option<String> {
        if let Some(text) = self.ready.pop_front() {
            return Some(text);
        }
        let change = tokio::select! {
            change = self.changes.recv() => change,
            () = self.shutdown.reached(Stage::Draining) => return None,
        };
        match change {
            Ok(change) => text_of(&changed(change)).ok(),
            // Too far behind to be told each change: everything again. A store that cannot be read ends the stream.
            Err(RecvError::Lagged(_)) => snapshot(&self.api).ok(),
            Err(RecvError::Closed) => None,
        }
    }
}

fn snapshot(api: &Api) -> Result<String, ApiError> {
    text_of(&LibraryFrame::Snapshot { flows: summaries(api)? })
}

fn changed(change: LibraryChange) -> LibraryFrame {
    match change {
        LibraryChange::Changed(entry) => LibraryFrame::FlowChanged {
            id: entry.id.clone(),
            revision: entry.revision.clone(),
            findings: FindingCounts::of(&entry.findings),
        },
        LibraryChange::Removed(id) => LibraryFrame::FlowRemoved { id },
    }
}

fn text_of(frame: &LibraryFrame) -> Result<String, ApiError> {
    let internal = |reason: String| ApiError::Internal { reason };
    let value = serde_json::to_value(frame).map_err(|error| internal(error.to_string()))?;
    let event = value["event"].as_str().ok_or_else(|| internal("a frame without a name".to_owned()))?;
    Ok(sse::frame(None, event, &value["data"].to_string()))
}
