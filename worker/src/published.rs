//! Publishing: which version of a flow runs without a person, and how it comes to be that one.
//!
//! The active version of a flow is the highest that this machine accepted and whose file is what was accepted. A file
//! is written before it is accepted: a worker that is killed in between leaves a version that nobody accepted, which
//! runs nowhere, and a person may accept it or publish again. This module puts the files (`library`) and the acceptance
//! (`store`) together; it starts nothing. Flows that are deleted or renamed are in `departures`.

mod departures;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use weir_shared::diff::diff;
use weir_shared::finding::{Finding, Severity};
use weir_shared::flow::Flow;
use weir_shared::ids::{FlowId, Revision};
use weir_shared::plan::Plan;
use weir_shared::published::{PublishState, Snapshot, Standing, VersionDiff, VersionList, VersionView, without_pins};
use weir_shared::tool::Catalog;
use weir_shared::{canonical, published};

use crate::clock::Clock;
use crate::library::{Entry, Library, SaveError, Service, Version, VersionFiles};
use crate::store::{AcceptedVersions, Store, StoreError};

/// How often a number is looked for that another worker, or git, takes at the same moment.
const NUMBERS_TRIED: usize = 8;

/// Published versions. A clone is the same.
#[derive(Clone)]
pub(crate) struct Published(Arc<Inner>);

struct Inner {
    library: Library,
    store: Store,
    clock: Clock,
    /// Compiled once for each version and catalog.
    compiled: Mutex<HashMap<FlowId, Compiled>>,
    /// Held over everything that changes files and store together.
    turn: tokio::sync::Mutex<()>,
}

struct Compiled {
    catalog: Arc<Catalog>,
    outcome: Result<Arc<ActiveVersion>, NotActive>,
    number: u64,
    sha256: String,
}

impl fmt::Debug for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Published")
    }
}

/// A version that runs, compiled against the tools of now.
#[derive(Debug)]
pub(crate) struct ActiveVersion {
    pub(crate) id: FlowId,
    pub(crate) number: u64,
    /// Of the snapshot's canonical text: what runs name as the flow's revision.
    pub(crate) revision: Revision,
    pub(crate) flow: Arc<Flow>,
    pub(crate) plan: Arc<Plan>,
}

/// Why no version of a flow runs.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum NotActive {
    #[error("there is no flow `{0}`")]
    Unknown(FlowId),
    #[error("the flow `{0}` is not published; publish it first")]
    NotPublished(FlowId),
    #[error("the flow `{0}` was taken out of service; publish it to put it back")]
    OutOfService(FlowId),
    #[error("no version of `{id}` is accepted on this machine; look at version {newest} and accept it, or publish")]
    Unaccepted { id: FlowId, newest: u64 },
    #[error("version {number} of `{id}` is not accepted on this machine")]
    NotAccepted { id: FlowId, number: u64 },
    #[error("version {number} of `{id}` cannot run as the tools are now")]
    Findings { id: FlowId, number: u64, findings: Vec<Finding> },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why nothing was published, accepted or brought back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishError {
    #[error(transparent)]
    Save(#[from] SaveError),
    #[error("the flow has errors and cannot be published")]
    Findings(Vec<Finding>),
    #[error("`{id}` has no version {number}")]
    NoVersion { id: FlowId, number: u64 },
    #[error("version {number} cannot be used: {reason}")]
    Unfit { number: u64, reason: String },
    #[error("version {number} is not the one that was looked at: its digest is {sha256}")]
    OtherVersion { number: u64, sha256: String },
    #[error("the draft cannot be read as a flow, so there is nothing to compare")]
    UnreadableDraft,
    #[error(transparent)]
    NotActive(#[from] NotActive),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the worker failed: {0}")]
    Broken(String),
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Draft,
    Active,
    Number(u64),
}

impl Published {
    /// The versions of this library, as this store accepted them. Finishes what an earlier worker had begun with a
    /// flow's files.
    pub(crate) async fn open(library: Library, store: Store, clock: Clock) -> Result<Self, StoreError> {
        let compiled = Mutex::default();
        let published = Self(Arc::new(Inner { library, store, clock, compiled, turn: tokio::sync::Mutex::default() }));
        for (flow, tombstone) in published.0.store.tombstones()? {
            if let Err(error) = published.finish(&flow, &tombstone).await {
                tracing::warn!(%flow, %error, "what was begun with a flow's files is not finished");
            }
        }
        Ok(published)
    }

    /// The version that runs without a person.
    pub(crate) fn active(&self, id: &FlowId) -> Result<Arc<ActiveVersion>, NotActive> {
        let Inner { library, store, .. } = &*self.0;
        if library.get(id).is_none() {
            return Err(NotActive::Unknown(id.clone()));
        }
        let files = library.versions(id);
        let accepted = store.accepted_versions(id)?;
        let newest = files.versions.last().map(|version| version.number);
        match (active_of(&files, &accepted), newest, files.service) {
            (_, None, _) => Err(NotActive::NotPublished(id.clone())),
            (_, Some(_), Service::Out) => Err(NotActive::OutOfService(id.clone())),
            (None, Some(newest), Service::In) => Err(NotActive::Unaccepted { id: id.clone(), newest }),
            (Some(snapshot), Some(_), Service::In) => self.compiled(snapshot),
        }
    }

    /// A version that a person asks for by its number: accepted, whether it is the active one or not.
    pub(crate) fn accepted(&self, id: &FlowId, number: u64) -> Result<Arc<ActiveVersion>, NotActive> {
        if self.0.library.get(id).is_none() {
            return Err(NotActive::Unknown(id.clone()));
        }
        let files = self.0.library.versions(id);
        let accepted = self.0.store.accepted_versions(id)?;
        let found = files.versions.iter().find(|version| version.number == number);
        match found.and_then(|version| accepted_snapshot(version, &accepted)) {
            Some(snapshot) => self.compile(snapshot),
            None => Err(NotActive::NotAccepted { id: id.clone(), number }),
        }
    }

    /// Whether a flow is published, in short.
    pub(crate) fn state(&self, entry: &Entry) -> Result<PublishState, StoreError> {
        let files = self.0.library.versions(&entry.id);
        if files.versions.is_empty() {
            return Ok(PublishState { has_unpublished_changes: true, ..PublishState::default() });
        }
        Ok(state_of(entry, &files, &self.0.store.accepted_versions(&entry.id)?))
    }

    /// Every version of a flow.
    pub(crate) fn list(&self, entry: &Entry) -> Result<VersionList, StoreError> {
        let files = self.0.library.versions(&entry.id);
        let accepted = self.0.store.accepted_versions(&entry.id)?;
        let state = state_of(entry, &files, &accepted);
        let versions = files.versions.iter().rev().map(|version| view(version, state, &accepted)).collect();
        Ok(VersionList { id: entry.id.clone(), state, versions })
    }

    /// One version, with its flow when it can be read.
    pub(crate) fn show(&self, entry: &Entry, number: u64) -> Result<VersionView, PublishError> {
        let version = self.version(&entry.id, number)?;
        let mut list = self.list(entry)?;
        list.versions.retain(|view| view.number == number);
        let mut view = list.versions.pop().ok_or_else(|| no_version(&entry.id, number))?;
        view.flow = version.content.as_ref().ok().map(|snapshot| snapshot.flow.clone());
        Ok(view)
    }

    /// Publishes the flow as it is in its file, which is at this revision. A flow that is as it was published makes no
    /// new version; it is put back in service.
    pub(crate) async fn publish(&self, id: &FlowId, expected: &Revision) -> Result<(), PublishError> {
        let _turn = self.0.turn.lock().await;
        for _ in 0..NUMBERS_TRIED {
            let entry = self.at_revision(id, Some(expected)).await?;
            refuse_errors(&entry.findings)?;
            let flow = entry.flow.clone().ok_or(PublishError::UnreadableDraft)?;
            let files = self.0.library.versions(id);
            let accepted = self.0.store.accepted_versions(id)?;
            let same = active_of(&files, &accepted).is_some_and(|active| active.flow == without_pins(&flow));
            if !same {
                let highest = files.versions.last().map_or(0, |version| version.number).max(accepted.highest);
                let snapshot = Snapshot::of(&flow, id.clone(), highest + 1, self.0.clock.now());
                let (number, sha256) = (snapshot.number, snapshot.sha256.clone());
                match self.in_library(move |library| library.add_version(&snapshot)).await? {
                    // Git, or another worker, took the number meanwhile.
                    Err(SaveError::Exists { .. }) => continue,
                    written => written?,
                }
                self.0.store.accept_version(id.clone(), number, sha256).await?;
            }
            return self.set_service(id, Service::In).await;
        }
        Err(SaveError::Exists { id: id.clone() }.into())
    }

    /// Takes a flow out of service. Its versions stay.
    pub(crate) async fn unpublish(&self, id: &FlowId, expected: &Revision) -> Result<(), PublishError> {
        let _turn = self.0.turn.lock().await;
        self.at_revision(id, Some(expected)).await?;
        if self.0.library.versions(id).versions.is_empty() {
            return Err(NotActive::NotPublished(id.clone()).into());
        }
        self.set_service(id, Service::Out).await
    }

    /// Accepts a version that came from elsewhere, if it is still the one that was looked at.
    pub(crate) async fn accept(&self, id: &FlowId, number: u64, sha256: &str) -> Result<(), PublishError> {
        let _turn = self.0.turn.lock().await;
        let version = self.version(id, number)?;
        let snapshot = usable(&version)?;
        if snapshot.sha256 != sha256 {
            return Err(PublishError::OtherVersion { number, sha256: snapshot.sha256.clone() });
        }
        refuse_errors(&self.0.library.check(&snapshot.flow).findings)?;
        self.0.store.accept_version(id.clone(), number, sha256.to_owned()).await?;
        self.0.library.tell(id);
        Ok(())
    }

    /// Copies a version into the draft, which is at this revision. Nothing that is active changes, and pins of nodes
    /// that the version has stay.
    pub(crate) async fn restore(
        &self,
        id: &FlowId,
        number: u64,
        expected: Revision,
    ) -> Result<Arc<Entry>, PublishError> {
        let version = self.version(id, number)?;
        let mut flow = usable(&version)?.flow.clone();
        if let Some(draft) = &self.at_revision(id, Some(&expected)).await?.flow {
            let kept = draft.pins.iter().filter(|(node, _)| flow.node(node).is_some());
            flow.pins = kept.map(|(node, pin)| (node.clone(), pin.clone())).collect();
        }
        let text = canonical::print(&flow);
        let id = id.clone();
        Ok(self.in_library(move |library| library.save(&id, text.as_bytes(), &expected)).await??)
    }

    /// What differs between two sides.
    pub(crate) fn diff(&self, entry: &Entry, (from, to): (Side, Side)) -> Result<VersionDiff, PublishError> {
        let (from_name, from) = self.side(entry, from)?;
        let (to_name, to) = self.side(entry, to)?;
        let (before, after) = (canonical::print(&from), canonical::print(&to));
        let text = similar::TextDiff::from_lines(&before, &after);
        let text = text.unified_diff().context_radius(3).header(&from_name, &to_name).to_string();
        Ok(VersionDiff { from: from_name, to: to_name, text, flow: diff(&from, &to) })
    }

    async fn set_service(&self, id: &FlowId, service: Service) -> Result<(), PublishError> {
        let flow = id.clone();
        self.in_library(move |library| library.set_service(&flow, service)).await??;
        self.0.library.tell(id);
        Ok(())
    }

    /// The flow, when its bytes on disk have this revision.
    async fn at_revision(&self, id: &FlowId, expected: Option<&Revision>) -> Result<Arc<Entry>, PublishError> {
        let (id, expected) = (id.clone(), expected.cloned());
        Ok(self.in_library(move |library| library.at_revision(&id, expected.as_ref())).await??)
    }

    /// Waits for the disk where that keeps nobody waiting.
    async fn in_library<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Library) -> T + Send + 'static,
    ) -> Result<T, PublishError> {
        let library = self.0.library.clone();
        let done = tokio::task::spawn_blocking(move || work(&library)).await;
        done.map_err(|error| PublishError::Broken(error.to_string()))
    }

    fn version(&self, id: &FlowId, number: u64) -> Result<Arc<Version>, PublishError> {
        let files = self.0.library.versions(id);
        let found = files.versions.into_iter().find(|version| version.number == number);
        found.ok_or_else(|| no_version(id, number))
    }

    fn side(&self, entry: &Entry, side: Side) -> Result<(String, Flow), PublishError> {
        let of_version = |number: u64| -> Result<(String, Flow), PublishError> {
            let version = self.version(&entry.id, number)?;
            Ok((number.to_string(), usable(&version)?.flow.clone()))
        };
        match side {
            Side::Draft => {
                let flow = entry.flow.as_deref().ok_or(PublishError::UnreadableDraft)?;
                Ok(("draft".to_owned(), published::without_pins(flow)))
            }
            Side::Active => of_version(self.active(&entry.id)?.number),
            Side::Number(number) => of_version(number),
        }
    }

    /// The active version compiled, from what was compiled before where nothing has changed since.
    fn compiled(&self, snapshot: &Snapshot) -> Result<Arc<ActiveVersion>, NotActive> {
        let catalog = self.0.library.catalog();
        let lock = || self.0.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&snapshot.id)
            && known.number == snapshot.number
            && known.sha256 == snapshot.sha256
            && Arc::ptr_eq(&known.catalog, &catalog)
        {
            return known.outcome.clone();
        }
        let outcome = self.compile(snapshot);
        let (number, sha256) = (snapshot.number, snapshot.sha256.clone());
        lock().insert(snapshot.id.clone(), Compiled { catalog, outcome: outcome.clone(), number, sha256 });
        outcome
    }

    fn compile(&self, snapshot: &Snapshot) -> Result<Arc<ActiveVersion>, NotActive> {
        let Snapshot { id, number, flow, .. } = snapshot;
        let checked = self.0.library.check(flow);
        let Some(plan) = checked.plan else {
            let findings = checked.findings.into_iter().filter(|finding| finding.severity == Severity::Error);
            return Err(NotActive::Findings { id: id.clone(), number: *number, findings: findings.collect() });
        };
        Ok(Arc::new(ActiveVersion {
            id: id.clone(),
            number: *number,
            revision: Revision::of(canonical::print(flow).as_bytes()),
            flow: Arc::new(flow.clone()),
            plan: Arc::new(plan),
        }))
    }
}

fn refuse_errors(findings: &[Finding]) -> Result<(), PublishError> {
    let errors: Vec<Finding> = findings.iter().filter(|finding| finding.is_error()).cloned().collect();
    if errors.is_empty() { Ok(()) } else { Err(PublishError::Findings(errors)) }
}

fn no_version(id: &FlowId, number: u64) -> PublishError {
    PublishError::NoVersion { id: id.clone(), number }
}

/// The snapshot of a version that can be read.
fn usable(version: &Version) -> Result<&Snapshot, PublishError> {
    version.content.as_ref().map_err(|unfit| PublishError::Unfit { number: version.number, reason: unfit.to_string() })
}

/// The snapshot of a version whose file is what was accepted.
fn accepted_snapshot<'v>(version: &'v Version, accepted: &AcceptedVersions) -> Option<&'v Snapshot> {
    let snapshot = version.content.as_ref().ok()?;
    (accepted.versions.get(&version.number) == Some(&snapshot.sha256)).then_some(snapshot)
}

/// The version that would run if the flow is in service.
fn active_of<'v>(files: &'v VersionFiles, accepted: &AcceptedVersions) -> Option<&'v Snapshot> {
    files.versions.iter().rev().find_map(|version| accepted_snapshot(version, accepted))
}

fn state_of(entry: &Entry, files: &VersionFiles, accepted: &AcceptedVersions) -> PublishState {
    let active = active_of(files, accepted).filter(|_| files.service == Service::In);
    let same = match (active, &entry.flow) {
        (Some(active), Some(draft)) => entry.text.is_none() && active.flow == without_pins(draft),
        (Some(_) | None, _) => false,
    };
    PublishState {
        published: active.is_some(),
        published_version: active.map(|active| active.number),
        has_unpublished_changes: !same,
    }
}

fn view(version: &Version, state: PublishState, accepted: &AcceptedVersions) -> VersionView {
    let was_accepted = accepted.versions.get(&version.number);
    let (standing, reason) = match (&version.content, was_accepted) {
        (Ok(_), _) if state.published_version == Some(version.number) => (Standing::Active, None),
        (Ok(snapshot), Some(sha256)) if snapshot.sha256 == *sha256 => (Standing::Accepted, None),
        (Ok(_), Some(_)) => (Standing::Tampered, Some("it is not what was accepted on this machine".to_owned())),
        (Ok(_), None) => (Standing::Unaccepted, None),
        (Err(unfit), _) if unfit.is_tampering() => (Standing::Tampered, Some(unfit.to_string())),
        (Err(unfit), _) => (Standing::Unreadable, Some(unfit.to_string())),
    };
    let snapshot = version.content.as_ref().ok();
    VersionView {
        number: version.number,
        standing,
        published_at: snapshot.map(|snapshot| snapshot.published_at),
        sha256: snapshot.map(|snapshot| snapshot.sha256.clone()),
        step_count: snapshot.map(|snapshot| snapshot.flow.nodes.len()),
        reason,
        flow: None,
    }
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod tests;
