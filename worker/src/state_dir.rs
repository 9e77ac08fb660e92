//! The state directory: who holds it, the token, and how other commands find the worker.
//!
//! `<state>/lock` is locked by the worker for as long as it lives, so a crash leaves nothing to clean up;
//! `<state>/token` is made at the first start; `<state>/worker.json` says where the worker is.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::access::token::{SECRET_BYTES, Token};
use crate::patience::try_while;

/// A state directory that may be read by anyone who may read its files.
#[derive(Debug, Clone)]
pub(crate) struct StateDirectory(PathBuf);

/// The right to write in a state directory. Ends with the process at the latest.
#[derive(Debug)]
pub(crate) struct StateLock {
    _held: File,
}

/// What a running worker tells other commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkerCard {
    pub(crate) pid: u32,
    /// `127.0.0.1:9347`.
    pub(crate) address: String,
    pub(crate) worker_id: String,
    pub(crate) flows: PathBuf,
}

/// Why a state directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    #[error("{} is held by the worker with pid {} at http://{}; stop it first, or give another --state", path.display(), holder.pid, holder.address)]
    Held { path: PathBuf, holder: Box<WorkerCard> },
    #[error("{} is held by another weir; stop it first, or give another --state", path.display())]
    HeldByUnknown { path: PathBuf },
    #[error("no worker is running on {}; start one with `weir serve`, or give the --state it uses", path.display())]
    NoWorker { path: PathBuf },
    #[error("{} holds no token; move it away and start the worker again to get a new one", path.display())]
    BadToken { path: PathBuf },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl StateError {
    /// Whether the lock may be free in a moment: nobody says to hold it, or who says so lives no more.
    fn may_pass(&self) -> bool {
        match self {
            StateError::Held { holder, .. } => !Path::new(&format!("/proc/{}", holder.pid)).exists(),
            StateError::HeldByUnknown { .. } => true,
            StateError::NoWorker { .. } | StateError::BadToken { .. } | StateError::Io { .. } => false,
        }
    }
}

impl StateDirectory {
    /// Names a state directory; nothing is touched.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Makes the directory (mode 0700) when it is missing, and takes it for this process alone.
    pub(crate) fn take(&self) -> Result<StateLock, StateError> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0).map_err(|error| self.failed("", error))?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(self.0.join("lock"))
            .map_err(|error| self.failed("lock", error))?;
        try_while(StateError::may_pass, || match lock.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(self.held()),
            Err(TryLockError::Error(error)) => Err(self.failed("lock", error)),
        })?;
        Ok(StateLock { _held: lock })
    }

    fn held(&self) -> StateError {
        match self.card() {
            Ok(Some(holder)) => StateError::Held { path: self.0.clone(), holder: Box::new(holder) },
            Ok(None) | Err(_) => StateError::HeldByUnknown { path: self.0.clone() },
        }
    }

    /// The token; made from `random` when there is none yet. Only the holder of the lock may call this.
    pub(crate) fn token_or_new(&self, random: &[u8; SECRET_BYTES]) -> Result<Token, StateError> {
        match std::fs::read_to_string(self.0.join("token")) {
            Ok(text) => Token::read(&text).ok_or_else(|| StateError::BadToken { path: self.0.join("token") }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let token = Token::of(random);
                self.write_whole("token", format!("{}\n", token.reveal()).as_bytes())?;
                Ok(token)
            }
            Err(error) => Err(self.failed("token", error)),
        }
    }

    /// The token of a worker that has been started here.
    pub(crate) fn token(&self) -> Result<Token, StateError> {
        let text = std::fs::read_to_string(self.0.join("token")).map_err(|error| self.failed("token", error))?;
        Token::read(&text).ok_or_else(|| StateError::BadToken { path: self.0.join("token") })
    }

    /// Says where the worker is.
    pub(crate) fn announce(&self, card: &WorkerCard) -> Result<(), StateError> {
        let text = serde_json::to_vec_pretty(card).map_err(|error| self.failed("worker.json", error.into()))?;
        self.write_whole("worker.json", &text).or_else(|_| {
            // On a full disk what a dead worker has left there may be all the room that is needed; and if it is not,
            // no word is better than a wrong one.
            self.withdraw();
            self.write_whole("worker.json", &text)
        })
    }

    /// Takes the announcement back. Best effort: the lock is what counts.
    pub(crate) fn withdraw(&self) {
        if let Err(error) = std::fs::remove_file(self.0.join("worker.json")) {
            tracing::debug!(%error, "worker.json was not removed");
        }
    }

    /// The worker that runs here, for commands that talk to it.
    pub(crate) fn worker(&self) -> Result<WorkerCard, StateError> {
        self.card()?.ok_or_else(|| StateError::NoWorker { path: self.0.clone() })
    }

    fn card(&self) -> Result<Option<WorkerCard>, StateError> {
        match std::fs::read(self.0.join("worker.json")) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("worker.json", error)),
        }
    }

    /// Writes a file so that a reader sees the old or the new one, and never half of it. Mode 0600.
    fn write_whole(&self, name: &str, bytes: &[u8]) -> Result<(), StateError> {
        let unfinished = self.0.join(format!(".{name}.new"));
        let write = || {
            let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&unfinished)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            std::fs::rename(&unfinished, self.0.join(name))
        };
        write().map_err(|error| self.failed(name, error))
    }

    fn failed(&self, name: &str, source: io::Error) -> StateError {
        StateError::Io { path: self.0.join(name), source }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn card() -> WorkerCard {
        WorkerCard { pid: 7, address: "127.0.0.1:9347".to_owned(), worker_id: "w".to_owned(), flows: "/f".into() }
    }

    #[test]
    fn one_worker_holds_a_state_directory_and_the_second_learns_who() {
        let temporary = tempfile::tempdir().unwrap();
        let state = StateDirectory::at(temporary.path().join("a/b"));
        let lock = state.take().unwrap();
        assert!(matches!(state.take(), Err(StateError::HeldByUnknown { .. })));
        state.announce(&card()).unwrap();
        let refusal = state.take().unwrap_err().to_string();
        assert!(refusal.contains("pid 7") && refusal.contains("127.0.0.1:9347"), "{refusal}");
        drop(lock);
        assert!(state.take().is_ok());
    }

    #[test]
    fn a_lock_that_a_dead_worker_left_to_a_process_it_was_starting_is_waited_for() {
        let temporary = tempfile::tempdir().unwrap();
        let state = StateDirectory::at(temporary.path().to_owned());
        let lock = state.take().unwrap();
        state.announce(&WorkerCard { pid: u32::MAX, ..card() }).unwrap();
        let (taking, took) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| taking.send(state.take().map(drop).map_err(|error| error.to_string())).unwrap());
            assert!(took.recv_timeout(std::time::Duration::from_millis(20)).is_err(), "it is held");
            drop(lock);
            assert_eq!(took.recv_timeout(std::time::Duration::from_mins(1)).unwrap(), Ok(()));
        });
    }

    #[test]
    fn the_token_is_made_once_and_for_its_owner_only() {
        let temporary = tempfile::tempdir().unwrap();
        let state = StateDirectory::at(temporary.path().join("state"));
        let _lock = state.take().unwrap();
        let first = state.token_or_new(&[1; SECRET_BYTES]).unwrap();
        let second = state.token_or_new(&[2; SECRET_BYTES]).unwrap();
        assert_eq!(first.reveal(), second.reveal());
        assert_eq!(first.reveal(), state.token().unwrap().reveal());
        let mode = |name: &str| std::fs::metadata(state.0.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(""), mode("token"), mode("lock")), (0o700, 0o600, 0o600));
    }

    #[test]
    fn without_a_worker_commands_say_so() {
        let temporary = tempfile::tempdir().unwrap();
        let state = StateDirectory::at(temporary.path().to_owned());
        assert!(matches!(state.worker(), Err(StateError::NoWorker { .. })));
        state.announce(&card()).unwrap();
        assert_eq!(state.worker().unwrap(), card());
        state.withdraw();
        assert!(matches!(state.worker(), Err(StateError::NoWorker { .. })));
    }
}
