//! Starting a process inside a control group.
//!
//! The kernel puts a process into a group at its creation only through `clone3`; moving it there afterwards costs ten
//! milliseconds and lets it fork first. No wrapper of that call exists, so this does by hand what `posix_spawn` does:
//! everything that needs memory is made before the fork, and the new process makes plain system calls alone, with all
//! signals blocked, until its `exec`. The parent stands still until then.
#![expect(unsafe_code, reason = "clone3 has no safe wrapper, and what follows a fork is raw calls by nature")]

use std::ffi::{CString, OsStr, c_char, c_int};
use std::io::{self, Read as _};
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;
use std::ptr;

/// Flags and signal of clone(2), in the width that `clone3` takes.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
const CLONE_VFORK: u64 = 0x4000;
const SIGCHLD: u64 = 17;
/// Signals of Linux, from 1.
const SIGNALS: std::ops::RangeInclusive<c_int> = 1..=64;
/// What a new process that could not become its program ends with; nobody sees it.
const NOT_STARTED: c_int = 127;

/// What becomes of the new process, in the form that the kernel takes.
struct Image {
    program: CString,
    directory: CString,
    /// The texts that the two lists point to.
    _texts: Vec<CString>,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    stdio: [RawFd; 3],
    /// Takes the number of an error.
    told: RawFd,
}

/// Starts the command, whose environment is only what was set on it, in a process group of its own and inside this
/// control group. Its id.
pub(super) fn start(command: &Command, directory: &Path, stdio: [&OwnedFd; 3], cgroup: &impl AsFd) -> io::Result<u32> {
    let (mut heard, told) = io::pipe()?;
    let image = Image::of(command, directory, (stdio.map(AsRawFd::as_raw_fd), told.as_raw_fd()))?;
    let pid = fork_into(cgroup, &image)?;
    drop(told);
    let mut error = [0; size_of::<c_int>()];
    match heard.read_exact(&mut error) {
        Ok(()) => {
            super::reap_now(pid);
            Err(io::Error::from_raw_os_error(c_int::from_ne_bytes(error)))
        }
        // Its end was closed by the exec, with nothing said.
        Err(_) => Ok(pid),
    }
}

impl Image {
    fn of(command: &Command, directory: &Path, (stdio, told): ([RawFd; 3], RawFd)) -> io::Result<Self> {
        let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(io::Error::from);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words = words.map(text).collect::<io::Result<Vec<_>>>()?;
        let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let variables = variables
            .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()))
            .collect::<Result<Vec<_>, _>>()?;
        // A text stays where it is when the list that owns it moves.
        let list = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect();
        Ok(Self {
            program: text(command.get_program())?,
            directory: text(directory.as_os_str())?,
            arguments: list(&words),
            environment: list(&variables),
            _texts: words.into_iter().chain(variables).collect(),
            stdio,
            told,
        })
    }
}

/// Forks; the new process becomes what the image says.
fn fork_into(cgroup: &impl AsFd, image: &Image) -> io::Result<u32> {
    let mut arguments = libc::clone_args {
        flags: CLONE_INTO_CGROUP | CLONE_VFORK,
        pidfd: 0,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: SIGCHLD,
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: u64::try_from(cgroup.as_fd().as_raw_fd()).map_err(io::Error::other)?,
    };
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are locals, the first is filled before it is used, and the second is written by the call.
    // A handler of the worker's must not run in the new process: it would wake the worker's own runtime.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    // SAFETY: without CLONE_VM the new process has memory of its own, as after `fork`; it leaves this function by
    // `exec` or `_exit` alone, and calls nothing that could want a lock which another thread held at the fork.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw mut arguments, size_of::<libc::clone_args>()) };
    if pid == 0 {
        become_program(image);
    }
    let error = io::Error::last_os_error();
    // SAFETY: the set was written above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    u32::try_from(pid).map_err(|_| error)
}

/// In the new process: everything up to the `exec`, and word of what failed.
fn become_program(image: &Image) -> ! {
    // SAFETY: every pointer is into `image`, which this process has a copy of; every call is one that signal-safety(7)
    // lists, and none allocates. The descriptors were open at the fork.
    unsafe {
        let failed = !set_up(image);
        if !failed {
            libc::execve(image.program.as_ptr(), image.arguments.as_ptr(), image.environment.as_ptr());
        }
        let error = *libc::__errno_location();
        libc::write(image.told, (&raw const error).cast(), size_of::<c_int>());
        libc::_exit(NOT_STARTED)
    }
}

/// Group, signals, directory and the three streams; false, with `errno` set, when one of them fails.
///
/// # Safety
/// Only between a fork and its `exec`.
unsafe fn set_up(image: &Image) -> bool {
    // SAFETY: as the caller says; the action and the set are locals that the calls fill.
    unsafe {
        for signal in SIGNALS {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            let known = libc::sigaction(signal, ptr::null(), &raw mut action) == 0;
            // What the worker ignores stays ignored, but for the one that Rust ignores on its own account.
            if known && (action.sa_sigaction != libc::SIG_IGN || signal == libc::SIGPIPE) {
                action.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const action, ptr::null_mut());
            }
        }
        for (to, from) in (0..).zip(image.stdio) {
            if libc::dup2(from, to) < 0 {
                return false;
            }
        }
        let mut none = MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::setpgid(0, 0) == 0
            && libc::chdir(image.directory.as_ptr()) == 0
            && libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut()) == 0
    }
}
