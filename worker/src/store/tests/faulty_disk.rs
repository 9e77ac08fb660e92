//! A disk in memory that fails on demand and can lose power: what was written since the last sync is then kept or lost,
//! write by write.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

use crate::store::{Store, create};

/// How a disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// ENOSPC: what is there can be read and written over, nothing can be added.
    Full,
    /// EIO.
    Broken,
}

/// For how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasting {
    Once,
    UntilMended,
}

/// The disk. A clone is the same disk.
#[derive(Debug, Clone)]
pub(crate) struct FaultyDisk(Arc<Mutex<Disk>>);

#[derive(Debug, Default)]
struct Disk {
    /// What a reader sees.
    bytes: Vec<u8>,
    /// What survives a loss of power for certain.
    durable: Vec<u8>,
    /// What may survive it.
    unsynced: Vec<Write>,
    /// Writes and syncs from now until the fault.
    countdown: Option<u64>,
    fault: Option<(Fault, Lasting)>,
    faults_met: u64,
}

#[derive(Debug, Clone)]
enum Write {
    At(u64, Vec<u8>),
    Len(u64),
}

impl Write {
    fn onto(&self, bytes: &mut Vec<u8>) {
        match self {
            Write::At(offset, data) => {
                let from = usize::try_from(*offset).unwrap();
                if bytes.len() < from + data.len() {
                    bytes.resize(from + data.len(), 0);
                }
                bytes[from..from + data.len()].copy_from_slice(data);
            }
            Write::Len(len) => bytes.resize(usize::try_from(*len).unwrap(), 0),
        }
    }
}

impl FaultyDisk {
    /// A disk that holds a new store.
    pub(crate) fn with_a_store() -> Self {
        let disk = Self(Arc::default());
        create::begin(disk.clone()).unwrap();
        disk
    }

    /// The same content on a disk of its own, without faults.
    pub(crate) fn copy(&self) -> Self {
        let bytes = self.disk().bytes.clone();
        Self(Arc::new(Mutex::new(Disk { durable: bytes.clone(), bytes, ..Disk::default() })))
    }

    /// Meets this fault at the `n`th write or sync from now, counted from 0.
    pub(crate) fn fail_at(&self, n: u64, fault: Fault, lasting: Lasting) {
        let mut disk = self.disk();
        disk.countdown = Some(n);
        disk.fault = Some((fault, lasting));
        disk.faults_met = 0;
    }

    /// The store on this disk.
    pub(crate) fn open(&self) -> Store {
        let disk = self.clone();
        Store::on(Box::new(move || Ok(Box::new(disk.clone())))).unwrap()
    }

    /// No faults from now on.
    pub(crate) fn mend(&self) {
        let mut disk = self.disk();
        disk.countdown = None;
        disk.fault = None;
    }

    /// Whether the fault was met.
    pub(crate) fn has_failed(&self) -> bool {
        self.disk().faults_met > 0
    }

    /// What is found after a loss of power now: a disk of its own. `seed` chooses which unsynced writes were made.
    pub(crate) fn after_power_loss(&self, seed: u64) -> Self {
        let disk = self.disk();
        let mut bytes = disk.durable.clone();
        let mut random = seed.wrapping_mul(2).wrapping_add(1);
        for write in &disk.unsynced {
            // A xorshift generator: the choices are the same in every run of the test.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if random.is_multiple_of(2) {
                write.onto(&mut bytes);
            }
        }
        Self(Arc::new(Mutex::new(Disk { durable: bytes.clone(), bytes, ..Disk::default() })))
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap()
    }
}

impl Disk {
    /// One write or sync: counted, and failed when it is its turn.
    fn step(&mut self) -> io::Result<()> {
        let Some(left) = self.countdown else { return Ok(()) };
        if left > 0 {
            self.countdown = Some(left - 1);
            return Ok(());
        }
        let Some((fault, lasting)) = self.fault else { return Ok(()) };
        if lasting == Lasting::Once {
            self.fault = None;
        }
        self.faults_met += 1;
        Err(io::Error::from_raw_os_error(match fault {
            Fault::Full => libc::ENOSPC,
            Fault::Broken => libc::EIO,
        }))
    }

    fn write(&mut self, write: Write) -> io::Result<()> {
        self.step()?;
        write.onto(&mut self.bytes);
        self.unsynced.push(write);
        Ok(())
    }
}

impl StorageBackend for FaultyDisk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let disk = self.disk();
        let from = usize::try_from(offset).unwrap();
        let source = disk.bytes.get(from..from + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(source);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk().write(Write::Len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut disk = self.disk();
        disk.step()?;
        disk.durable = disk.bytes.clone();
        disk.unsynced.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.disk().write(Write::At(offset, data.to_vec()))
    }
}
