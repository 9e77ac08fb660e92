//! The variables by which a process is recognised as part of one attempt, also after it left the group.
//!
//! Reading them is reading `/proc/<pid>/environ`: what the process was given at its last `exec`. A process that
//! wipes its environment and leaves its group and session cannot be recognised; the documentation says so.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::sys;

pub(crate) const RUN_ID: &str = "WEIR_RUN_ID";
pub(crate) const STEP_INDEX: &str = "WEIR_STEP_INDEX";
pub(crate) const ATTEMPT: &str = "WEIR_ATTEMPT";
pub(crate) const WORKER: &str = "WEIR_WORKER";
pub(crate) const RUN_DIR: &str = "WEIR_RUN_DIR";

/// Which attempt of which worker a process belongs to, as its environment says it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Marks {
    pub(crate) worker: String,
    pub(crate) run: String,
    pub(crate) step: String,
    pub(crate) attempt: String,
}

/// Marks together with the run directory that stood beside them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) marks: Marks,
    pub(super) run_dir: PathBuf,
}

impl Marks {
    /// The variables that carry the marks.
    pub(super) fn variables(&self) -> [(&'static str, &str); 4] {
        [(WORKER, &self.worker), (RUN_ID, &self.run), (STEP_INDEX, &self.step), (ATTEMPT, &self.attempt)]
    }
}

/// What the environment of a process says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Environ {
    Marked(Marked),
    /// It lacks any of the marks.
    Unmarked,
    /// It has no environment, or none that may be read.
    Empty,
    /// It is in the middle of an `exec`, or of its end, and says nothing yet or any more.
    Unsettled,
}

/// What the environment of this process says now.
///
/// An `exec` may come between two reads of the file, of which the second then gives nothing: only what is as long as
/// the environment is has been read whole.
pub(super) fn environ(pid: u32) -> Environ {
    let environ = match fs::read(format!("/proc/{pid}/environ")) {
        Ok(environ) => environ,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Environ::Empty,
        Err(_) => return Environ::Unsettled,
    };
    if let Some(marked) = parse(&environ) {
        return Environ::Marked(marked);
    }
    match sys::environment_bytes(pid) {
        Some(0) if environ.is_empty() => Environ::Empty,
        Some(bytes) if bytes == environ.len() => Environ::Unmarked,
        Some(_) | None => Environ::Unsettled,
    }
}

/// The marks of this process, if it has all of them.
pub(super) fn read(pid: u32) -> Option<Marked> {
    match environ(pid) {
        Environ::Marked(marked) => Some(marked),
        Environ::Unmarked | Environ::Empty | Environ::Unsettled => None,
    }
}

fn parse(environ: &[u8]) -> Option<Marked> {
    let value = |name: &str| {
        environ.split(|byte| *byte == 0).find_map(|entry| {
            let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(String::from_utf8_lossy(value).into_owned())
        })
    };
    // The rarest first: most processes of a machine have none.
    let worker = value(WORKER)?;
    let marks = Marks { worker, run: value(RUN_ID)?, step: value(STEP_INDEX)?, attempt: value(ATTEMPT)? };
    Some(Marked { marks, run_dir: PathBuf::from(value(RUN_DIR)?) })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn marks_are_read_from_an_environment_and_only_when_all_are_there() {
        let environ = b"A=1\0WEIR_ATTEMPT=2\0WEIR_RUN_DIR=/s/runs/r\0WEIR_RUN_ID=r\0WEIR_STEP_INDEX=7\0WEIR_WORKER=w\0";
        let marked = parse(environ).expect("all marks are there");
        assert_eq!(marked.run_dir, PathBuf::from("/s/runs/r"));
        assert_eq!(marked.marks, Marks { worker: "w".into(), run: "r".into(), step: "7".into(), attempt: "2".into() });
        assert_eq!(parse(b"WEIR_WORKER=w\0WEIR_RUN_ID=r\0"), None);
        assert_eq!(parse(b"XWEIR_WORKER=w\0"), None);
    }

    /// Waits for something that no event tells, and fails the test when it takes too long.
    fn until(what: &str, holds: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !holds() {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn an_empty_environment_is_told_from_one_that_is_not_there() {
        let mut child = std::process::Command::new("/bin/sleep").arg("60").env_clear().spawn().unwrap();
        let pid = child.id();
        // It counts as started while its exec still goes on.
        until("its exec to end", || environ(pid) != Environ::Unsettled);
        let running = environ(pid);
        child.kill().unwrap();
        until("it to be a zombie", || sys::stat(pid).is_some_and(|stat| stat.zombie));
        let ended = environ(pid);
        child.wait().unwrap();
        assert_eq!((running, ended), (Environ::Empty, Environ::Unsettled));
    }
}
