//! `weir serve`: the worker, its API and its page.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Stop};
use super::{Done, configuration, log};
use crate::config::Key;
use crate::daemon::{self, Ended, Start, StartError};

/// Run the worker, its API and its page
///
/// Prints one line with the address to open; on a terminal that line holds the token, so that a click lets you in.
/// SIGTERM or Ctrl-C lets running steps finish for a while; a second one ends them at once.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Directory of the flow files [default: flows]
    #[arg(long, value_name = "DIR")]
    flows: Option<PathBuf>,
    /// Directory for the store, the runs and the token [default: `$XDG_STATE_HOME/weir`]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Address to listen on [default: 127.0.0.1:9347]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Serve this build of the page in place of the embedded one
    #[arg(long, value_name = "DIR")]
    page: Option<PathBuf>,
    /// Trust this plugin as its folder is now; again for each
    #[arg(long, value_name = "PLUGIN")]
    trust: Vec<String>,
    /// Listen on more than loopback although whoever can read the network can read the token
    #[arg(long)]
    i_understand_plain_http: bool,
}

impl Serve {
    pub(super) fn execute(self) -> Done {
        let path = |key, path: &Option<PathBuf>| path.as_ref().map(|path| (key, path.display().to_string()));
        let flags = [
            path(Key::Flows, &self.flows),
            path(Key::State, &self.state),
            self.listen.clone().map(|listen| (Key::Listen, listen)),
            path(Key::Page, &self.page),
        ];
        let flags: Vec<(Key, String)> = flags.into_iter().flatten().collect();
        let config = configuration(flags.clone())?;
        if !is_private(config.listen) && !self.i_understand_plain_http {
            return Err(Stop::usage(&format!(
                "{} can be reached from elsewhere, and the API speaks plain HTTP: put TLS in front and listen on \
                 loopback, or add --i-understand-plain-http",
                config.listen
            )));
        }
        log::begin();
        match daemon::run(Start { config, flags, trusted: self.trust }) {
            Ok(Ended::Asked) => Ok(Exit::Done),
            Ok(Ended::Broken) => Ok(Exit::Failed),
            Err(
                error @ (StartError::State(_)
                | StartError::Store(_)
                | StartError::Secrets(_)
                | StartError::Tokens(_)
                | StartError::Listen { .. }
                | StartError::Trust(_)),
            ) => Err(Stop::usage(&error)),
            Err(error @ (StartError::Parts(_) | StartError::Schedules(_) | StartError::Io(_))) => {
                Err(Stop::failed(&error))
            }
        }
    }
}

fn is_private(address: SocketAddr) -> bool {
    address.ip().is_loopback()
}
