//! One-time codes: what `weir open` puts into an address in place of the token, so that a log or a browser's history
//! keeps nothing that still opens anything.
//!
//! A code lives for a minute, in memory only, as a digest, and opens one session.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::token::digest;

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
    until: Instant,
}

impl Codes {
    /// Lets this code open one session, for a while from now.
    pub(crate) fn admit(&self, code: &str, now: Instant) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|code| code.until > now);
        if waiting.len() == MOST {
            waiting.remove(0);
        }
        waiting.push(Waiting { digest: digest(code), until: now + CODE_LIFE });
    }

    /// Whether this code is good; it is not any more after that.
    pub(crate) fn spend(&self, code: &str, now: Instant) -> bool {
        let digest = digest(code);
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|code| code.until > now);
        let found = waiting.iter().position(|code| code.digest == digest);
        found.map(|index| waiting.remove(index)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_opens_once_and_not_after_a_minute() {
        let codes = Codes::default();
        let now = Instant::now();
        codes.admit("a", now);
        codes.admit("b", now);
        assert!(!codes.spend("c", now));
        assert!(codes.spend("a", now));
        assert!(!codes.spend("a", now), "it was spent");
        assert!(!codes.spend("b", now + CODE_LIFE), "it has expired");
    }

    #[test]
    fn only_so_many_wait() {
        let codes = Codes::default();
        let now = Instant::now();
        for code in 0..=MOST {
            codes.admit(&code.to_string(), now);
        }
        assert!(!codes.spend("0", now));
        assert!(codes.spend("1", now) && codes.spend(&MOST.to_string(), now));
    }
}
