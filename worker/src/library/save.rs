//! Creating, saving and deleting flow files.
//!
//! A file is always whole: its new bytes are written beside it, made durable, and renamed over it. What a caller did
//! not know of is never written over: the revision it names is compared with the bytes on disk at that moment, and a
//! new file is given its name only if nothing has it.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use weir_shared::canonical;
use weir_shared::finding::Finding;
use weir_shared::flow::Flow;
use weir_shared::ids::{FlowId, Revision};
use weir_shared::limits::FLOW_FILE_BYTES;
use weir_shared::read::read;

use super::load::{self, Content, Entry, OnDisk};

/// Why nothing was written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum SaveError {
    #[error("the text is not a flow that can be saved")]
    Unreadable { findings: Vec<Finding> },
    #[error("the flow has {bytes} bytes, and at most {FLOW_FILE_BYTES} can be kept")]
    TooLarge { bytes: usize },
    /// The bytes on disk are not those the caller started from.
    #[error("the flow `{}` has changed since; it is at revision {}", current.id, current.revision)]
    Conflict { current: Arc<Entry> },
    #[error("a flow `{id}` exists already")]
    Exists { id: FlowId },
    #[error("there is no flow `{id}`")]
    Unknown { id: FlowId },
    /// What stands under the flow's name was never shown to anybody: a link out of the directory, a file too large.
    #[error("what is on disk for `{id}` cannot be saved over; move it away first")]
    NotRead { id: FlowId },
    #[error("no space is left in the directory of flows")]
    Full,
    #[error("cannot write the flow: {reason}")]
    Io { reason: String },
}

impl From<io::Error> for SaveError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => SaveError::Full,
            _ => SaveError::Io { reason: error.to_string() },
        }
    }
}

/// What stands in the way of a change: the caller adds the current entry.
#[derive(Debug)]
pub(super) enum Refusal {
    Changed,
    Absent,
    Error(SaveError),
}

impl<E: Into<SaveError>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Refusal::Error(error.into())
    }
}

/// A readable flow and its canonical bytes.
pub(super) struct Printed {
    pub(super) flow: Flow,
    pub(super) bytes: Vec<u8>,
}

/// Reads what is to be saved and prints it in its canonical form.
pub(super) fn printed(text: &[u8]) -> Result<Printed, SaveError> {
    let reading = read(text);
    let is_writable = reading.is_writable();
    match reading.flow {
        Some(flow) if is_writable => {
            let bytes = canonical::print(&flow).into_bytes();
            if bytes.len() > FLOW_FILE_BYTES {
                return Err(SaveError::TooLarge { bytes: bytes.len() });
            }
            Ok(Printed { flow, bytes })
        }
        Some(_) | None => Err(SaveError::Unreadable { findings: reading.findings }),
    }
}

/// Writes a new file; the refusal of a name that is taken is `SaveError::Exists`.
pub(super) fn create(directory: &Path, id: &FlowId, bytes: &[u8]) -> Result<(), SaveError> {
    fs::create_dir_all(directory)?;
    let exists = || SaveError::Exists { id: id.clone() };
    if is_taken(directory, id)? {
        return Err(exists());
    }
    let path = directory.join(load::file_name(id));
    let fresh = Fresh::write(&path, bytes, None)?;
    match fresh.name_if_free(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists()),
        other => Ok(other?),
    }
}

/// Replaces a file that is at this revision.
pub(super) fn replace(directory: &Path, id: &FlowId, bytes: &[u8], expected: &Revision) -> Result<(), Refusal> {
    let name = load::file_name(id);
    let on_disk = at(directory, &name, Some(expected))?;
    match &on_disk.content {
        Content::Bytes(same) if same == bytes => return Ok(()),
        Content::Bytes(_) => {}
        Content::TooLarge | Content::NotRead(_) => return Err(SaveError::NotRead { id: id.clone() }.into()),
    }
    let path = load::real_path(directory, &name);
    let fresh = Fresh::write(&path, bytes, Some(on_disk.metadata.permissions()))?;
    // Making the new bytes durable takes a while, in which an editor may have saved.
    at(directory, &name, Some(expected))?;
    Ok(fresh.name(&path)?)
}

/// Removes a file that is at this revision, or at any when none is named.
pub(super) fn remove(directory: &Path, id: &FlowId, expected: Option<&Revision>) -> Result<(), Refusal> {
    let name = load::file_name(id);
    at(directory, &name, expected)?;
    match fs::remove_file(directory.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Refusal::Absent),
        other => Ok(other.and_then(|()| sync_directory(directory))?),
    }
}

/// The file as it is, if it is at the revision that is expected.
pub(super) fn at(directory: &Path, name: &str, expected: Option<&Revision>) -> Result<OnDisk, Refusal> {
    let on_disk = match OnDisk::read(directory, name) {
        Ok(on_disk) => on_disk,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Refusal::Absent),
        Err(error) => return Err(error.into()),
    };
    if expected.is_some_and(|expected| *expected != on_disk.revision()) {
        return Err(Refusal::Changed);
    }
    Ok(on_disk)
}

/// Gives a file another name, which nothing has.
pub(super) fn rename(directory: &Path, from: &FlowId, to: &FlowId) -> Result<(), SaveError> {
    let (old, new) = (directory.join(load::file_name(from)), directory.join(load::file_name(to)));
    match renameat_with(CWD, &old, CWD, &new, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::NOENT) => return Err(SaveError::Unknown { id: from.clone() }),
        Err(rustix::io::Errno::EXIST) => return Err(SaveError::Exists { id: to.clone() }),
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            fs::hard_link(&old, &new)?;
            fs::remove_file(&old)?;
        }
        renamed => renamed.map_err(io::Error::from)?,
    }
    Ok(sync_directory(directory)?)
}

/// Whether a file has this name, in any case: on another machine's file system the two would be one.
pub(super) fn is_taken(directory: &Path, id: &FlowId) -> io::Result<bool> {
    let name = load::file_name(id);
    for file in fs::read_dir(directory)? {
        if file?.file_name().to_string_lossy().eq_ignore_ascii_case(&name) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A file written whole under a name that no one looks at. It is removed unless it is given its own.
pub(super) struct Fresh(PathBuf);

impl Fresh {
    /// Writes the bytes beside `path` and makes them durable.
    pub(super) fn write(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let fresh = Self(path.with_file_name(format!(".{name}.{}.tmp", uuid::Uuid::now_v7())));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&fresh.0)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(fresh)
    }

    /// Puts it in the place of what is at `path`.
    pub(super) fn name(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.0, path)?;
        sync_directory_of(path)
    }

    /// Gives it this name unless something has it; then the error is `AlreadyExists`.
    pub(super) fn name_if_free(self, path: &Path) -> io::Result<()> {
        match renameat_with(CWD, &self.0, CWD, path, RenameFlags::NOREPLACE) {
            // A file system without this flag: a second link fails in the same way when the name is taken.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => fs::hard_link(&self.0, path)?,
            other => other?,
        }
        sync_directory_of(path)
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // It fails when the file has been given its own name, which is what is wanted.
        let _named = fs::remove_file(&self.0);
    }
}

pub(super) fn sync_directory_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_directory)
}

pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(directory: &Path) -> Vec<String> {
        let names = fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_save_that_fails_half_way_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        // A directory of the file's name: the last step of a save, the renaming, fails on it.
        let path = home.path().join("a.flow.json");
        fs::create_dir(&path).unwrap();
        Fresh::write(&path, b"{}", None).unwrap().name(&path).unwrap_err();
        assert_eq!(files(home.path()), ["a.flow.json"]);
    }

    #[test]
    fn a_taken_name_is_never_written_over() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.flow.json");
        fs::write(&path, "theirs").unwrap();
        let error = Fresh::write(&path, b"ours", None).unwrap().name_if_free(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(files(home.path()), ["a.flow.json"]);
    }

    #[test]
    fn a_full_disk_is_told_apart() {
        assert_eq!(SaveError::from(io::Error::from_raw_os_error(libc::ENOSPC)), SaveError::Full);
        assert_eq!(SaveError::from(io::Error::from_raw_os_error(libc::EDQUOT)), SaveError::Full);
        assert!(matches!(SaveError::from(io::Error::from_raw_os_error(libc::EIO)), SaveError::Io { .. }));
    }
}
