//! Where the worker's log goes: standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::secret::MaskedLog;

/// What is logged when `WEIR_LOG` does not say.
const DEFAULT: &str = "info";

/// Sends the log to standard error, in colour on a terminal that wants it. `WEIR_LOG` chooses what is logged
/// (`debug`, `weir::store=trace`).
pub(super) fn to_standard_error() {
    let filter = EnvFilter::try_from_env("WEIR_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal() && !plain)
        .with_writer(MaskedLog)
        .init();
}
