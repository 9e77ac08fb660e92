//! What runs and what waits, in numbers. Pure.

use std::time::Instant;

use weir_shared::ids::Owner;
use weir_shared::task::{Capacity, SCHEDULING_POLICY};

use super::admission::{Entrant, Priority};
use super::pump::{Places, Waiting};

/// The numbers at this moment, with those of this owner.
pub(super) fn capacity(places: &Places, owner: &Owner, now: Instant) -> Capacity {
    let waiting = |counts: &dyn Fn(&Entrant) -> bool| -> (usize, u64) {
        let those = places.line.iter().filter(|(entrant, _)| counts(entrant));
        those.fold((0, 0), |(count, oldest), (_, waiting)| (count + 1, oldest.max(waited(waiting, now))))
    };
    let of = |priority: Priority| waiting(&|entrant| entrant.priority == priority);
    let own = |entrant: &Entrant| entrant.owner == *owner;
    let own_of = |priority: Priority| waiting(&|entrant| own(entrant) && entrant.priority == priority).0;

    let bounds = &places.bounds;
    let (queued, oldest) = waiting(&|_| true);
    let (interactive, oldest_interactive) = of(Priority::Interactive);
    let (normal, oldest_normal) = of(Priority::Normal);
    let (batch, oldest_batch) = of(Priority::Batch);
    let (owned_queued, _) = waiting(&own);
    let available = bounds.running.saturating_sub(places.taken());
    let owned_queue_available =
        bounds.waiting.per_owner.saturating_sub(owned_queued).min(bounds.waiting.all.saturating_sub(queued));
    let mut owners: Vec<&Owner> = places.line.iter().map(|(entrant, _)| &entrant.owner).collect();
    owners.extend(places.running.keys().chain(places.returning.iter().map(|(owner, _)| owner)));
    owners.sort_unstable();
    owners.dedup();
    Capacity {
        running: places.running.values().sum(),
        queued: queued + places.returning.len(),
        running_limit: bounds.running,
        queue_limit: bounds.waiting.all,
        available,
        owned_running: places.running.get(owner).copied().unwrap_or_default(),
        owned_queued,
        owner_queue_limit: bounds.waiting.per_owner,
        owned_queue_available,
        owner_saturated: available == 0 && owned_queue_available == 0,
        batch_queue_limit: bounds.batch.all,
        non_interactive_queue_limit: bounds.non_interactive.all,
        owner_batch_queue_limit: bounds.batch.per_owner,
        owner_non_interactive_queue_limit: bounds.non_interactive.per_owner,
        queued_interactive: interactive,
        queued_normal: normal,
        queued_batch: batch,
        owned_queued_interactive: own_of(Priority::Interactive),
        owned_queued_normal: own_of(Priority::Normal),
        owned_queued_batch: own_of(Priority::Batch),
        active_owners: owners.len(),
        oldest_queue_wait_ms: oldest,
        oldest_interactive_queue_wait_ms: oldest_interactive,
        oldest_normal_queue_wait_ms: oldest_normal,
        oldest_batch_queue_wait_ms: oldest_batch,
        saturated: available == 0 && queued >= bounds.waiting.all,
        scheduling_policy: SCHEDULING_POLICY.to_owned(),
    }
}

fn waited(waiting: &Waiting, now: Instant) -> u64 {
    u64::try_from(now.saturating_duration_since(waiting.since).as_millis()).unwrap_or(u64::MAX)
}
