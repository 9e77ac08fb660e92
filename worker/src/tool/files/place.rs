//! A path of a call, resolved beneath one root and held by descriptors.
//!
//! It guarantees, by `openat2` with `RESOLVE_BENEATH`, that nothing outside the root is opened, whatever links are
//! there and whoever changes them meanwhile. What is made, replaced or removed is named relative to a directory that
//! was opened so, and calls on a name there follow no link.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2};
use rustix::io::Errno;

/// How often a resolution that a rename elsewhere disturbed is tried again.
const TRIES: u32 = 16;

/// Where the file tools may go.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    /// Relative paths start here.
    pub(crate) workspace: PathBuf,
    /// What `files.roots` names: absolute.
    pub(crate) others: Arc<[PathBuf]>,
}

/// Why a path cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlaceError {
    #[error("{path}: `..` is not allowed in a path")]
    Upwards { path: String },
    #[error("{path} is outside the run's working directory, and no root in the setting `files.roots` holds it")]
    Outside { path: String },
    #[error("{path}: a link leads out of the directory that the file tools may use")]
    LeadsOut { path: String },
    #[error("{path} is inside a .git directory, where the file tools do not write")]
    Git { path: String },
    #[error("{path} names a root itself")]
    Root { path: String },
    #[error("{path} does not exist")]
    Missing { path: String },
    #[error("{path}: {source}")]
    Io { path: String, source: io::Error },
}

impl From<PlaceError> for String {
    fn from(error: PlaceError) -> Self {
        error.to_string()
    }
}

/// A path beneath an open root.
#[derive(Debug)]
pub(super) struct Place {
    root: OwnedFd,
    relative: PathBuf,
    asked: String,
}

/// A name in an open directory, for what is made, replaced or removed.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) directory: OwnedFd,
    pub(super) name: OsString,
    asked: String,
}

impl Roots {
    /// Finds the root of a path.
    pub(super) fn place(&self, path: &str) -> Result<Place, PlaceError> {
        let asked = Path::new(path);
        if asked.components().any(|component| component == Component::ParentDir) {
            return Err(PlaceError::Upwards { path: path.to_owned() });
        }
        let (root, relative) = if asked.is_absolute() {
            let roots = self.others.iter().chain([&self.workspace]);
            let holding = roots.filter_map(|root| Some((root.as_path(), asked.strip_prefix(root).ok()?)));
            // Of nested roots the innermost.
            holding
                .max_by_key(|(root, _)| root.as_os_str().len())
                .ok_or_else(|| PlaceError::Outside { path: path.to_owned() })?
        } else {
            (self.workspace.as_path(), asked)
        };
        let relative: PathBuf = relative.components().filter(|part| *part != Component::CurDir).collect();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, root, flags, Mode::empty()).map_err(|error| failed(path, error))?;
        Ok(Place { root, relative, asked: path.to_owned() })
    }
}

impl Place {
    /// Opens what is there for reading. A pipe or a device does not block.
    pub(super) fn open_file(&self) -> Result<File, PlaceError> {
        let file = File::from(self.open(&self.relative, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?);
        match file.metadata() {
            Ok(found) if found.is_file() => Ok(file),
            Ok(found) if found.is_dir() => Err(self.because("is a directory")),
            Ok(_) => Err(self.because("is no ordinary file")),
            Err(source) => Err(PlaceError::Io { path: self.asked.clone(), source }),
        }
    }

    /// Whether a directory is there, and not something else.
    pub(super) fn is_directory(&self) -> Result<bool, PlaceError> {
        let found = self.open(&self.relative, OFlags::PATH)?;
        let mode = fstat(&found).map_err(|error| failed(&self.asked, error))?.st_mode;
        Ok(FileType::from_raw_mode(mode) == FileType::Directory)
    }

    /// Opens the directory that is there.
    pub(super) fn open_directory(&self) -> Result<OwnedFd, PlaceError> {
        self.open(&self.relative, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// The name in its directory, to change what is there.
    pub(super) fn slot(&self) -> Result<Slot, PlaceError> {
        match self.relative.file_name() {
            Some(name) => self.slot_in(self.relative.parent().unwrap_or(Path::new("")), name),
            None => Err(PlaceError::Root { path: self.asked.clone() }),
        }
    }

    fn slot_in(&self, above: &Path, name: &OsStr) -> Result<Slot, PlaceError> {
        let directory = self.open(above, OFlags::PATH | OFlags::DIRECTORY)?;
        if is_git(name) || self.leads_into_git(&directory)? {
            return Err(PlaceError::Git { path: self.asked.clone() });
        }
        Ok(Slot { directory, name: name.to_owned(), asked: self.asked.clone() })
    }

    /// Makes the directories above the path that are missing.
    pub(super) fn make_directories_above(&self) -> Result<(), PlaceError> {
        self.make_directories(self.relative.parent().unwrap_or(Path::new(""))).map(drop)
    }

    /// Makes the directory and those above it that are missing. Whether it was not there before.
    pub(super) fn make_directory(&self) -> Result<bool, PlaceError> {
        self.make_directories(&self.relative)
    }

    fn make_directories(&self, path: &Path) -> Result<bool, PlaceError> {
        let mut above = PathBuf::new();
        let mut made = false;
        for part in path.components() {
            let here = above.join(part);
            made = match self.open(&here, OFlags::PATH | OFlags::DIRECTORY) {
                Ok(_) => false,
                Err(PlaceError::Missing { .. }) => {
                    let slot = self.slot_in(&above, part.as_os_str())?;
                    match mkdirat(&slot.directory, &slot.name, Mode::from_raw_mode(0o777)) {
                        Ok(()) => true,
                        // Made by someone else since; if it is no directory, the next step says so.
                        Err(Errno::EXIST) => false,
                        Err(error) => return Err(slot.failed(error)),
                    }
                }
                Err(error) => return Err(error),
            };
            above = here;
        }
        Ok(made)
    }

    fn open(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, PlaceError> {
        let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut tries = 0;
        loop {
            match openat2(&self.root, relative, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                // Something was renamed during the resolution, so the kernel cannot vouch for it.
                Err(Errno::AGAIN) if tries < TRIES => tries += 1,
                result => return result.map_err(|error| failed(&self.asked, error)),
            }
        }
    }

    /// Whether the real place of this directory is a `.git` or in one, beneath the root.
    fn leads_into_git(&self, directory: &OwnedFd) -> Result<bool, PlaceError> {
        let real = |fd: &OwnedFd| {
            fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))
                .map_err(|source| PlaceError::Io { path: self.asked.clone(), source })
        };
        let (root, directory) = (real(&self.root)?, real(directory)?);
        let beneath = directory.strip_prefix(&root).unwrap_or(&directory);
        Ok(beneath.components().any(|part| is_git(part.as_os_str())))
    }

    fn because(&self, reason: &str) -> PlaceError {
        PlaceError::Io { path: self.asked.clone(), source: io::Error::other(reason.to_owned()) }
    }
}

impl Slot {
    /// What a call on the name answered.
    pub(super) fn failed(&self, error: Errno) -> PlaceError {
        failed(&self.asked, error)
    }

    /// What reading or writing answered.
    pub(super) fn io(&self, source: io::Error) -> PlaceError {
        PlaceError::Io { path: self.asked.clone(), source }
    }

    /// A reason of our own.
    pub(super) fn because(&self, reason: &str) -> PlaceError {
        self.io(io::Error::other(reason.to_owned()))
    }
}

fn is_git(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}

fn failed(path: &str, error: Errno) -> PlaceError {
    let path = path.to_owned();
    match error {
        Errno::XDEV | Errno::LOOP => PlaceError::LeadsOut { path },
        Errno::NOENT => PlaceError::Missing { path },
        other => PlaceError::Io { path, source: other.into() },
    }
}
