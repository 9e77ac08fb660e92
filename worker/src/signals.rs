//! The signals that the worker listens to: SIGTERM and SIGINT end it, SIGHUP lets it read its files again.
//!
//! SIGHUP also comes when a terminal goes away: a worker that was started in it ends with it.

use std::io::IsTerminal;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
pub(crate) enum Asked {
    /// To end; by the signal of this name.
    End(&'static str),
    /// To read again what can change.
    Reload,
}

/// The signals that ask something of the worker.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    had_terminal: bool,
}

impl Signals {
    /// Listens from now on.
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            had_terminal: std::io::stdout().is_terminal(),
        })
    }

    /// The next one.
    pub(crate) async fn any(&mut self) -> Asked {
        tokio::select! {
            _ = self.terminate.recv() => Asked::End("SIGTERM"),
            _ = self.interrupt.recv() => Asked::End("SIGINT"),
            _ = self.hangup.recv() => {
                if self.had_terminal && !std::io::stdout().is_terminal() { Asked::End("SIGHUP") } else { Asked::Reload }
            }
        }
    }

    /// The next one to end.
    pub(crate) async fn next(&mut self) -> &'static str {
        loop {
            if let Asked::End(name) = self.any().await {
                return name;
            }
        }
    }
}
