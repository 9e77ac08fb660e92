//! The file behind the database, with every write held back until the database is wanted for writing.
//!
//! redb writes while it opens a file: it marks it as in use, and repairs it after a crash. A store that is then refused
//! (damaged, of a newer format) must be as it was, and on a full disk a repair must not stand in the way of reading.
//! So an opened file starts *held*: what is written is kept in memory, in order, and reads see it. [`Hold::release`]
//! carries it out in that order, syncs included; from then on the file is used directly. A release that fails leaves
//! the hold as it is and can be tried again, since carrying out the same writes twice does no harm.

use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::{BackendError, StorageBackend};

/// Holds back the writes to one open file. Clones are the same hold.
#[derive(Debug, Clone)]
pub(super) struct Hold(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    disk: Box<dyn StorageBackend>,
    /// Once set it stays; read before the lock so that a released file costs none.
    released: AtomicBool,
    held: Mutex<Held>,
}

/// What a held file would be.
#[derive(Debug)]
struct Held {
    operations: Vec<Operation>,
    len: u64,
    /// Bytes at the file's head that were not cut off by any held change of length.
    from_disk: u64,
}

#[derive(Debug)]
enum Operation {
    Write { offset: u64, data: Vec<u8> },
    SetLen(u64),
    Sync,
}

impl Hold {
    /// Holds this file.
    pub(super) fn new(disk: Box<dyn StorageBackend>) -> io::Result<Self> {
        let len = disk.len()?;
        let held = Mutex::new(Held { operations: Vec::new(), len, from_disk: len });
        Ok(Self(Arc::new(Inner { disk, released: AtomicBool::new(false), held })))
    }

    /// Carries out what was held back, and holds nothing back from now on.
    pub(super) fn release(&self) -> io::Result<()> {
        if self.is_released() {
            return Ok(());
        }
        let mut held = self.held();
        for operation in &held.operations {
            match operation {
                Operation::Write { offset, data } => self.0.disk.write(*offset, data)?,
                Operation::SetLen(len) => self.0.disk.set_len(*len)?,
                Operation::Sync => self.0.disk.sync_data()?,
            }
        }
        held.operations = Vec::new();
        self.0.released.store(true, Ordering::Release);
        Ok(())
    }

    fn is_released(&self) -> bool {
        self.0.released.load(Ordering::Acquire)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Every change of the held state is one push: a panic elsewhere leaves it whole.
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does one thing to the file if it is released, else records it.
    fn change(&self, operation: Operation) -> io::Result<()> {
        let mut held = self.held();
        if self.is_released() {
            return match operation {
                Operation::Write { offset, data } => self.0.disk.write(offset, &data),
                Operation::SetLen(len) => self.0.disk.set_len(len),
                Operation::Sync => self.0.disk.sync_data(),
            };
        }
        match &operation {
            Operation::Write { .. } | Operation::Sync => {}
            Operation::SetLen(len) => {
                held.len = *len;
                held.from_disk = held.from_disk.min(*len);
            }
        }
        held.operations.push(operation);
        Ok(())
    }
}

impl Held {
    /// Reads what the file would hold here.
    fn read(&self, disk: &dyn StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset + out.len() as u64;
        if end > self.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let on_disk = length(self.from_disk.clamp(offset, end) - offset)?;
        let (kept, grown) = out.split_at_mut(on_disk);
        if !kept.is_empty() {
            disk.read(offset, kept)?;
        }
        grown.fill(0);
        for operation in &self.operations {
            let Operation::Write { offset: at, data } = operation else { continue };
            let (from, to) = ((*at).max(offset), (*at + data.len() as u64).min(end));
            if from < to {
                let source = length(from - at)?..length(to - at)?;
                out[length(from - offset)?..length(to - offset)?].copy_from_slice(&data[source]);
            }
        }
        Ok(())
    }
}

/// A distance within one buffer.
fn length(bytes: u64) -> io::Result<usize> {
    usize::try_from(bytes).map_err(io::Error::other)
}

impl StorageBackend for Hold {
    fn len(&self) -> io::Result<u64> {
        if self.is_released() {
            return self.0.disk.len();
        }
        Ok(self.held().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if !self.is_released() {
            let held = self.held();
            if !self.is_released() {
                return held.read(&*self.0.disk, offset, out);
            }
        }
        self.0.disk.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if self.is_released() { self.0.disk.set_len(len) } else { self.change(Operation::SetLen(len)) }
    }

    fn sync_data(&self) -> io::Result<()> {
        if self.is_released() { self.0.disk.sync_data() } else { self.change(Operation::Sync) }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if self.is_released() {
            return self.0.disk.write(offset, data);
        }
        self.change(Operation::Write { offset, data: data.to_vec() })
    }

    fn close(&self) -> io::Result<()> {
        self.0.disk.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.disk.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.disk.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.disk.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.disk.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.disk.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.disk.query_lock_range(start, end)
    }
}
