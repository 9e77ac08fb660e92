//! The only door to raw process calls. Each function is one call or one file of `/proc`, and decides nothing.
#![expect(unsafe_code, reason = "two calls have no safe wrapper: wait4, and registering a descriptor with the runtime")]

mod inside;

use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::OnceLock;

use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getrlimit, kill_process_group, pidfd_open,
    pidfd_send_signal, setrlimit, waitid,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use weir_shared::flow::StopSignal;

use super::cgroup::Cgroup;
use super::spec::{SpawnError, UnitSpec};
use super::step::Exit;

/// The soft limit of open files that the worker itself was started with, if it has raised its own since.
static LIMIT_FOR_CHILDREN: OnceLock<u64> = OnceLock::new();

/// A process that was just started, with the reading ends of its outputs.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) pid: u32,
    pub(super) pidfd: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// A process to start.
#[derive(Debug)]
pub(super) struct Launch {
    /// Its program, arguments and environment, all of them said.
    pub(super) command: Command,
    pub(super) stdin: OwnedFd,
    /// The group it is started in; none for the worker's own.
    pub(super) cgroup: Option<Cgroup>,
}

/// CPU time of a process and of the descendants it waited for, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CpuTime {
    pub(super) user_ms: u64,
    pub(super) system_ms: u64,
}

/// One line of `/proc/<pid>/stat`, as far as it is of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) zombie: bool,
    pub(super) parent: u32,
    pub(super) group: u32,
    pub(super) session: u32,
    /// In clock ticks after boot: tells two processes apart that had the same id.
    pub(super) start_time: u64,
}

/// Sets what holds for the whole process and is inherited: no new privileges, no core files, orphans come back here;
/// and many open files for the worker itself.
pub(super) fn confine_process() -> io::Result<()> {
    nix::sys::prctl::set_no_new_privs()?;
    nix::sys::prctl::set_child_subreaper(true)?;
    let core = getrlimit(Resource::Core);
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: core.maximum })?;
    let files = getrlimit(Resource::Nofile);
    if let Some(soft) = files.current
        && files.current != files.maximum
    {
        setrlimit(Resource::Nofile, Rlimit { current: files.maximum, maximum: files.maximum })?;
        // Set before, when this is called a second time: then what the limit was at first stays.
        let _set_before = LIMIT_FOR_CHILDREN.set(soft);
    }
    Ok(())
}

/// The soft limit of open files that children are to have; none when it is the one they inherit.
pub(super) fn open_files_for_children() -> Option<u64> {
    LIMIT_FOR_CHILDREN.get().copied()
}

/// Starts the process in a process group of its own.
///
/// `process_group` and `current_dir` keep the standard library on `posix_spawn`; `pre_exec` would put it on `fork`,
/// which copies the page tables of the whole worker. It knows no control groups, so a process that starts inside one
/// goes another way. The command is taken whole: it holds the writing ends of the pipes until it is dropped.
pub(super) fn start(spec: &UnitSpec, launch: Launch) -> Result<(Started, Option<Cgroup>), SpawnError> {
    let Launch { mut command, stdin, cgroup } = launch;
    let (stdout, stdout_writer) = output_pipe()?;
    let (stderr, stderr_writer) = output_pipe()?;
    command.current_dir(&spec.directory);
    let spawned = if let Some(cgroup) = &cgroup {
        inside::start(&command, &spec.directory, [&stdin, &stdout_writer, &stderr_writer], cgroup)
    } else {
        command.process_group(0).stdin(stdin).stdout(stdout_writer).stderr(stderr_writer);
        // Dropping the handle neither waits nor kills. The id stays taken until the zombie is reaped by `reap`.
        command.spawn().map(|child| child.id())
    };
    let pid = spawned.map_err(|source| SpawnError::explain(spec, source))?;
    let pidfd = open_pidfd(pid).map_err(|source| SpawnError::Other { source });
    let pidfd = match pidfd {
        Ok(pidfd) => pidfd,
        Err(error) => {
            // Out of descriptors: a process that cannot be watched must not run.
            kill_group(pid);
            reap_now(pid);
            return Err(error);
        }
    };
    Ok((Started { pid, pidfd, stdout, stderr }, cgroup))
}

/// A standard input that is at its end.
pub(super) fn no_input() -> io::Result<OwnedFd> {
    Ok(File::open("/dev/null")?.into())
}

/// A standard input that holds these bytes.
///
/// A file in memory and not a pipe: nobody has to write while the child runs, so one that never reads it hangs
/// nothing and breaks nothing, and its end is there from the start.
pub(super) fn input_of(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create("weir-input", rustix::fs::MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// A pipe whose reading end does not block. The writing end does: a child expects that.
fn output_pipe() -> Result<(OwnedFd, OwnedFd), SpawnError> {
    let pipe = || -> rustix::io::Result<(OwnedFd, OwnedFd)> {
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::NONBLOCK)?;
        Ok((reader, writer))
    };
    pipe().map_err(|source| SpawnError::Pipe { source: source.into() })
}

fn rustix_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// A descriptor for this process, readable once it has ended.
pub(super) fn open_pidfd(pid: u32) -> io::Result<OwnedFd> {
    let pid = rustix_pid(pid).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Lets the runtime watch this descriptor for something to read.
pub(crate) fn watch(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` answers the same open descriptor for as long as it lives, and `AsyncFd` takes it back from
    // the runtime before it drops it.
    Ok(unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }?)
}

/// How the leader ended, once it has; its zombie stays.
pub(super) fn exit_of(pidfd: impl AsFd) -> io::Result<Option<Exit>> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let Some(status) = waitid(WaitId::PidFd(pidfd.as_fd()), options)? else {
        return Ok(None);
    };
    Ok(match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(Exit::Code(code)),
        (None, Some(signal)) => Some(Exit::Signal(signal)),
        (None, None) => None,
    })
}

/// Takes the zombie of this very child away, if it is one, and tells the CPU time it used.
pub(super) fn reap(pid: u32) -> Option<CpuTime> {
    let pid = i32::try_from(pid).ok()?;
    let mut status = 0;
    // SAFETY: a zeroed `rusage` is a valid value of that plain struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to locals that live through the call.
    let reaped = unsafe { libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage) };
    let millis = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1000 + u64::try_from(time.tv_usec).unwrap_or(0) / 1000
    };
    (reaped == pid).then(|| CpuTime { user_ms: millis(usage.ru_utime), system_ms: millis(usage.ru_stime) })
}

/// Waits for a child that was just killed.
fn reap_now(pid: u32) {
    if let Some(pid) = rustix_pid(pid) {
        let _gone = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
    }
}

/// SIGKILL to the group. Only while its leader is running or a zombie of ours, else the id may be someone else's.
pub(super) fn kill_group(leader: u32) {
    signal_group(leader, StopSignal::Kill);
}

/// A signal to the group, under the same condition.
pub(super) fn signal_group(leader: u32, signal: StopSignal) {
    let signal = match signal {
        StopSignal::Term => Signal::TERM,
        StopSignal::Int => Signal::INT,
        StopSignal::Hup => Signal::HUP,
        StopSignal::Quit => Signal::QUIT,
        StopSignal::Usr1 => Signal::USR1,
        StopSignal::Usr2 => Signal::USR2,
        StopSignal::Kill => Signal::KILL,
    };
    if let Some(group) = rustix_pid(leader) {
        // No such group: nobody is left to be told.
        let _gone = kill_process_group(group, signal);
    }
}

/// SIGKILL to the process behind this descriptor, whoever has its id by now.
pub(super) fn kill(pidfd: impl AsFd) {
    let _gone = pidfd_send_signal(pidfd, Signal::KILL);
}

/// The worker's own group and session; 0 for one whose leader lives outside the worker's PID namespace, which is also
/// what `/proc/<pid>/stat` shows for it.
pub(super) fn own_group_and_session() -> (u32, u32) {
    // Not rustix's, which take a 0 for impossible.
    let number = |pid: nix::unistd::Pid| u32::try_from(pid.as_raw()).unwrap_or(0);
    (number(nix::unistd::getpgrp()), nix::unistd::getsid(None).map_or(0, number))
}

/// Children that came to the worker because their parent died.
///
/// The kernel gives orphans to the main thread of a subreaper, while a child that was started belongs to the thread
/// that started it, so this list is empty most of the time. Kernels without that file are searched by parent.
pub(super) fn adopted_children() -> Vec<u32> {
    let own = std::process::id();
    match fs::read_to_string(format!("/proc/self/task/{own}/children")) {
        Ok(list) => list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect(),
        Err(_) => all_processes().into_iter().filter(|pid| stat(*pid).is_some_and(|stat| stat.parent == own)).collect(),
    }
}

/// The id of every process that can be seen.
pub(super) fn all_processes() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// What `/proc/<pid>/stat` says; none once the process is reaped.
pub(super) fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The bytes of the environment that a process was started with. None for one in the middle of an `exec` or of its
/// end, which has no place for any.
pub(super) fn environment_bytes(pid: u32) -> Option<usize> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let fields = fields_of_stat(&line)?;
    let number = |field: usize| fields.get(field - 3)?.parse::<usize>().ok();
    let (start, end) = (number(50)?, number(51)?);
    if end == 0 { None } else { end.checked_sub(start) }
}

/// The fields of a line of `/proc/<pid>/stat`, from field 3 of proc(5) on.
fn fields_of_stat(line: &[u8]) -> Option<Vec<&str>> {
    // The program's name stands in parentheses and may itself hold anything, parentheses and spaces included.
    let after_name = line.iter().rposition(|byte| *byte == b')')? + 1;
    Some(std::str::from_utf8(line.get(after_name..)?).ok()?.split_ascii_whitespace().collect())
}

fn parse_stat(line: &[u8]) -> Option<Stat> {
    let fields = fields_of_stat(line)?;
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Stat {
        zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: u32::try_from(number(4)?).ok()?,
        group: u32::try_from(number(5)?).ok()?,
        session: u32::try_from(number(6)?).ok()?,
        start_time: number(22)?,
    })
}

/// The name of a signal, `SIGKILL`; its number when it has none.
pub(super) fn signal_name(signal: i32) -> String {
    nix::sys::signal::Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |known| known.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_is_read_whatever_the_program_is_called() {
        let line = b"77 (a) Z 1 b) S 12 77 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        let stat = parse_stat(line).expect("a whole line");
        assert_eq!(stat, Stat { zombie: false, parent: 12, group: 77, session: 5, start_time: 4242 });
        assert_eq!(parse_stat(b"77 (cut"), None);
        assert_eq!(parse_stat(b"77 (cut) S 1"), None);
    }
}
