//! One-time codes: what `weir open` puts into an address in place of the token, so that a log or a browser's history
//! keeps nothing that still opens anything.
//!
//! A code lives for a minute, in memory only, as a digest, and opens one session of whoever asked for it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::token::{OpenedBy, digest};

/// How long a code is good for.
pub(crate) const CODE_LIFE: Duration = Duration::from_mins(1);
/// Codes that may wait to be used. Of more the oldest goes.
const MOST: usize = 16;

/// The codes that wait to be used.
#[derive(Debug, Default)]
pub(crate) struct Codes(Mutex<Vec<Waiting>>);

#[derive(Debug)]
struct Waiting {
    digest: [u8; 32],
    by: OpenedBy,
    until: Instant,
}

impl Codes {
    /// Lets this code open one session, for a while from now, on the token that asked for it.
    pub(crate) fn admit(&self, code: &str, by: OpenedBy, now: Instant) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|code| code.until > now);
        if waiting.len() == MOST {
            waiting.remove(0);
        }
        waiting.push(Waiting { digest: digest(code), by, until: now + CODE_LIFE });
    }

    /// The token that this code stands on, if it is good; it is not any more after that.
    pub(crate) fn spend(&self, code: &str, now: Instant) -> Option<OpenedBy> {
        let digest = digest(code);
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|code| code.until > now);
        let found = waiting.iter().position(|code| code.digest == digest);
        found.map(|index| waiting.remove(index).by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_opens_once_and_not_after_a_minute() {
        let codes = Codes::default();
        let now = Instant::now();
        codes.admit("a", OpenedBy::Named([7; 32]), now);
        codes.admit("b", OpenedBy::Local, now);
        assert_eq!(codes.spend("c", now), None);
        assert_eq!(codes.spend("a", now), Some(OpenedBy::Named([7; 32])));
        assert_eq!(codes.spend("a", now), None, "it was spent");
        assert_eq!(codes.spend("b", now + CODE_LIFE), None, "it has expired");
    }

    #[test]
    fn only_so_many_wait() {
        let codes = Codes::default();
        let now = Instant::now();
        for code in 0..=MOST {
            codes.admit(&code.to_string(), OpenedBy::Local, now);
        }
        assert_eq!(codes.spend("0", now), None);
        assert_eq!(codes.spend("1", now), Some(OpenedBy::Local));
        assert_eq!(codes.spend(&MOST.to_string(), now), Some(OpenedBy::Local));
    }
}
