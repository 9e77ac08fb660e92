//! [`Store`]: reads at once, writes through the writer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use weir_shared::ids::{FlowId, RunId, Seq, Timestamp};
use weir_shared::run::event::Recorded;
use weir_shared::wire::{LastRun, RunPage, RunRow};

use super::claim::{Admitted, Claim};
use super::create;
use super::deliveries::DeliveryEnd;
use super::error::{OpenError, ShelfError, StoreError};
use super::flows::{self, AcceptedVersions, Cancelled, Tombstone};
use super::history::{self, StoredRow};
use super::journal::{self, StoredEvent};
use super::plugins;
use super::query::{self, RunQuery};
use super::retention::Kept;
use super::sessions::{self, SessionDigest, SessionRecord};
use super::shelf::{OpenDisk, Shelf};
use super::worker_id::WorkerId;
use super::writer::{Change, Outcome, Writer};
use crate::trust::PluginRecord;

/// The durable store. A clone is the same store.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    shelf: Arc<Shelf>,
    writer: Writer,
}

impl Store {
    /// Opens the store at this path, made new when there is no file. A file that is refused is left as it was.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let file = path.to_owned();
        create::unless_there(path)
            .and_then(|()| Self::on(Box::new(move || create::open_file(&file))))
            .map_err(|error| error.at(path.to_owned()))
    }

    /// Opens the store on this disk.
    pub(super) fn on(disk: OpenDisk) -> Result<Self, ShelfError> {
        let shelf = Arc::new(Shelf::open(disk)?);
        // The thread ends by itself after `close` or with the last handle; what it must still do, `close` waits for.
        let (writer, _thread) = Writer::start(Arc::clone(&shelf)).map_err(StoreError::from)?;
        Ok(Self { shelf, writer })
    }

    /// The name of this store's worker, made once with the store.
    pub(crate) fn worker_id(&self) -> WorkerId {
        self.shelf.worker().clone()
    }

    /// Stores events that follow the run's last one, and its row with them; returns after the commit.
    ///
    /// An error means that they are not acknowledged. After `Full` or `Io` whether they are there is known only by
    /// reading: the disk may have kept what it said it had not.
    pub(crate) async fn append(&self, run: RunId, events: Vec<Recorded>, row: RunRow) -> Result<(), StoreError> {
        let events = events.iter().map(StoredEvent::of).collect::<Result<_, _>>()?;
        let ends = DeliveryEnd::of(&row);
        let row = Box::new(StoredRow::of(&row)?);
        self.change(Change::Append { run, events, row, ends }).await.map(drop)
    }

    /// Stores the first events of a run, its row and what claims it in one transaction: all of them or none. Returns
    /// after the commit; errors mean what they mean for [`Store::append`].
    pub(crate) async fn admit(
        &self,
        run: RunId,
        events: Vec<Recorded>,
        row: RunRow,
        claim: Claim,
    ) -> Result<Admitted, StoreError> {
        let events = events.iter().map(StoredEvent::of).collect::<Result<_, _>>()?;
        let task = row.task_id.clone();
        let row = Box::new(StoredRow::of(&row)?);
        let outcome = self.change(Change::Admit { run, task, events, row, claim }).await?;
        let Outcome::Admitted(admitted) = outcome else { return Err(StoreError::Closed) };
        Ok(admitted)
    }

    /// At most `limit` events of a run after this place, in order; none for an unknown run.
    pub(crate) fn events(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<Recorded>, StoreError> {
        self.shelf.read(|transaction| journal::events(transaction, run, after, limit))
    }

    /// The place of a run's last event; 0 for an unknown run.
    pub(crate) fn last_seq(&self, run: &RunId) -> Result<Seq, StoreError> {
        self.shelf.read(|transaction| journal::last_seq(transaction, run))
    }

    /// The row of a run.
    pub(crate) fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.shelf.read(|transaction| history::row(transaction, run))
    }

    /// A page of runs, newest first.
    pub(crate) fn runs(&self, query: &RunQuery) -> Result<RunPage, StoreError> {
        self.shelf.read(|transaction| query::page(transaction, query))
    }

    /// The newest run of every flow that has one.
    pub(crate) fn last_runs(&self) -> Result<BTreeMap<FlowId, LastRun>, StoreError> {
        self.shelf.read(history::last_runs)
    }

    /// Runs that have not ended, oldest first.
    pub(crate) fn unfinished(&self) -> Result<Vec<RunId>, StoreError> {
        self.shelf.read(history::unfinished)
    }

    /// Removes an ended run and its journal; false when there is none. Its directory is the caller's business.
    pub(crate) async fn delete_run(&self, run: RunId) -> Result<bool, StoreError> {
        let outcome = self.change(Change::RemoveRun { run }).await?;
        Ok(matches!(outcome, Outcome::Removed(runs) if !runs.is_empty()))
    }

    /// Removes ended runs past what is kept and tells which, oldest first. Done in small transactions, so that runs
    /// going on are not held up; an error part way leaves those already removed removed.
    pub(crate) async fn prune(&self, keep: Kept) -> Result<Vec<RunId>, StoreError> {
        let mut gone = Vec::new();
        loop {
            let outcome = self.change(Change::Prune { keep }).await?;
            let Outcome::Removed(runs) = outcome else { return Ok(gone) };
            if runs.is_empty() {
                return Ok(gone);
            }
            gone.extend(runs);
        }
    }

    /// Stores a session; sessions that expired before `now` go.
    pub(crate) async fn put_session(
        &self,
        digest: SessionDigest,
        session: SessionRecord,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.change(Change::PutSession { digest, session, now }).await.map(drop)
    }

    /// The session of this digest, unless it has expired.
    pub(crate) fn session(&self, digest: &SessionDigest, now: Timestamp) -> Result<Option<SessionRecord>, StoreError> {
        self.shelf.read(|transaction| sessions::get(transaction, digest, now))
    }

    /// Ends a session.
    pub(crate) async fn drop_session(&self, digest: SessionDigest) -> Result<(), StoreError> {
        self.change(Change::DropSession { digest }).await.map(drop)
    }

    /// Stores what was decided about a plugin.
    pub(crate) async fn put_plugin(&self, id: String, record: PluginRecord) -> Result<(), StoreError> {
        self.change(Change::PutPlugin { id, record }).await.map(drop)
    }

    /// What was decided about plugins, by id.
    pub(crate) fn plugins(&self) -> Result<BTreeMap<String, PluginRecord>, StoreError> {
        self.shelf.read(plugins::all)
    }

    /// Accepts a version of a flow on this machine.
    pub(crate) async fn accept_version(&self, flow: FlowId, number: u64, sha256: String) -> Result<(), StoreError> {
        self.change(Change::AcceptVersion { flow, number, sha256 }).await.map(drop)
    }

    /// The versions of a flow that were accepted.
    pub(crate) fn accepted_versions(&self, flow: &FlowId) -> Result<AcceptedVersions, StoreError> {
        self.shelf.read(|transaction| flows::accepted(transaction, flow))
    }

    /// Cancels all that depends on a flow and leaves a tombstone, until [`Store::settle_flow`] says that its files are
    /// gone too.
    pub(crate) async fn forget_flow(&self, flow: FlowId, tombstone: Tombstone) -> Result<Cancelled, StoreError> {
        match self.change(Change::ForgetFlow { flow, tombstone }).await? {
            Outcome::Cancelled(cancelled) => Ok(cancelled),
            _ => Err(StoreError::Closed),
        }
    }

    /// Gives all that depends on a flow to another id and leaves a tombstone, in the same way.
    pub(crate) async fn rename_flow(&self, from: FlowId, to: FlowId) -> Result<(), StoreError> {
        self.change(Change::RenameFlow { from, to }).await.map(drop)
    }

    /// Records that what a flow's tombstone is for has been done.
    pub(crate) async fn settle_flow(&self, flow: FlowId) -> Result<(), StoreError> {
        self.change(Change::SettleFlow { flow }).await.map(drop)
    }

    /// What was begun with the files of flows and is not known to be done.
    pub(crate) fn tombstones(&self) -> Result<Vec<(FlowId, Tombstone)>, StoreError> {
        self.shelf.read(flows::tombstones)
    }

    /// Whether the writer works: returns once everything before this is done.
    pub(crate) async fn answers(&self) -> bool {
        self.writer.answers().await
    }

    /// Commits what waits and closes the database; everything after answers [`StoreError::Closed`].
    pub(crate) async fn close(&self) {
        self.writer.close().await;
    }

    /// Looks at the last commit.
    pub(super) fn read<T>(
        &self,
        look: impl FnOnce(&redb::ReadTransaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.shelf.read(look)
    }

    pub(super) async fn change(&self, change: Change) -> Result<Outcome, StoreError> {
        self.writer.store(change).await
    }
}
