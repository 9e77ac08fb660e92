//! A disk that is soon full: a file system in memory of a few MiB, for the state of a world.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use nix::sys::statvfs::statvfs;
use tempfile::TempDir;

/// A mounted file system, taken away when it is dropped.
#[derive(Debug)]
pub struct SmallDisk {
    mounted: TempDir,
}

impl SmallDisk {
    /// Mounts one in place of this empty directory, which becomes a link to it. None where this process may not mount,
    /// which takes root: then the test that wants it says that it was skipped.
    pub fn in_place_of(directory: &Path, mebibytes: u32) -> Result<Option<Self>> {
        let mounted = tempfile::Builder::new().prefix("weir-disk-").tempdir()?;
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={mebibytes}m,mode=700"), "tmpfs"])
            .arg(mounted.path())
            .stderr(Stdio::null())
            .status();
        if !done.is_ok_and(|status| status.success()) {
            return Ok(None);
        }
        let disk = Self { mounted };
        std::fs::remove_dir(directory)?;
        std::os::unix::fs::symlink(disk.mounted.path(), directory)?;
        Ok(Some(disk))
    }

    /// Bytes that can still be written.
    pub fn free(&self) -> Result<u64> {
        let told = statvfs(self.mounted.path()).context("cannot look at the small disk")?;
        Ok(told.blocks_available() * told.fragment_size())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: whatever still has a file open there keeps it until it ends.
        let _ = Command::new("umount").arg("-l").arg(self.mounted.path()).stderr(Stdio::null()).status();
    }
}
