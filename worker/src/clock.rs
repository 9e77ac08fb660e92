//! Wall-clock time behind a door, so that tests can set it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use weir_shared::ids::Timestamp;

/// Where the time comes from. Durations are measured with `Instant`, never with this.
#[derive(Clone)]
pub(crate) struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The system's clock.
    pub(crate) fn system() -> Self {
        Self(Arc::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
        }))
    }

    /// A clock that shows what it is set to.
    #[cfg(test)]
    pub(crate) fn set_by(hand: Arc<std::sync::atomic::AtomicI64>) -> Self {
        Self(Arc::new(move || Timestamp(hand.load(std::sync::atomic::Ordering::SeqCst))))
    }

    /// Now, in milliseconds.
    pub(crate) fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}
