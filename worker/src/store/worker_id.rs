//! The name of this store's worker, made once with the store: it marks the worker's processes and its cookies, so
//! that two workers on one machine never take each other's.

use std::fmt;
use std::str::FromStr;

/// A UUID in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct WorkerId(String);

impl WorkerId {
    /// A new name, unlike any other.
    pub(super) fn new() -> Self {
        Self(uuid::Uuid::now_v7().to_string())
    }

    /// The name as it stands in the environment of processes and in cookies.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for WorkerId {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        uuid::Uuid::parse_str(text).map(|id| Self(id.to_string()))
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
