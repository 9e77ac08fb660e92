//! What one unit may use at most, where someone asked for a limit, and who holds it.
//!
//! With a control group that has the controller, the kernel counts the unit as a whole. Without one, memory is bounded
//! for each process by its address space, files by their size, and the number of processes not at all: a limit of the
//! system counts all processes of the user, the worker's own among them.

use std::ffi::OsString;
use std::path::PathBuf;

use super::spec::{SHELL, Start};
use super::sys;

/// Bytes of a mebibyte, as kernel and shell count.
const MIB: u64 = 1024 * 1024;
/// The unit of `ulimit -v`, in bytes.
const ADDRESS_SPACE_UNIT: u64 = 1024;
/// The unit of `ulimit -f`, in bytes, as POSIX has it.
const FILE_SIZE_UNIT: u64 = 512;

/// Limits of one unit; none where nobody asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct UnitLimits {
    /// Mebibytes of memory.
    pub(crate) memory_mb: Option<u64>,
    /// Processes and threads at once.
    pub(crate) processes: Option<u64>,
    /// Mebibytes of any one file that it writes.
    pub(crate) file_mb: Option<u64>,
}

impl UnitLimits {
    /// Whether a control group would hold any of them.
    pub(super) fn want_a_group(&self) -> bool {
        self.memory_mb.is_some() || self.processes.is_some()
    }

    /// The limit of memory in bytes.
    pub(super) fn memory_bytes(&self) -> Option<u64> {
        self.memory_mb.map(|mb| mb.saturating_mul(MIB))
    }

    /// The commands of a shell that set what the system limits for each process.
    fn for_each_process(&self, memory: MemoryHeldBy) -> String {
        let files = sys::open_files_for_children().map(|limit| format!("ulimit -S -n {limit}; "));
        let memory = match memory {
            MemoryHeldBy::EachProcess => self.memory_bytes(),
            MemoryHeldBy::Group => None,
        };
        let memory = memory.map(|bytes| format!("ulimit -v {} || exit 126; ", bytes / ADDRESS_SPACE_UNIT));
        let file_units = self.file_mb.map(|mb| mb.saturating_mul(MIB / FILE_SIZE_UNIT));
        let file = file_units.map(|units| format!("ulimit -f {units} || exit 126; "));
        [files, memory, file].into_iter().flatten().collect()
    }
}

/// Who holds the limit of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryHeldBy {
    /// The unit's control group.
    Group,
    /// The system, by the address space of each process.
    EachProcess,
}

/// The program and the arguments by which this is started under these limits, and under the limit of open files that
/// children get.
///
/// The worker has raised its own limit of open files, and children are to have the one it was started with: programs
/// that use `select`, or close every descriptor there could be, rely on it. A shell sets it and the other limits,
/// because the only way to do it before the program starts would be `pre_exec`, which forks the whole worker; set
/// from outside it comes too late now and then. It stands on the line's own line, so that the shell's messages keep
/// their line numbers; a program the shell becomes.
pub(super) fn under_limits(start: &Start, limits: UnitLimits, memory: MemoryHeldBy) -> (PathBuf, Vec<OsString>) {
    let limits = limits.for_each_process(memory);
    match start {
        Start::Shell(line) => (SHELL.into(), vec!["-c".into(), format!("{limits}{line}").into()]),
        Start::File { program, arguments } if limits.is_empty() => (program.clone(), arguments.clone()),
        Start::File { program, arguments } => {
            let line = format!("{limits}exec \"$0\" \"$@\"");
            let words = ["-c".into(), line.into(), program.clone().into_os_string()];
            (SHELL.into(), words.into_iter().chain(arguments.iter().cloned()).collect())
        }
    }
}
