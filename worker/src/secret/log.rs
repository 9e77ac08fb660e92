//! The log, with secrets hidden. It is set up before any secret is known, so they are told to it once.

use std::borrow::Cow;
use std::io::{self, Stderr, Write};
use std::sync::OnceLock;

use tracing_subscriber::fmt::MakeWriter;

use super::mask::Masker;

static MASKER: OnceLock<Masker> = OnceLock::new();

/// Hides these secrets in what is logged from now on. The first call counts: secrets are read once a process.
pub(crate) fn hide_in_log(masker: Masker) {
    let _known = MASKER.set(masker);
}

/// What is logged, with secrets hidden.
pub(crate) fn masked_for_log(bytes: &[u8]) -> Cow<'_, [u8]> {
    match MASKER.get().filter(|masker| !masker.is_empty()) {
        Some(masker) => Cow::Owned(masker.bytes(bytes)),
        None => Cow::Borrowed(bytes),
    }
}

/// Standard error, with secrets hidden. An event is written at once, so its edges are no concern.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MaskedLog;

impl<'a> MakeWriter<'a> for MaskedLog {
    type Writer = MaskedStderr;

    fn make_writer(&'a self) -> Self::Writer {
        MaskedStderr(io::stderr())
    }
}

/// What [`MaskedLog`] writes through.
#[derive(Debug)]
pub(crate) struct MaskedStderr(Stderr);

impl Write for MaskedStderr {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.0.write_all(&masked_for_log(event))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
