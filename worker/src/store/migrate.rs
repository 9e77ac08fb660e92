//! The format version, and what this build does with each.
//!
//! Format 1 is the first; a later format adds its step here, from the one before, in the transaction that writes the
//! new number. A sample of every format stands in `tests/old_formats`.

use redb::{Database, ReadableDatabase, WriteTransaction};

use super::error::{ShelfError, StoreError};
use super::tables::{self, META};
use super::worker_id::WorkerId;

/// The format this build writes.
pub(super) const FORMAT: u32 = 1;

const FORMAT_KEY: &str = "format";
const WORKER_KEY: &str = "worker_id";

/// Makes an empty database a store of this format.
pub(super) fn begin(transaction: &WriteTransaction) -> Result<(), StoreError> {
    let mut meta = transaction.open_table(META)?;
    meta.insert(FORMAT_KEY, FORMAT.to_le_bytes().as_slice())?;
    meta.insert(WORKER_KEY, WorkerId::new().as_str().as_bytes())?;
    Ok(())
}

/// Refuses a store that this build cannot use, and tells the name of its worker.
pub(super) fn admit(database: &Database) -> Result<WorkerId, ShelfError> {
    let damaged = |reason: &str| ShelfError::Damaged { reason: reason.to_owned() };
    let transaction = database.begin_read().map_err(StoreError::from)?;
    let meta = tables::readable(&transaction, META)?.ok_or_else(|| damaged("it is not a store of Weir"))?;
    let format = meta.get(FORMAT_KEY).map_err(StoreError::from)?.ok_or_else(|| damaged("it names no format"))?;
    let format = format.value().try_into().map(u32::from_le_bytes).map_err(|_| damaged("its format is no number"))?;
    match format {
        FORMAT => {}
        0 => return Err(damaged("its format is 0")),
        found => return Err(ShelfError::Newer { found, known: FORMAT }),
    }
    let worker = meta.get(WORKER_KEY).map_err(StoreError::from)?.ok_or_else(|| damaged("it names no worker"))?;
    let worker = std::str::from_utf8(worker.value()).ok().and_then(|text| text.parse().ok());
    worker.ok_or_else(|| damaged("its worker's name is malformed"))
}
