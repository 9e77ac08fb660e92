//! Running a program to its end and looking at what it said.

use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use crate::wait;

/// What a program said and how it ended.
#[derive(Debug, Clone)]
pub struct Said {
    /// The exit code; 128 and the signal's number when a signal ended it.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a command to its end; one that takes longer than a test is patient is killed and is an error.
pub fn run(command: &mut Command) -> Result<Said> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("cannot start a program")?;
    let pid = i32::try_from(child.id())?;
    let waiting = std::thread::spawn(move || child.wait_with_output());
    let ended = wait::until("the end of a program", wait::PATIENCE, || waiting.is_finished().then_some(()));
    if ended.is_err() {
        crate::processes::signal(pid, nix::sys::signal::Signal::SIGKILL);
    }
    let output: Output = match waiting.join() {
        Ok(output) => output?,
        Err(_) => bail!("the thread that waits for a program has panicked"),
    };
    ended.with_context(|| format!("{command:?} said {output:?}"))?;
    Ok(Said {
        code: code_of(output.status),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// The exit code as a shell tells it.
pub fn code_of(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
