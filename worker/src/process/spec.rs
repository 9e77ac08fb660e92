//! What one unit is to start, and why a start can fail.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::limits::UnitLimits;
use super::stop::Ladder;
use crate::run_dir::RunDirectory;
use crate::tool::call::CallIdentity;

/// One process to start, with everything that bounds it.
#[derive(Debug, Clone)]
pub(crate) struct UnitSpec {
    pub(crate) start: Start,
    /// Beside what every child gets; these win over the inherited ones, never over the marks.
    pub(crate) environment: Vec<(String, String)>,
    /// Absolute.
    pub(crate) directory: PathBuf,
    pub(crate) identity: CallIdentity,
    pub(crate) run_dir: RunDirectory,
    pub(crate) ladder: Ladder,
    /// From the spawn; none: as long as it takes.
    pub(crate) timeout: Option<Duration>,
    pub(crate) output: OutputLimits,
    pub(crate) limits: UnitLimits,
}

/// What runs the lines of commands.
pub(super) const SHELL: &str = "/bin/sh";

/// What a unit starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// A line for the shell.
    Shell(String),
    /// A program, named with a slash in it (see [`resolve_program`]), with its arguments as they are.
    File { program: PathBuf, arguments: Vec<OsString> },
}

impl Start {
    /// The file that has to be there.
    fn program(&self) -> &Path {
        match self {
            Start::Shell(_) => Path::new(SHELL),
            Start::File { program, .. } => program,
        }
    }
}

/// How much of each stream is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputLimits {
    /// Characters in memory and in the result.
    pub(crate) memory_chars: usize,
    /// Bytes in the run's directory.
    pub(crate) file_bytes: u64,
}

/// Bytes of one stream that the run's directory keeps when the settings say nothing.
pub(crate) const DEFAULT_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Why a process was never started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpawnError {
    #[error("program not found: {}", program.display())]
    NotFound { program: PathBuf },
    #[error("not executable: {} ({reason})", program.display())]
    NotExecutable { program: PathBuf, reason: &'static str },
    #[error("no such directory: {}", directory.display())]
    NoSuchDirectory { directory: PathBuf },
    #[error("directory cannot be entered: {} ({source})", directory.display())]
    Directory { directory: PathBuf, source: io::Error },
    #[error(
        "argument list too long: the command, its arguments and its environment together, or one of them alone \
         (131,072 bytes), pass what the system takes; write large values to a file in the run's directory"
    )]
    ArgumentsTooLong,
    #[error("a NUL character in the command, its arguments or its environment")]
    Nul,
    #[error("no pipe for its output: {source}")]
    Pipe { source: io::Error },
    #[error("no control group for its limits: {source}")]
    Cgroup { source: io::Error },
    #[error("cannot be started: {source}")]
    Other { source: io::Error },
}

impl SpawnError {
    /// Finds out what the system's answer was about: it does not say whether the program or the directory is
    /// missing.
    pub(super) fn explain(spec: &UnitSpec, source: io::Error) -> Self {
        let program = spec.start.program().to_owned();
        match source.raw_os_error() {
            Some(libc::E2BIG) => return Self::ArgumentsTooLong,
            Some(libc::ENOEXEC) => {
                return Self::NotExecutable { program, reason: "neither a program nor a script with `#!`" };
            }
            _ if source.kind() == io::ErrorKind::InvalidInput => return Self::Nul,
            _ => {}
        }
        match fs::metadata(&spec.directory) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Self::NoSuchDirectory { directory: spec.directory.clone() },
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
                return Self::NoSuchDirectory { directory: spec.directory.clone() };
            }
            Err(source) => return Self::Directory { directory: spec.directory.clone(), source },
        }
        match (source.kind(), fs::metadata(spec.directory.join(&program))) {
            (io::ErrorKind::NotFound, Ok(_)) => {
                Self::NotExecutable { program, reason: "the interpreter that it names does not exist" }
            }
            (io::ErrorKind::NotFound, Err(_)) => Self::NotFound { program },
            (io::ErrorKind::PermissionDenied, Ok(found)) if found.is_dir() => {
                Self::NotExecutable { program, reason: "it is a directory" }
            }
            (io::ErrorKind::PermissionDenied, Ok(_)) => {
                Self::NotExecutable { program, reason: "permission denied; `chmod +x` makes a file executable" }
            }
            _ => Self::Other { source },
        }
    }
}

/// Finds out whether a file can be started, for a program that a shell becomes: what the shell says of one that cannot
/// be is about the shell's line.
pub(crate) fn check_program(program: &Path) -> Result<(), SpawnError> {
    let not = |reason| Err(SpawnError::NotExecutable { program: program.to_owned(), reason });
    match fs::metadata(program) {
        Err(_) => Err(SpawnError::NotFound { program: program.to_owned() }),
        Ok(found) if found.is_dir() => not("it is a directory"),
        Ok(found) if found.permissions().mode() & 0o111 == 0 => {
            not("permission denied; `chmod +x` makes a file executable")
        }
        Ok(_) => Ok(()),
    }
}

/// The file that a program's name stands for: a name without a slash is looked up in `search`, a relative path is
/// taken from `directory`.
///
/// The lookup is done here because the standard library leaves its fast way of starting processes when it is given
/// both a bare name and a PATH.
pub(crate) fn resolve_program(name: &str, search: &OsStr, directory: &Path) -> Result<PathBuf, SpawnError> {
    if name.contains('/') {
        return Ok(directory.join(name));
    }
    let mut found = None;
    for place in search.as_bytes().split(|byte| *byte == b':') {
        let file = directory.join(OsStr::from_bytes(place)).join(name);
        match fs::metadata(&file) {
            Ok(data) if data.is_file() && data.permissions().mode() & 0o111 != 0 => return Ok(file),
            Ok(data) if data.is_file() => found = found.or(Some(file)),
            Ok(_) | Err(_) => {}
        }
    }
    match found {
        Some(program) => Err(SpawnError::NotExecutable { program, reason: "permission denied" }),
        None => Err(SpawnError::NotFound { program: name.into() }),
    }
}
