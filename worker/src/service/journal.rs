//! The log for journald, event by event with its fields (`WEIR_RUN_ID=`), in place of lines on standard error.
//!
//! The journal's own protocol is a datagram of `NAME=value` lines; a value with line breaks stands behind its length.
//! Secrets are hidden in every value, which is why no ready-made layer is used: none lets values through a filter.

use std::env;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::secret::masked_for_log;

/// Where journald listens.
const SOCKET: &str = "/run/systemd/journal/socket";
/// Bytes of a value that are sent: a datagram has to fit in what the kernel lets through.
const VALUE_BYTES: usize = 16 * 1024;

/// Sends every event to journald.
#[derive(Debug)]
pub(crate) struct Journal(UnixDatagram);

impl Journal {
    /// The journal, when standard error leads there.
    pub(crate) fn of_standard_error() -> Option<Self> {
        let stream = env::var("JOURNAL_STREAM").ok()?;
        let error = File::from(io::stderr().as_fd().try_clone_to_owned().ok()?);
        let marks = error.metadata().ok()?;
        (stream == format!("{}:{}", marks.dev(), marks.ino())).then_some(())?;
        Self::at(Path::new(SOCKET)).ok()
    }

    fn at(socket: &Path) -> io::Result<Self> {
        let datagrams = UnixDatagram::unbound()?;
        datagrams.connect(socket)?;
        Ok(Self(datagrams))
    }
}

impl<S: Subscriber> Layer<S> for Journal {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut entry = Entry::of(event.metadata().target(), *event.metadata().level());
        event.record(&mut entry);
        // There is nowhere to say that the log cannot be written.
        let _lost = self.0.send(&entry.finish());
    }
}

/// One event on its way.
struct Entry {
    message: String,
    fields: Vec<u8>,
}

impl Entry {
    fn of(target: &str, level: Level) -> Self {
        let priority = match level {
            Level::ERROR => "3",
            Level::WARN => "4",
            Level::INFO => "6",
            Level::DEBUG | Level::TRACE => "7",
        };
        let mut entry = Self { message: String::new(), fields: Vec::new() };
        entry.put("PRIORITY", priority);
        entry.put("SYSLOG_IDENTIFIER", "weir");
        entry.put("WEIR_TARGET", target);
        entry
    }

    fn put(&mut self, name: &str, value: &str) {
        let masked = masked_for_log(value.as_bytes());
        let value = &masked[..masked.len().min(VALUE_BYTES)];
        self.fields.extend_from_slice(name.as_bytes());
        if value.contains(&b'\n') {
            self.fields.push(b'\n');
            self.fields.extend_from_slice(&(value.len() as u64).to_le_bytes());
        } else {
            self.fields.push(b'=');
        }
        self.fields.extend_from_slice(value);
        self.fields.push(b'\n');
    }

    fn add(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message.insert_str(0, value);
        } else {
            // As it stands in the log's lines: who reads the journal without its fields misses nothing.
            let _always_fits = write!(self.message, " {}={value}", field.name());
            self.put(&name_of(field.name()), value);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        let message = std::mem::take(&mut self.message);
        self.put("MESSAGE", &message);
        self.fields
    }
}

/// A field's name in the journal: capitals, digits and `_`, and ours to tell from others'.
fn name_of(field: &str) -> String {
    let name = match field {
        "run" => "run_id",
        "step" => "step_index",
        other => other,
    };
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    std::iter::once("WEIR_".to_owned()).chain(letters.map(String::from)).collect()
}

impl Visit for Entry {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn an_event_has_its_fields() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let journald = UnixDatagram::bind(&path).unwrap();
        journald.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let subscriber = tracing_subscriber::registry().with(Journal::at(&path).unwrap());
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!(run = "r-1", step = 2, error = "two\nlines", "it broke");
        });
        let mut bytes = vec![0; 64 * 1024];
        let length = journald.recv(&mut bytes).unwrap();
        let entry = &bytes[..length];
        let text = String::from_utf8_lossy(entry);
        for line in ["PRIORITY=3", "SYSLOG_IDENTIFIER=weir", "WEIR_RUN_ID=r-1", "WEIR_STEP_INDEX=2"] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        let multiline: &[u8] = b"WEIR_ERROR\n\x09\0\0\0\0\0\0\0two\nlines\n";
        assert!(entry.windows(multiline.len()).any(|window| window == multiline), "{text}");
        assert!(text.contains("it broke run=r-1 step=2 error=two\nlines"), "{text}");
    }
}
