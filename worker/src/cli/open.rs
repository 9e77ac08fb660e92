//! `weir open`: the page of the running worker, with a code in its address in place of the token.

use std::process::{Command, Stdio};

use clap::Args;
use weir_shared::wire::SessionCode;

use super::connect::Worker;
use super::exit::Exit;
use super::{Done, Place, output};

/// Open the page of the running worker
///
/// Prints an address that lets one browser in, once, within a minute, and opens it where there is a desktop. What is
/// kept of it in a history or a log opens nothing.
#[derive(Debug, Args)]
pub(super) struct Open {
    /// Only print the address
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    place: Place,
}

impl Open {
    pub(super) fn execute(self) -> Done {
        let worker = Worker::find(&self.place.config()?)?;
        let made: SessionCode = worker.post("/api/session/code", &serde_json::json!({}))?;
        let address = worker.url(&format!("/#token={}", made.code));
        output::data(&format!("{address}\n"))?;
        output::tell(&format!("good once, for {} s", made.expires_in_seconds));
        let desktop = ["WAYLAND_DISPLAY", "DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
        if desktop && !self.print {
            browse(&address);
        }
        Ok(Exit::Done)
    }
}

/// Hands the address to the desktop. Whether it opens anything cannot be known; the address was printed.
fn browse(address: &str) {
    let opened =
        Command::new("xdg-open").arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Err(error) = opened {
        output::tell(&format!("xdg-open: {error}"));
    }
}
