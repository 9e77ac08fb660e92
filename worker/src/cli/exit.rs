//! How a command ends.

use std::fmt::Display;
use std::process::ExitCode;

/// The exit codes, which are part of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Done,
    Failed,
    /// Wrong use, a wrong configuration, or no worker.
    Usage,
    /// A flow has errors.
    Findings,
    /// A gate is open, and nobody can be asked.
    Gate,
    Cancelled,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Findings => 3,
            Exit::Gate => 4,
            Exit::Cancelled => 130,
        })
    }
}

/// Why a command ends early, and what it says about it.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) exit: Exit,
    pub(super) message: String,
}

impl Stop {
    /// Wrong use.
    pub(super) fn usage(message: &impl Display) -> Self {
        Self { exit: Exit::Usage, message: message.to_string() }
    }

    /// It did not work out.
    pub(super) fn failed(message: &impl Display) -> Self {
        Self { exit: Exit::Failed, message: message.to_string() }
    }
}
