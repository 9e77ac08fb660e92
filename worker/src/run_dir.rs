//! The directory of a run: `<state>/runs/<run id>/` with `work/` (the working directory its steps share),
//! `output/<step>.<attempt>.<stream>` (what processes wrote), `results/<step>.json` (results too large for an event)
//! and `pids` (what to look for after a crash).

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use weir_shared::ids::{RunId, StepIndex};
use weir_shared::run::event::OutputStream;

/// Names the places of one run. Making them is up to who writes there first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunDirectory(PathBuf);

impl RunDirectory {
    /// The directory of this run under the state directory.
    pub(crate) fn of(state: &Path, run: &RunId) -> Self {
        Self(state.join("runs").join(run.as_str()))
    }

    /// The directory itself: `WEIR_RUN_DIR`.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The working directory that the run's steps share.
    pub(crate) fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// Where one stream of one attempt is spilled.
    pub(crate) fn output(&self, step: StepIndex, attempt: u32, stream: OutputStream) -> PathBuf {
        let stream = match stream {
            OutputStream::Stdout => "stdout",
            OutputStream::Stderr => "stderr",
        };
        self.0.join("output").join(format!("{step}.{attempt}.{stream}"))
    }

    /// Where a result too large for an event is kept whole.
    pub(crate) fn result(&self, step: StepIndex) -> PathBuf {
        self.0.join("results").join(format!("{step}.json"))
    }

    /// Which processes to look for should the worker die.
    pub(crate) fn pids(&self) -> PathBuf {
        self.0.join("pids")
    }

    /// Bytes of the disk that it takes. What cannot be looked at counts nothing.
    pub(crate) fn bytes(&self) -> u64 {
        let mut bytes = 0;
        each_entry(&self.0, |entry, _| bytes += entry.blocks() * BLOCK_BYTES);
        bytes
    }

    /// Removes it with all it holds; fine when there is none. Links are removed, never followed.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let removed = match fs::remove_dir_all(&self.0) {
            // A step may take the right to write from its own directories; whoever owns them can take it back.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                each_entry(&self.0, |entry, path| {
                    if entry.is_dir() {
                        // What stays closed makes the removal fail, and that is reported.
                        let _stays = fs::set_permissions(path, Permissions::from_mode(0o700));
                    }
                });
                fs::remove_dir_all(&self.0)
            }
            other => other,
        };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

/// Bytes of a block of `stat`, whatever the file system's own blocks are.
const BLOCK_BYTES: u64 = 512;

/// The runs that have a directory, oldest first.
pub(crate) fn runs_on_disk(state: &Path) -> io::Result<Vec<RunId>> {
    let entries = match fs::read_dir(state.join("runs")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut runs: Vec<RunId> = Vec::new();
    for entry in entries {
        // Whatever else lies there is none of ours.
        runs.extend(entry?.file_name().to_str().and_then(|name| name.parse().ok()));
    }
    runs.sort_unstable();
    Ok(runs)
}

/// Shows everything in a directory, itself first; each directory before what it holds.
fn each_entry(directory: &Path, mut see: impl FnMut(&fs::Metadata, &Path)) {
    let mut waiting = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        see(&metadata, &path);
        if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    #[test]
    fn a_run_goes_with_what_its_steps_closed_and_nothing_it_links_to() {
        let state = tempfile::tempdir().unwrap();
        let run: RunId = RUN.parse().unwrap();
        let directory = RunDirectory::of(state.path(), &run);
        let kept = state.path().join("kept");
        fs::write(&kept, vec![b'x'; 8192]).unwrap();
        let closed = directory.work().join("closed");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), vec![b'x'; 8192]).unwrap();
        std::os::unix::fs::symlink(&kept, closed.join("link")).unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o500)).unwrap();
        fs::create_dir(state.path().join("runs/not-a-run")).unwrap();

        assert_eq!(runs_on_disk(state.path()).unwrap(), [run]);
        assert!((8192..65_536).contains(&directory.bytes()), "{}", directory.bytes());
        directory.remove().unwrap();
        directory.remove().unwrap();
        assert!(!directory.path().exists() && kept.exists());
        assert_eq!(directory.bytes(), 0);
    }

    #[test]
    fn without_runs_there_is_nothing_on_disk() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(runs_on_disk(state.path()).unwrap(), []);
    }
}
