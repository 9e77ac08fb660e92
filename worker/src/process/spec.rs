//! What one unit is to start, and why a start can fail.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::stop::Ladder;
use super::sys;
use crate::run_dir::RunDirectory;
use crate::tool::call::CallIdentity;

/// One process to start, with everything that bounds it.
#[derive(Debug, Clone)]
pub(crate) struct UnitSpec {
    /// With a slash in it: see [`resolve_program`].
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
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
}

/// The program and the arguments that run this line in a shell.
///
/// The worker has raised its own limit of open files, and children are to have the one it was started with: programs
/// that use `select`, or close every descriptor there could be, rely on it. The shell sets it, because the only way
/// to do it before the program starts would be `pre_exec`, which forks the whole worker; set from outside it comes
/// too late now and then. On the same line, so that the shell's messages keep their line numbers.
pub(crate) fn in_shell(line: &str) -> (PathBuf, Vec<OsString>) {
    let line = match sys::open_files_for_children() {
        Some(limit) => format!("ulimit -S -n {limit}; {line}"),
        None => line.to_owned(),
    };
    ("/bin/sh".into(), vec!["-c".into(), line.into()])
}

/// The program and the arguments that run this program with these arguments, each as it is, under the limit of open
/// files that children get and, where one is given, a limit of memory: KiB of address space of each process.
///
/// A shell sets the limits, for the reason given at [`in_shell`], and becomes the program.
pub(crate) fn under_limits(
    program: PathBuf,
    arguments: Vec<OsString>,
    memory_kib: Option<u64>,
) -> (PathBuf, Vec<OsString>) {
    let files = sys::open_files_for_children().map(|limit| format!("ulimit -S -n {limit}; "));
    let memory = memory_kib.map(|kib| format!("ulimit -v {kib} || exit 126; "));
    if files.is_none() && memory.is_none() {
        return (program, arguments);
    }
    let line = format!("{}{}exec \"$0\" \"$@\"", files.unwrap_or_default(), memory.unwrap_or_default());
    let words = ["-c".into(), line.into(), program.into_os_string()];
    ("/bin/sh".into(), words.into_iter().chain(arguments).collect())
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
    #[error("cannot be started: {source}")]
    Other { source: io::Error },
}

impl SpawnError {
    /// Finds out what the system's answer was about: it does not say whether the program or the directory is
    /// missing.
    pub(super) fn explain(spec: &UnitSpec, source: io::Error) -> Self {
        let program = spec.program.clone();
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
