//! The variables by which a process is recognised as part of one attempt, also after it left the group.
//!
//! Reading them is reading `/proc/<pid>/environ`: what the process was given at its last `exec`. A process that
//! wipes its environment and leaves its group and session cannot be recognised; the documentation says so.

use std::fs;
use std::path::PathBuf;

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
    /// It has no environment at all: wiped, or in the middle of an `exec`, or ended, or not to be read.
    Empty,
}

/// What the environment of this process says now.
pub(super) fn environ(pid: u32) -> Environ {
    match fs::read(format!("/proc/{pid}/environ")) {
        Ok(environ) if !environ.is_empty() => parse(&environ).map_or(Environ::Unmarked, Environ::Marked),
        Ok(_) | Err(_) => Environ::Empty,
    }
}

/// The marks of this process, if it has all of them.
pub(super) fn read(pid: u32) -> Option<Marked> {
    match environ(pid) {
        Environ::Marked(marked) => Some(marked),
        Environ::Unmarked | Environ::Empty => None,
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
}
