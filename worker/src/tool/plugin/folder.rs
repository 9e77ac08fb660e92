//! Everything in a plugin's folder, and one digest of it: what trust is given to.
//!
//! The digest covers the name, the content and the executable bit of every file, every directory, and the target of
//! every link. What it could not cover is refused: a link that leads out of the folder, and what is no plain file.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};
use weir_shared::wire::PluginFile;

use crate::access::token::hexadecimal;

/// Files and directories of one plugin.
const MOST_ENTRIES: usize = 4_096;
/// Bytes of one plugin: it is read whole before each of its calls.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// A file that changed this lately may change again without its times showing it: the kernel's clock for files ticks
/// every few milliseconds.
const SETTLE_MS: i128 = 50;

/// A folder as it is now.
#[derive(Debug)]
pub(super) struct Contents {
    /// SHA-256, in hexadecimal digits.
    pub(super) digest: String,
    pub(super) files: Vec<PluginFile>,
    /// The bytes of `plugin.json` that the digest is of.
    pub(super) manifest: Option<Vec<u8>>,
}

/// Why a folder cannot be read as a whole.
#[derive(Debug, thiserror::Error)]
pub(super) enum FolderError {
    #[error("the folder holds more than {MOST_ENTRIES} files and directories")]
    TooMany,
    #[error("the folder holds more than {MOST_BYTES} bytes")]
    TooLarge,
    #[error("`{path}` is neither a file nor a directory nor a link")]
    Special { path: String },
    #[error("the link `{path}` leads out of the folder")]
    LeadsOut { path: String },
    #[error("`{path}`: {source}")]
    Io { path: String, source: io::Error },
}

/// The manifest's name.
pub(super) const MANIFEST: &str = "plugin.json";

struct Entry {
    /// From the folder on.
    path: PathBuf,
    metadata: Metadata,
}

/// What changes when anything in a folder does: cheap, and never a reason to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marks {
    digest: [u8; 32],
    /// Whether a later change is certain to show.
    pub(super) settled: bool,
}

/// Looks at the marks of everything in the folder.
pub(super) fn marks(folder: &Path) -> Result<Marks, FolderError> {
    let mut sha = Sha256::new();
    let mut newest = 0;
    for Entry { path, metadata } in entries(folder)? {
        sha.update(path.as_os_str().as_bytes());
        for number in [
            metadata.ino().cast_signed(),
            metadata.size().cast_signed(),
            i64::from(metadata.mode()),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        ] {
            sha.update(number.to_le_bytes());
        }
        newest = newest.max(i128::from(metadata.ctime()) * 1000 + i128::from(metadata.ctime_nsec()) / 1_000_000);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let age = i128::try_from(now).unwrap_or(i128::MAX) - newest;
    Ok(Marks { digest: sha.finalize().into(), settled: !(0..SETTLE_MS).contains(&age) })
}

/// Reads everything in the folder.
pub(super) fn read(folder: &Path) -> Result<Contents, FolderError> {
    let mut sha = Sha256::new();
    let mut contents = Contents { digest: String::new(), files: Vec::new(), manifest: None };
    let mut total = 0_u64;
    // Lengths before texts, so that no two folders give the same bytes.
    let mut part = |bytes: &[u8]| {
        sha.update((bytes.len() as u64).to_le_bytes());
        sha.update(bytes);
    };
    for Entry { path, metadata } in entries(folder)? {
        let full = folder.join(&path);
        let shown = path.display().to_string();
        let io = |source| FolderError::Io { path: shown.clone(), source };
        let executable = metadata.permissions().mode() & 0o111 != 0;
        let (kind, bytes): (&[u8], Vec<u8>) = if metadata.is_symlink() {
            (b"l", fs::read_link(&full).map_err(io)?.into_os_string().as_bytes().to_vec())
        } else if metadata.is_dir() {
            (b"d", Vec::new())
        } else {
            total = total.saturating_add(metadata.len());
            if total > MOST_BYTES {
                return Err(FolderError::TooLarge);
            }
            (if executable { b"x" } else { b"f" }, fs::read(&full).map_err(io)?)
        };
        part(kind);
        part(path.as_os_str().as_bytes());
        part(&bytes);
        if metadata.is_file() {
            contents.files.push(PluginFile { path: shown, bytes: bytes.len() as u64, executable });
            if path.as_os_str() == MANIFEST {
                contents.manifest = Some(bytes);
            }
        }
    }
    contents.digest = hexadecimal(&sha.finalize());
    Ok(contents)
}

/// Everything in the folder, by path.
fn entries(folder: &Path) -> Result<Vec<Entry>, FolderError> {
    let root = fs::canonicalize(folder).map_err(|source| FolderError::Io { path: ".".to_owned(), source })?;
    let mut entries = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(directory) = waiting.pop() {
        let io = |source| FolderError::Io { path: directory.display().to_string(), source };
        let mut names: Vec<OsString> = Vec::new();
        for entry in fs::read_dir(folder.join(&directory)).map_err(io)? {
            names.push(entry.map_err(io)?.file_name());
        }
        for name in names {
            let path = directory.join(name);
            let full = folder.join(&path);
            let metadata = match fs::symlink_metadata(&full) {
                Ok(metadata) => metadata,
                // Gone since it was listed: as if it had never been.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(io(error)),
            };
            let shown = || path.display().to_string();
            if metadata.is_symlink() {
                // One that leads nowhere covers nothing either, and may lead out tomorrow.
                if !fs::canonicalize(&full).is_ok_and(|target| target.starts_with(&root)) {
                    return Err(FolderError::LeadsOut { path: shown() });
                }
            } else if metadata.is_dir() {
                waiting.push(path.clone());
            } else if !metadata.is_file() {
                return Err(FolderError::Special { path: shown() });
            }
            entries.push(Entry { path, metadata });
            if entries.len() > MOST_ENTRIES {
                return Err(FolderError::TooMany);
            }
        }
    }
    entries.sort_by(|a, b| a.path.as_os_str().as_bytes().cmp(b.path.as_os_str().as_bytes()));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(folder: &Path) -> String {
        read(folder).unwrap().digest
    }

    #[test]
    fn every_change_of_a_folder_changes_its_digest() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path();
        fs::write(folder.join("plugin.json"), "{}").unwrap();
        fs::write(folder.join("run.sh"), "echo 1\n").unwrap();
        let mut seen = vec![digest(folder)];
        assert_eq!(digest(folder), seen[0], "the same folder has the same digest");
        let steps: [&dyn Fn(); 6] = [
            &|| fs::write(folder.join("run.sh"), "echo 2\n").unwrap(),
            &|| fs::set_permissions(folder.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap(),
            &|| fs::rename(folder.join("run.sh"), folder.join("go.sh")).unwrap(),
            &|| fs::create_dir(folder.join("lib")).unwrap(),
            &|| std::os::unix::fs::symlink("go.sh", folder.join("link")).unwrap(),
            &|| fs::write(folder.join("lib/more"), "").unwrap(),
        ];
        for step in steps {
            step();
            let digest = digest(folder);
            assert!(!seen.contains(&digest), "{seen:?}");
            seen.push(digest);
        }
    }

    #[test]
    fn what_a_digest_cannot_cover_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("plugin");
        fs::create_dir(&folder).unwrap();
        fs::write(home.path().join("outside"), "").unwrap();
        std::os::unix::fs::symlink("../outside", folder.join("link")).unwrap();
        assert!(matches!(read(&folder), Err(FolderError::LeadsOut { .. })));
        fs::remove_file(folder.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.join("link")).unwrap();
        assert!(matches!(read(&folder), Err(FolderError::LeadsOut { .. })));
        fs::remove_file(folder.join("link")).unwrap();
        nix::unistd::mkfifo(&folder.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(matches!(read(&folder), Err(FolderError::Special { .. })));
    }
}
