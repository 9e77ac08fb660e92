//! Where the worker's log goes: standard error, or the journal with all its fields when that is what it leads to.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::secret::MaskedLog;
use crate::service::Journal;

/// What is logged when `WEIR_LOG` does not say.
const DEFAULT: &str = "info";

/// Sends the log to the journal or to standard error, in colour on a terminal that wants it. `WEIR_LOG` chooses what is logged
/// (`debug`, `weir::store=trace`).
pub(super) fn begin() {
    let filter = EnvFilter::try_from_env("WEIR_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    if let Some(journal) = Journal::of_standard_error() {
        tracing_subscriber::registry().with(filter).with(journal).init();
        return;
    }
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal() && !plain)
        .with_writer(MaskedLog)
        .init();
}
