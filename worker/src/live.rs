//! A value that is read often and replaced as a whole now and then.

use std::sync::{Arc, PoisonError, RwLock};

/// The value as it is now. A clone is the same value, and sees it replaced.
#[derive(Debug, Default)]
pub(crate) struct Live<T>(Arc<RwLock<Arc<T>>>);

impl<T> Clone for Live<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Live<T> {
    /// Begins with this value.
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(value))))
    }

    /// The value of this moment, whole, for as long as it is held.
    pub(crate) fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts another in its place. Who holds the old one keeps it.
    pub(crate) fn replace(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(value);
    }
}
