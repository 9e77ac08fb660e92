//! A new store: made whole under another name and then given its own, so that a file of the store's name is never
//! half of one, and an existing file is never written over.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use redb::StorageBackend;
use redb::backends::FileBackend;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::error::{ShelfError, StoreError};
use super::migrate;
use super::shelf;

/// Makes the store when there is no file of this name.
pub(super) fn unless_there(path: &Path) -> Result<(), ShelfError> {
    match fs::symlink_metadata(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(StoreError::from(error).into()),
    }
    let fresh = fresh_name(path);
    let made = make(&fresh, path);
    if made.is_err() {
        // It holds nothing yet. When it cannot be removed either, the next try under its name clears it.
        let _removed = fs::remove_file(&fresh);
    }
    made
}

/// Opens the file of an existing store.
pub(super) fn open_file(path: &Path) -> io::Result<Box<dyn StorageBackend>> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?))
}

fn make(fresh: &Path, path: &Path) -> Result<(), ShelfError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(fresh)
        .map_err(StoreError::from)?;
    begin(FileBackend::new(file)?)?;
    match renameat_with(CWD, fresh, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        // Another process made it first: that one is as good, and whether it is in use shows on opening.
        Err(rustix::io::Errno::EXIST) => return Ok(fs::remove_file(fresh).map_err(StoreError::from)?),
        // A file system without this flag. Two workers starting for the first time at once are kept apart by the lock
        // on the state directory.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            fs::rename(fresh, path).map_err(StoreError::from)?;
        }
        Err(error) => return Err(StoreError::from(io::Error::from(error)).into()),
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(File::open(directory).and_then(|directory| directory.sync_all()).map_err(StoreError::from)?)
}

/// Makes an empty disk a store.
pub(super) fn begin(disk: impl StorageBackend) -> Result<(), ShelfError> {
    let database = shelf::database(disk)?;
    let transaction = database.begin_write().map_err(StoreError::from)?;
    migrate::begin(&transaction)?;
    transaction.commit().map_err(StoreError::from)?;
    Ok(database.close()?)
}

fn fresh_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    PathBuf::from(name)
}
