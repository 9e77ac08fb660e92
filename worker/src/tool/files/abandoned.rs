//! Whether anybody still waits for a call that runs on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Looked at by work that cannot be stopped from outside. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Abandoned(Arc<AtomicBool>);

/// While it is held, somebody waits.
#[derive(Debug)]
pub(crate) struct Waiting(Abandoned);

impl Abandoned {
    /// Work that is abandoned when the other half is dropped.
    pub(crate) fn when_dropped() -> (Waiting, Self) {
        let abandoned = Self::default();
        (Waiting(abandoned.clone()), abandoned)
    }

    /// An error once nobody waits any more; nobody will read it.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.0.load(Ordering::Relaxed) { Err("nobody waits for the result any more".to_owned()) } else { Ok(()) }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
