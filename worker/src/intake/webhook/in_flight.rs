//! Calls with one event go one after another, so that only one of them holds a place in the queue; the others find the
//! event claimed, or their turn to try. The store alone decides who claims it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};
use weir_shared::ids::TriggerId;

use crate::store::EventDigest;

type Key = (TriggerId, EventDigest);

/// Events whose calls are being answered. Bounded by the calls themselves: an event without one has no entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashMap<Key, Arc<Turn<()>>>>>);

/// That a call with this event is being answered. Dropping it lets the next one.
#[derive(Debug)]
pub(crate) struct Flight {
    all: InFlight,
    key: Key,
    turn: Option<OwnedMutexGuard<()>>,
}

impl InFlight {
    /// Waits until no other call with this event is being answered.
    pub(crate) async fn take_turn(&self, trigger: &TriggerId, event: EventDigest) -> Flight {
        let key = (trigger.clone(), event);
        let turn = Arc::clone(self.all().entry(key.clone()).or_default());
        // Made before the wait, so that a caller that goes away while it waits leaves nothing behind.
        let mut flight = Flight { all: self.clone(), key, turn: None };
        flight.turn = Some(turn.lock_owned().await);
        flight
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Key, Arc<Turn<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let mut all = self.all.all();
        drop(self.turn.take());
        // Whoever else holds it waits for its turn, and will be here after it.
        if all.get(&self.key).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            all.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn calls_with_one_event_go_one_after_another_and_leave_nothing_behind() {
        let flights = InFlight::default();
        let trigger = TriggerId::from_bytes([1; 16]);
        let inside = AtomicUsize::new(0);
        let call = |event: u8| {
            let (flights, trigger, inside) = (&flights, &trigger, &inside);
            async move {
                let _turn = flights.take_turn(trigger, [event; 32]).await;
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                tokio::task::yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
            }
        };
        futures_util::future::join_all((0..20).map(|_| call(1))).await;
        assert!(flights.all().is_empty());

        // One that goes away while it waits.
        let first = flights.take_turn(&trigger, [2; 32]).await;
        let waits = flights.take_turn(&trigger, [2; 32]);
        assert!(futures_util::FutureExt::now_or_never(waits).is_none());
        let other = flights.take_turn(&trigger, [3; 32]).await;
        drop((first, other));
        assert!(flights.all().is_empty());
    }
}
