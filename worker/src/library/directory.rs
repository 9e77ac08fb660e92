//! [`Library`]: the directory of flows, looked at whenever it changes, and changed through one door.

use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tokio::sync::broadcast;
use weir_shared::canonical;
use weir_shared::check::CheckedText;
use weir_shared::flow::Flow;
use weir_shared::ids::{FlowId, Revision};
use weir_shared::limits::Limits;
use weir_shared::published::Snapshot;
use weir_shared::tool::Catalog;

use crate::secret::Secrets;

use super::catalog::{Flows, LibraryChange, Refused};
use super::load::{Entry, Rules};
use super::save::{self, Refusal, SaveError};
use super::scan::Scan;
use super::versions::{self, Service, VersionFiles, Versions};
use super::watch::{self, Eyes};
use crate::watching::Signal;

/// Names tried for one new flow before giving up: whoever has so many of one name means something else.
const NUMBERED: u32 = 10_000;

/// The flow library. A clone is the same library; the last one ends its watching.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    shared: Arc<Shared>,
    _watching: Arc<Watching>,
}

/// What the handle and the watching thread share.
#[derive(Debug)]
struct Shared {
    directory: PathBuf,
    rules: RwLock<Rules>,
    flows: Flows,
    versions: Versions,
    /// Held by whoever looks at the directory or changes it, so that no look is overtaken by a save.
    scan: Mutex<Scan>,
}

/// Tells the thread to end when the last handle is gone.
#[derive(Debug)]
struct Watching(Sender<Signal>);

impl Library {
    /// Loads every flow of the directory, then watches it. The directory need not exist yet. Without `secrets` it is
    /// not known which there are.
    pub(crate) fn open(directory: PathBuf, catalog: Arc<Catalog>, limits: Limits, secrets: Option<Secrets>) -> Self {
        // Events name their files from the root on.
        let directory = std::path::absolute(&directory).unwrap_or(directory);
        let rules = RwLock::new(Rules { catalog, limits, secrets });
        let scan = Mutex::new(Scan::default());
        let shared = Arc::new(Shared { directory, rules, flows: Flows::new(), versions: Versions::default(), scan });
        // Watched before it is looked at, so that nothing falls between.
        let (signals, received) = channel();
        let eyes = Eyes::open(&shared.directory, signals.clone());
        shared.look();
        let watched = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("weir-library".to_owned())
            .spawn(move || watch::run(eyes, &received, || watched.look()));
        // It ends by itself with the last handle; it holds nothing that must be finished.
        if let Err(error) = thread {
            tracing::error!(%error, "cannot watch the directory of flows: changes made outside are not seen");
        }
        Self { shared, _watching: Arc::new(Watching(signals)) }
    }

    /// Judges every flow by this catalog from now on. Returns once all have been.
    pub(crate) fn judge_by(&self, catalog: Arc<Catalog>) {
        let mut scan = self.shared.scan();
        {
            let mut rules = self.shared.rules.write().unwrap_or_else(PoisonError::into_inner);
            if Arc::ptr_eq(&rules.catalog, &catalog) {
                return;
            }
            rules.catalog = catalog;
        }
        scan.read_again();
        let _settled = scan.look(&self.shared.directory, &self.shared.flows, &self.shared.rules());
    }

    /// Every flow, by id.
    pub(crate) fn list(&self) -> Vec<Arc<Entry>> {
        self.shared.flows.list()
    }

    /// One flow.
    pub(crate) fn get(&self, id: &FlowId) -> Option<Arc<Entry>> {
        self.shared.flows.get(id)
    }

    /// Files that look like flows and cannot be any, each with the reason.
    pub(crate) fn refused(&self) -> Vec<Refused> {
        self.shared.flows.refused()
    }

    /// Changes from now on, whoever makes them. A subscriber that lags behind looks at the list again.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<LibraryChange> {
        self.shared.flows.subscribe()
    }

    /// Writes a new flow under this id, or under one made from its name (`-2` and so on when that is taken). Blocks
    /// until it is durable.
    pub(crate) fn create(&self, id: Option<FlowId>, text: &[u8]) -> Result<Arc<Entry>, SaveError> {
        let printed = save::printed(text)?;
        let mut scan = self.shared.scan();
        let create = |id: &FlowId| save::create(&self.shared.directory, id, &printed.bytes);
        let id = match id {
            Some(id) => create(&id).map(|()| id)?,
            None => free_id(&FlowId::from_name(&printed.flow.name), create)?,
        };
        self.shared.now(&mut scan, &id)
    }

    /// Writes a new flow under the first numbered variant of an id that is free.
    pub(crate) fn create_beside(&self, id: &FlowId, text: &[u8]) -> Result<Arc<Entry>, SaveError> {
        let printed = save::printed(text)?;
        let mut scan = self.shared.scan();
        let id = free_id(id, |id| save::create(&self.shared.directory, id, &printed.bytes))?;
        self.shared.now(&mut scan, &id)
    }

    /// Writes the canonical form of a text over a flow whose bytes on disk have this revision. Blocks until it is
    /// durable.
    pub(crate) fn save(&self, id: &FlowId, text: &[u8], expected: &Revision) -> Result<Arc<Entry>, SaveError> {
        let printed = save::printed(text)?;
        let mut scan = self.shared.scan();
        let saved = save::replace(&self.shared.directory, id, &printed.bytes, expected);
        self.shared.settle(&mut scan, id, saved)?;
        self.shared.now(&mut scan, id)
    }

    /// Removes a flow's file, if its bytes on disk have this revision when one is named. Blocks until it is durable.
    pub(crate) fn delete(&self, id: &FlowId, expected: Option<&Revision>) -> Result<(), SaveError> {
        let mut scan = self.shared.scan();
        let removed = save::remove(&self.shared.directory, id, expected);
        self.shared.settle(&mut scan, id, removed)?;
        scan.look_at(&self.shared.directory, id, &self.shared.flows, &self.shared.rules());
        Ok(())
    }

    /// A flow as it is on disk now, if its bytes have this revision when one is named.
    pub(crate) fn at_revision(&self, id: &FlowId, expected: Option<&Revision>) -> Result<Arc<Entry>, SaveError> {
        let mut scan = self.shared.scan();
        let found = save::at(&self.shared.directory, &super::load::file_name(id), expected).map(drop);
        self.shared.settle(&mut scan, id, found)?;
        self.shared.now(&mut scan, id)
    }

    /// Whether a flow has this id, or one that differs from it in case alone.
    pub(crate) fn is_taken(&self, id: &FlowId) -> Result<bool, SaveError> {
        Ok(save::is_taken(&self.shared.directory, id)?)
    }

    /// Whether a flow of this id, there or not, has versions.
    pub(crate) fn has_versions(&self, id: &FlowId) -> bool {
        !self.versions(id).versions.is_empty()
    }

    /// Gives a flow and its versions another id, which nothing has. What was done of it before is not done again.
    pub(crate) fn rename(&self, from: &FlowId, to: &FlowId) -> Result<(), SaveError> {
        let mut scan = self.shared.scan();
        versions::rename(&self.shared.directory, from, to)?;
        match save::rename(&self.shared.directory, from, to) {
            Ok(()) | Err(SaveError::Unknown { .. }) => {}
            Err(error) => return Err(error),
        }
        for id in [from, to] {
            scan.look_at(&self.shared.directory, id, &self.shared.flows, &self.shared.rules());
        }
        Ok(())
    }

    /// The published versions of a flow.
    pub(crate) fn versions(&self, id: &FlowId) -> VersionFiles {
        self.shared.versions.of(&self.shared.directory, id)
    }

    /// Writes a new version. Blocks until it is durable; `Exists` when its number is taken.
    pub(crate) fn add_version(&self, snapshot: &Snapshot) -> Result<(), SaveError> {
        versions::write(&self.shared.directory, snapshot)
    }

    /// Takes a flow with versions out of service, or puts it back.
    pub(crate) fn set_service(&self, id: &FlowId, service: Service) -> Result<(), SaveError> {
        Ok(versions::set_service(&self.shared.directory, id, service)?)
    }

    /// Removes every version of a flow.
    pub(crate) fn remove_versions(&self, id: &FlowId) -> Result<(), SaveError> {
        Ok(versions::remove(&self.shared.directory, id)?)
    }

    /// Tells whoever listens that something about this flow has changed beside its file.
    pub(crate) fn tell(&self, id: &FlowId) {
        self.shared.flows.tell(id);
    }

    /// The tools that flows are judged by.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.shared.rules().catalog
    }

    /// Judges a flow by the rules of the library.
    pub(crate) fn check(&self, flow: &Flow) -> CheckedText {
        self.shared.rules().check(canonical::print(flow).as_bytes())
    }
}

impl Shared {
    fn scan(&self) -> MutexGuard<'_, Scan> {
        // What a panicking look left behind is at worst old, and the next look mends it.
        self.scan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rules(&self) -> Rules {
        self.rules.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn look(&self) -> super::scan::Settled {
        let mut scan = self.scan();
        // The rules once the scan is held: a look by older ones must not follow one by newer.
        let settled = scan.look(&self.directory, &self.flows, &self.rules());
        for id in self.versions.look(&self.directory) {
            self.flows.tell(&id);
        }
        settled
    }

    /// The flow as it is on disk now.
    fn now(&self, scan: &mut Scan, id: &FlowId) -> Result<Arc<Entry>, SaveError> {
        scan.look_at(&self.directory, id, &self.flows, &self.rules());
        self.flows.get(id).ok_or_else(|| SaveError::Unknown { id: id.clone() })
    }

    /// Turns a refusal into what the caller is told, with the flow as it is.
    fn settle(&self, scan: &mut Scan, id: &FlowId, outcome: Result<(), Refusal>) -> Result<(), SaveError> {
        match outcome {
            Ok(()) => Ok(()),
            Err(Refusal::Changed) => Err(SaveError::Conflict { current: self.now(scan, id)? }),
            Err(Refusal::Absent) => {
                scan.look_at(&self.directory, id, &self.flows, &self.rules());
                Err(SaveError::Unknown { id: id.clone() })
            }
            Err(Refusal::Error(error)) => Err(error),
        }
    }
}

/// Creates under the first variant of an id that is free.
fn free_id(id: &FlowId, create: impl Fn(&FlowId) -> Result<(), SaveError>) -> Result<FlowId, SaveError> {
    for n in 1..NUMBERED {
        let tried = if n == 1 { id.clone() } else { id.numbered(n) };
        match create(&tried) {
            Err(SaveError::Exists { .. }) => {}
            other => return other.map(|()| tried),
        }
    }
    Err(SaveError::Exists { id: id.clone() })
}

impl Drop for Watching {
    fn drop(&mut self) {
        // An error means that the thread has ended.
        let _ended = self.0.send(Signal::Stop);
    }
}
