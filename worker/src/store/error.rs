//! Why something was not stored, or a store not opened: a variant for each cause that a caller can tell apart.

use std::io;
use std::path::PathBuf;

use weir_shared::ids::{RunId, Seq};

/// Why a store was not opened. The file is as it was in every case.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("another process has the store {} open", path.display())]
    Held { path: PathBuf },
    #[error(
        "the store {} has format {found}, and this version of Weir knows formats up to {known}; use the version that wrote it",
        path.display()
    )]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("the store {} is damaged ({reason}); it was not changed", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error("no space is left for the store {}", path.display())]
    Full { path: PathBuf },
    #[error("cannot open the store {}: {reason}", path.display())]
    Io { path: PathBuf, reason: String },
}

/// Why a change was not stored or a read gave nothing.
///
/// After `Full`, `Io` and `Damaged` an answered change is not acknowledged; whether it is there is found by reading.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("no space is left for the store")]
    Full,
    #[error("the store cannot be read or written: {reason}")]
    Io { reason: String },
    #[error("the store is damaged: {reason}")]
    Damaged { reason: String },
    /// The events do not follow the last one of their run.
    #[error("event {seq} does not follow the journal of run {run}")]
    OutOfOrder { run: RunId, seq: Seq },
    /// Only an ended run can be removed.
    #[error("run {run} has not ended")]
    NotEnded { run: RunId },
    #[error("the store is closed")]
    Closed,
}

/// Why the database was not put on its shelf; [`OpenError`] without the path.
#[derive(Debug)]
pub(super) enum ShelfError {
    Held,
    Newer { found: u32, known: u32 },
    Damaged { reason: String },
    Full,
    Io { reason: String },
}

impl ShelfError {
    /// The same, about the store at this path.
    pub(super) fn at(self, path: PathBuf) -> OpenError {
        match self {
            ShelfError::Held => OpenError::Held { path },
            ShelfError::Newer { found, known } => OpenError::Newer { path, found, known },
            ShelfError::Damaged { reason } => OpenError::Damaged { path, reason },
            ShelfError::Full => OpenError::Full { path },
            ShelfError::Io { reason } => OpenError::Io { path, reason },
        }
    }
}

impl From<ShelfError> for StoreError {
    /// What a user of an already opened store is told when it could not be opened again.
    fn from(error: ShelfError) -> Self {
        match error {
            ShelfError::Held => StoreError::Io { reason: "another process has it open".to_owned() },
            ShelfError::Newer { found, .. } => StoreError::Io { reason: format!("it now has format {found}") },
            ShelfError::Damaged { reason } => StoreError::Damaged { reason },
            ShelfError::Full => StoreError::Full,
            ShelfError::Io { reason } => StoreError::Io { reason },
        }
    }
}

impl From<StoreError> for ShelfError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => ShelfError::Full,
            StoreError::Damaged { reason } => ShelfError::Damaged { reason },
            StoreError::Io { reason } => ShelfError::Io { reason },
            other @ (StoreError::OutOfOrder { .. } | StoreError::NotEnded { .. } | StoreError::Closed) => {
                ShelfError::Io { reason: other.to_string() }
            }
        }
    }
}

impl From<redb::DatabaseError> for ShelfError {
    fn from(error: redb::DatabaseError) -> Self {
        match error {
            redb::DatabaseError::DatabaseAlreadyOpen | redb::DatabaseError::LockProtocolMismatch => ShelfError::Held,
            redb::DatabaseError::UpgradeRequired(version) => {
                ShelfError::Damaged { reason: format!("its database format {version} is not one that Weir ever wrote") }
            }
            // redb reports a file that is none of its own as invalid data, and one that is cut short as its end.
            redb::DatabaseError::Storage(redb::StorageError::Io(error))
                if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) =>
            {
                ShelfError::Damaged { reason: error.to_string() }
            }
            other => StoreError::from(redb::Error::from(other)).into(),
        }
    }
}

/// Whether the system says that there is no room, for this user or at all.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        if is_full(&error) { StoreError::Full } else { StoreError::Io { reason: error.to_string() } }
    }
}

impl From<redb::Error> for StoreError {
    fn from(error: redb::Error) -> Self {
        match error {
            redb::Error::Io(error) => error.into(),
            redb::Error::Corrupted(reason) => StoreError::Damaged { reason },
            error @ (redb::Error::TableTypeMismatch { .. }
            | redb::Error::TableIsMultimap(_)
            | redb::Error::TableIsNotMultimap(_)
            | redb::Error::TypeDefinitionChanged { .. }
            | redb::Error::TableDoesNotExist(_)) => StoreError::Damaged { reason: error.to_string() },
            other => StoreError::Io { reason: other.to_string() },
        }
    }
}

impl From<redb::CompactionError> for StoreError {
    fn from(error: redb::CompactionError) -> Self {
        match error {
            redb::CompactionError::Storage(error) => error.into(),
            other => StoreError::Io { reason: other.to_string() },
        }
    }
}

macro_rules! from_redb {
    ($($error:ident),*) => {
        $(impl From<redb::$error> for StoreError {
            fn from(error: redb::$error) -> Self {
                redb::Error::from(error).into()
            }
        })*
    };
}

from_redb!(TableError, StorageError, TransactionError, CommitError);
