//! The open database, behind a handle that survives its failures.
//!
//! After an I/O error redb refuses everything until the database is closed and opened again; whoever uses the shelf
//! next does that. redb may panic on a damaged file; here that becomes an error, and the worker lives on.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use redb::{Database, ReadTransaction, StorageBackend, WriteTransaction};

use super::error::{ShelfError, StoreError};
use super::hold::Hold;
use super::migrate;
use super::tables;
use super::worker_id::WorkerId;
use crate::patience::try_while;

/// Pages that redb keeps in memory. Its own default is 1 GiB; the whole worker is to stay under 25 MiB when idle.
const CACHE_BYTES: usize = 8 * 1024 * 1024;

/// Opens the file behind the database: the real one, or one with faults in tests.
pub(super) type OpenDisk = Box<dyn Fn() -> io::Result<Box<dyn StorageBackend>> + Send + Sync>;

/// Where the database is.
pub(super) struct Shelf {
    open_disk: OpenDisk,
    /// Shared by readers and the writer; taken whole only to close or to open. `None`: closed, or not to be opened.
    opened: RwLock<Option<Opened>>,
    /// The database met an error and has to be opened again.
    broken: AtomicBool,
    closed: AtomicBool,
    worker: WorkerId,
}

pub(super) struct Opened {
    pub(super) database: Database,
    pub(super) hold: Hold,
}

impl Shelf {
    /// Opens the database, or says why not and leaves the file as it was.
    pub(super) fn open(open_disk: OpenDisk) -> Result<Self, ShelfError> {
        let (opened, worker) = open(&open_disk)?;
        Ok(Self {
            open_disk,
            opened: RwLock::new(Some(opened)),
            broken: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            worker,
        })
    }

    /// The name of this store's worker.
    pub(super) fn worker(&self) -> &WorkerId {
        &self.worker
    }

    /// Looks at the last commit.
    pub(super) fn read<T>(
        &self,
        look: impl FnOnce(&ReadTransaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let shelf = self.opened()?;
        let opened = shelf.as_ref().ok_or_else(|| self.absent())?;
        self.watch(|| look(&tables::snapshot(&opened.database)?))
    }

    /// Makes one transaction durable, or none of it. An error of `change` itself rolls it back.
    pub(super) fn write<T>(
        &self,
        change: impl FnOnce(&WriteTransaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let shelf = self.opened()?;
        let opened = shelf.as_ref().ok_or_else(|| self.absent())?;
        // When this fails the database has met no error: it goes on answering readers from what is held.
        opened.hold.release()?;
        self.watch(|| {
            let transaction = opened.database.begin_write()?;
            let answer = change(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        })
    }

    /// Closes the database for good; what was committed is on disk.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let taken = self.opened.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(opened) = taken {
            opened.close();
        }
    }

    /// The database, opened again first when it has to be.
    fn opened(&self) -> Result<RwLockReadGuard<'_, Option<Opened>>, StoreError> {
        if self.broken.load(Ordering::Acquire) {
            self.reopen()?;
        }
        Ok(self.opened.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notices when a use of the database leaves it in need of opening again.
    fn watch<T>(&self, use_it: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let (used, breaks) = match panic::catch_unwind(AssertUnwindSafe(use_it)) {
            Ok(used) => {
                let breaks = matches!(used, Err(StoreError::Full | StoreError::Io { .. }));
                (used, breaks)
            }
            Err(panic) => (Err(StoreError::Damaged { reason: panic_text(&*panic) }), true),
        };
        if breaks {
            self.broken.store(true, Ordering::Release);
        }
        used
    }

    fn absent(&self) -> StoreError {
        if self.closed.load(Ordering::Acquire) {
            StoreError::Closed
        } else {
            StoreError::Io { reason: "it could not be opened again after an error".to_owned() }
        }
    }

    fn reopen(&self) -> Result<(), StoreError> {
        let mut shelf = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        if !self.broken.load(Ordering::Acquire) {
            return Ok(());
        }
        if let Some(opened) = shelf.take() {
            opened.close();
        }
        let (opened, _) = open(&self.open_disk)?;
        *shelf = Some(opened);
        self.broken.store(false, Ordering::Release);
        Ok(())
    }
}

impl Opened {
    pub(super) fn close(self) {
        // What a clean end writes saves a repair at the next start, no more: an error here loses nothing.
        let closed = panic::catch_unwind(AssertUnwindSafe(|| {
            let released = self.hold.release().map_err(StoreError::from);
            released.and(self.database.close().map_err(|error| redb::Error::from(error).into()))
        }));
        match closed {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "the store was not closed cleanly"),
            Err(panic) => tracing::debug!(panic = panic_text(&*panic), "closing the store panicked"),
        }
    }
}

/// Opens and admits the database; nothing is written to its file.
pub(super) fn open(open_disk: &OpenDisk) -> Result<(Opened, WorkerId), ShelfError> {
    try_while(|error| matches!(error, ShelfError::Held), || open_at_once(open_disk))
}

fn open_at_once(open_disk: &OpenDisk) -> Result<(Opened, WorkerId), ShelfError> {
    let hold = Hold::new(open_disk().map_err(StoreError::from)?).map_err(StoreError::from)?;
    let attempt = AssertUnwindSafe(|| {
        if hold.len().map_err(StoreError::from)? == 0 {
            return Err(ShelfError::Damaged { reason: "the file is empty".to_owned() });
        }
        let database = database(hold.clone())?;
        let worker = migrate::admit(&database)?;
        Ok((database, worker))
    });
    let (database, worker) = panic::catch_unwind(attempt)
        .unwrap_or_else(|panic| Err(ShelfError::Damaged { reason: panic_text(&*panic) }))?;
    Ok((Opened { database, hold }, worker))
}

/// A redb database on this backend.
pub(super) fn database(backend: impl StorageBackend) -> Result<Database, ShelfError> {
    let mut builder = redb::Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    Ok(builder.create_with_backend(backend)?)
}

/// What a panic said.
pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it panicked").to_owned()
}

impl std::fmt::Debug for Shelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shelf").field("worker", &self.worker).finish_non_exhaustive()
    }
}
