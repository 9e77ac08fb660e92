//! Writing a file whole or not at all: beside its place first, then renamed onto it.

use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, fchmod, openat, renameat_with, statat, unlinkat};
use rustix::io::Errno;

use super::place::{PlaceError, Slot};

/// What to do when something is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    Replace,
    Keep,
}

/// Puts a file with this content there. Whether nothing was there before.
///
/// A file that is replaced hands on its permissions. Anything but an ordinary file, a link among them, is refused.
pub(super) fn write_whole(slot: &Slot, content: &[u8], existing: Existing) -> Result<bool, PlaceError> {
    let mode = match statat(&slot.directory, &slot.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile => {
            Some(Mode::from_raw_mode(found.st_mode & 0o777))
        }
        Ok(_) => return Err(slot.because("is no ordinary file")),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(slot.failed(error)),
    };
    if mode.is_some() && existing == Existing::Keep {
        return Err(slot.failed(Errno::EXIST));
    }
    let beside = name_beside();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file =
        openat(&slot.directory, &beside, flags, Mode::from_raw_mode(0o666)).map_err(|error| slot.failed(error))?;
    let written = (|| {
        if let Some(mode) = mode {
            fchmod(&file, mode).map_err(|error| slot.failed(error))?;
        }
        let mut file = File::from(file);
        file.write_all(content).and_then(|()| file.sync_all()).map_err(|error| slot.io(error))?;
        let flags = match existing {
            Existing::Replace => RenameFlags::empty(),
            Existing::Keep => RenameFlags::NOREPLACE,
        };
        renameat_with(&slot.directory, &beside, &slot.directory, &slot.name, flags).map_err(|error| slot.failed(error))
    })();
    if written.is_err() {
        let _gone = unlinkat(&slot.directory, &beside, AtFlags::empty());
    }
    written.map(|()| mode.is_none())
}

/// A hidden name that no one else uses.
fn name_beside() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(".weir-{}-{}.part", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
