//! A walk through the directories below an open one, for the tools that search.
//!
//! It guarantees that no link is followed, so that nothing outside is seen, and that it ends: after a number of
//! entries, at a depth, or when the call that asked for it is over. It does not look into what is not written by
//! people: `.git`, and what package managers and builds leave.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::Abandoned;

/// Entries looked at, in all directories together.
pub(super) const MOST_ENTRIES: usize = 20_000;
/// Directories inside each other; each holds a descriptor.
const MOST_DEPTH: usize = 100;
/// Directories that are not entered. One of these names that a call itself names is.
pub(super) const PASSED_OVER: [&str; 5] = [".git", "node_modules", "target", "build", "dist"];

/// What the walk has come to.
#[derive(Debug)]
pub(super) struct Entry<'w> {
    /// From where the walk began.
    pub(super) path: &'w Path,
    pub(super) kind: FileType,
    directory: &'w OwnedFd,
    name: &'w CStr,
}

impl Entry<'_> {
    /// Opens it for reading, if it is an ordinary file still.
    pub(super) fn open(&self) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(self.directory, self.name, flags, Mode::empty()).ok()?);
        file.metadata().is_ok_and(|found| found.is_file()).then_some(file)
    }
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walked {
    /// It has seen everything.
    Everything,
    /// The visitor had enough, or there is more than a walk looks at.
    APart,
}

/// One walk under way.
struct Walk<'a> {
    abandoned: &'a Abandoned,
    seen: usize,
    is_whole: bool,
}

/// Visits everything below this directory, by name, each directory before what is in it.
///
/// A directory that cannot be read, or has gone since, is passed over.
pub(super) fn walk(
    root: &OwnedFd,
    abandoned: &Abandoned,
    visit: &mut dyn FnMut(&Entry<'_>) -> ControlFlow<()>,
) -> Result<Walked, String> {
    let mut walk = Walk { abandoned, seen: 0, is_whole: true };
    let ended = walk.directory(root, &PathBuf::new(), 0, visit)?;
    Ok(if walk.is_whole && ended.is_continue() { Walked::Everything } else { Walked::APart })
}

impl Walk<'_> {
    fn directory(
        &mut self,
        directory: &OwnedFd,
        above: &Path,
        depth: usize,
        visit: &mut dyn FnMut(&Entry<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, String> {
        for (name, kind) in self.names(directory) {
            self.abandoned.check()?;
            let path = above.join(OsStr::from_bytes(name.as_bytes()));
            self.seen += 1;
            let entry = Entry { path: &path, kind, directory, name: &name };
            if visit(&entry).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if kind != FileType::Directory || PASSED_OVER.iter().any(|passed| name.as_bytes() == passed.as_bytes()) {
                continue;
            }
            if depth == MOST_DEPTH {
                self.is_whole = false;
                continue;
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(below) = openat(directory, &name, flags, Mode::empty()) else { continue };
            if self.directory(&below, &path, depth + 1, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if self.seen >= MOST_ENTRIES {
                break;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// What is in a directory, by name, as far as there is room for it.
    fn names(&mut self, directory: &OwnedFd) -> Vec<(CString, FileType)> {
        let room = MOST_ENTRIES.saturating_sub(self.seen);
        let mut names = Vec::new();
        let Ok(entries) = Dir::read_from(directory) else { return names };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if names.len() == room {
                self.is_whole = false;
                break;
            }
            let kind = match entry.file_type() {
                // Some file systems do not say.
                FileType::Unknown => kind_of(directory, name).unwrap_or(FileType::Unknown),
                known => known,
            };
            names.push((name.to_owned(), kind));
        }
        names.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        names
    }
}

fn kind_of(directory: &OwnedFd, name: &CStr) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode))
}
