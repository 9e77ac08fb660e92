//! How often a trigger is called, and how often a peer guesses.
//!
//! Both count in memory: after a restart everybody begins anew. What is counted is bounded by the triggers there are,
//! and by the peers of the last minutes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::clock::{Clock as _, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use weir_shared::ids::TriggerId;
use weir_shared::webhook::RateLimit;

/// Wrong secrets of one peer in a minute, and at once.
const WRONG_PER_MINUTE: NonZeroU32 = NonZeroU32::new(10).unwrap();
/// Peers that are remembered before those that have been quiet are forgotten.
const PEERS: usize = 1024;

type Instant = <MonotonicClock as governor::clock::Clock>::Instant;
type Calls = RateLimiter<NotKeyed, InMemoryState, MonotonicClock, NoOpMiddleware<Instant>>;
type Guesses = RateLimiter<IpAddr, HashMapStateStore<IpAddr>, MonotonicClock, NoOpMiddleware<Instant>>;

/// Both limits.
pub(crate) struct Limits {
    calls: Mutex<HashMap<TriggerId, (RateLimit, Arc<Calls>)>>,
    guesses: Guesses,
}

/// Too often: when to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooOften {
    pub(crate) retry_after: Duration,
}

impl TooOften {
    /// Whole seconds until then, at least one.
    pub(crate) fn seconds(self) -> u64 {
        self.retry_after.as_secs() + 1
    }
}

impl Limits {
    pub(crate) fn new() -> Self {
        let quota = Quota::per_minute(WRONG_PER_MINUTE);
        let guesses = RateLimiter::new(quota, HashMapStateStore::default(), MonotonicClock);
        Self { calls: Mutex::default(), guesses }
    }

    /// Counts a call of a trigger that is limited like this.
    pub(crate) fn call(&self, trigger: &TriggerId, limit: RateLimit) -> Result<(), TooOften> {
        let calls = {
            let mut all = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            let known = all.get(trigger).filter(|(known, _)| *known == limit).map(|(_, calls)| calls.clone());
            known.unwrap_or_else(|| {
                let fresh = Arc::new(RateLimiter::direct_with_clock(quota(limit), MonotonicClock));
                all.insert(trigger.clone(), (limit, Arc::clone(&fresh)));
                fresh
            })
        };
        calls.check().map_err(|until| TooOften { retry_after: until.wait_time_from(MonotonicClock.now()) })
    }

    /// Counts a wrong secret or signature of a peer.
    pub(crate) fn guess(&self, peer: IpAddr) -> Result<(), TooOften> {
        if self.guesses.len() > PEERS {
            self.guesses.retain_recent();
        }
        let counted = self.guesses.check_key(&peer);
        counted.map_err(|until| TooOften { retry_after: until.wait_time_from(MonotonicClock.now()) })
    }

    /// Forgets a trigger that is gone.
    pub(crate) fn forget(&self, trigger: &TriggerId) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(trigger);
    }
}

/// Zero, which creating a trigger refuses, counts as one.
fn quota(limit: RateLimit) -> Quota {
    let at_least_one = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
    Quota::per_minute(at_least_one(limit.per_minute)).allow_burst(at_least_one(limit.burst))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_let_through_and_then_one_at_a_time() {
        let limits = Limits::new();
        let (one, other) = (TriggerId::from_bytes([1; 16]), TriggerId::from_bytes([2; 16]));
        let limit = RateLimit { per_minute: 1, burst: 3 };
        let passed = (0..10).filter(|_| limits.call(&one, limit).is_ok()).count();
        assert_eq!(passed, 3);
        let wait = limits.call(&one, limit).unwrap_err().retry_after;
        assert!(wait > Duration::from_secs(30) && wait <= Duration::from_mins(1), "{wait:?}");
        assert!(limits.call(&other, limit).is_ok(), "another trigger has its own");
        assert!(limits.call(&one, RateLimit { burst: 4, ..limit }).is_ok(), "another limit begins anew");
        limits.forget(&one);
        assert!(limits.call(&one, limit).is_ok());
    }

    #[test]
    fn ten_wrong_secrets_a_minute_and_peer() {
        let limits = Limits::new();
        let (one, other) = ("127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap());
        assert_eq!((0..50).filter(|_| limits.guess(one).is_ok()).count(), 10);
        assert!(limits.guess(other).is_ok());
    }
}
