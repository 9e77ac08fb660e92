//! The queue itself: who holds a place, who waits for one, and who gets the next.
//!
//! Guarantees: at most `bounds.running` places are held; a flow's bodies that have started and not ended stay within
//! its limit; a place given back goes on at once, with no timer between; a run that comes back from a gate goes ahead
//! of those that have not started. The order of the others is `line`'s.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::oneshot;
use weir_shared::ids::{FlowId, Owner};
use weir_shared::task::Capacity;

use super::admission::{Admission, AtLimit, Bounds, Entrant, FlowShare, Refused, Room, admit};
use super::capacity::capacity;
use super::line::Line;

/// The queue. A clone is the same queue.
#[derive(Clone)]
pub(crate) struct Queue(Arc<Mutex<Places>>);

pub(super) struct Places {
    pub(super) bounds: Bounds,
    /// Places held, by owner. An owner without one has no entry.
    pub(super) running: BTreeMap<Owner, usize>,
    /// Bodies of each flow that have started and not ended, parked ones included.
    flows: BTreeMap<FlowId, usize>,
    /// Runs that were parked at a gate and may go on.
    pub(super) returning: VecDeque<(Owner, oneshot::Sender<()>)>,
    pub(super) line: Line<Waiting>,
}

/// A body that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    grant: oneshot::Sender<()>,
    pub(super) since: Instant,
}

/// A body's place. Dropping it frees it.
pub(crate) struct Place {
    queue: Queue,
    owner: Owner,
    flow: Option<FlowId>,
    at: At,
}

enum At {
    /// For the first time: its flow does not count it yet.
    Waiting(oneshot::Receiver<()>),
    Held,
    /// Given back while the run waits for a person.
    Parked,
    Returning(oneshot::Receiver<()>),
}

impl Queue {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self(Arc::new(Mutex::new(Places {
            bounds,
            running: BTreeMap::new(),
            flows: BTreeMap::new(),
            returning: VecDeque::new(),
            line: Line::new(),
        })))
    }

    /// A place for this body, held or waited for. Whether there is one is decided and taken in one step.
    pub(crate) fn enter(&self, entrant: Entrant) -> Result<Place, Refused> {
        let mut places = self.places();
        let admission = places.admission(&entrant)?;
        let owner = entrant.owner.clone();
        let flow = entrant.flow.as_ref().map(|share| share.flow.clone());
        let at = match admission {
            Admission::Start => {
                places.begin(&entrant);
                At::Held
            }
            Admission::Wait => {
                let (grant, granted) = oneshot::channel();
                places.line.push(entrant, Waiting { grant, since: Instant::now() });
                At::Waiting(granted)
            }
        };
        Ok(Place { queue: self.clone(), owner, flow, at })
    }

    /// The place of a run that was parked when the worker before this one ended.
    pub(crate) fn parked(&self, owner: Owner, flow: Option<FlowId>) -> Place {
        if let Some(flow) = &flow {
            *self.places().flows.entry(flow.clone()).or_default() += 1;
        }
        Place { queue: self.clone(), owner, flow, at: At::Parked }
    }

    /// What runs and waits, as this owner is told.
    pub(crate) fn capacity(&self, owner: &Owner) -> Capacity {
        capacity(&self.places(), owner, Instant::now())
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    /// Places that are held, or promised to those that come back: they have been admitted, and go first.
    pub(super) fn taken(&self) -> usize {
        self.running.values().sum::<usize>() + self.returning.len()
    }

    fn admission(&self, entrant: &Entrant) -> Result<Admission, Refused> {
        if let Some(FlowShare { flow, limit: Some(limit), at_limit: AtLimit::Refuse }) = &entrant.flow {
            let waits = |other: &Entrant| other.flow.as_ref().is_some_and(|share| share.flow == *flow);
            let waiting = self.line.iter().filter(|(other, _)| waits(other)).count();
            if self.flows.get(flow).copied().unwrap_or_default() + waiting >= *limit {
                return Err(Refused::FlowBusy { flow: flow.clone(), limit: *limit });
            }
        }
        let has_room = self.taken() < self.bounds.running && has_share(&self.flows, entrant);
        let room = if has_room { Room::Free } else { Room::Taken };
        admit(entrant, room, &self.line.iter().map(|(entrant, _)| entrant), &self.bounds).map_err(Refused::Full)
    }

    /// Counts a body that starts.
    fn begin(&mut self, entrant: &Entrant) {
        *self.running.entry(entrant.owner.clone()).or_default() += 1;
        if let Some(share) = &entrant.flow {
            *self.flows.entry(share.flow.clone()).or_default() += 1;
        }
    }

    /// Grants free places to whoever is next; one that has gone away is passed over.
    fn grant(&mut self) {
        while self.running.values().sum::<usize>() < self.bounds.running {
            if let Some((owner, grant)) = self.returning.pop_front() {
                if grant.send(()).is_ok() {
                    *self.running.entry(owner).or_default() += 1;
                }
                continue;
            }
            let flows = &self.flows;
            let Some((entrant, waiting)) = self.line.take(|entrant| has_share(flows, entrant)) else { return };
            if waiting.grant.send(()).is_ok() {
                self.begin(&entrant);
            }
        }
    }

    fn give_back(&mut self, owner: &Owner) {
        take_one(&mut self.running, owner);
    }
}

/// Whether one more body of its flow may start.
fn has_share(flows: &BTreeMap<FlowId, usize>, entrant: &Entrant) -> bool {
    let Some(share) = &entrant.flow else { return true };
    share.limit.is_none_or(|limit| flows.get(&share.flow).copied().unwrap_or_default() < limit)
}

/// Counts one less, and forgets what counts nothing.
fn take_one<K: Ord>(counts: &mut BTreeMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

impl Place {
    /// Whether the body may run.
    pub(crate) fn is_held(&self) -> bool {
        matches!(self.at, At::Held)
    }

    /// Whether the place was given back for as long as the run waits for a person.
    pub(crate) fn is_parked(&self) -> bool {
        matches!(self.at, At::Parked)
    }

    /// Returns once a place that is waited for is granted; never for one that is held or parked.
    pub(crate) async fn granted(&mut self) {
        if let At::Waiting(granted) | At::Returning(granted) = &mut self.at {
            // The queue outlives its places and never drops a grant unsent, so an error cannot come.
            if granted.await.is_ok() {
                self.at = At::Held;
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    /// Gives a held place back while the run waits for a person. Its share of its flow stays its own.
    pub(crate) fn park(&mut self) {
        if matches!(self.at, At::Held) {
            self.at = At::Parked;
            let mut places = self.queue.places();
            places.give_back(&self.owner);
            places.grant();
        }
    }

    /// Asks for a place again, ahead of bodies that have not started.
    pub(crate) fn come_back(&mut self) {
        if matches!(self.at, At::Parked) {
            let (grant, granted) = oneshot::channel();
            self.at = At::Returning(granted);
            let mut places = self.queue.places();
            places.returning.push_back((self.owner.clone(), grant));
            places.grant();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let at = std::mem::replace(&mut self.at, At::Parked);
        let mut places = self.queue.places();
        let has_begun = match at {
            At::Held => {
                places.give_back(&self.owner);
                true
            }
            // Granted between its last look and now: the place is held after all. Otherwise the closed channel makes
            // `grant` pass it over; its entry is removed so that it does not count as waiting.
            At::Waiting(mut granted) => {
                granted.close();
                let is_held = granted.try_recv().is_ok();
                if is_held {
                    places.give_back(&self.owner);
                } else {
                    places.line.retain(|waiting| !waiting.grant.is_closed());
                }
                is_held
            }
            At::Returning(mut granted) => {
                granted.close();
                if granted.try_recv().is_ok() {
                    places.give_back(&self.owner);
                } else {
                    places.returning.retain(|(_, grant)| !grant.is_closed());
                }
                true
            }
            At::Parked => true,
        };
        if has_begun && let Some(flow) = &self.flow {
            take_one(&mut places.flows, flow);
        }
        places.grant();
    }
}

#[cfg(test)]
mod tests {
    use super::super::admission::Priority;
    use super::*;

    fn entrant() -> Entrant {
        Entrant { owner: Owner::local(), priority: Priority::Interactive, flow: None }
    }

    fn of_flow(flow: &str, limit: usize) -> Entrant {
        let share = FlowShare { flow: flow.parse().unwrap(), limit: Some(limit), at_limit: AtLimit::Wait };
        Entrant { flow: Some(share), ..entrant() }
    }

    fn refusing(flow: &str, limit: usize) -> Entrant {
        let share = FlowShare { flow: flow.parse().unwrap(), limit: Some(limit), at_limit: AtLimit::Refuse };
        Entrant { flow: Some(share), ..entrant() }
    }

    fn queue(running: usize) -> Queue {
        Queue::new(Bounds { running, ..Bounds::default() })
    }

    #[tokio::test]
    async fn a_place_given_back_goes_to_the_next_in_line() {
        let queue = queue(1);
        let first = queue.enter(entrant()).unwrap();
        let mut second = queue.enter(entrant()).unwrap();
        let third = queue.enter(entrant()).unwrap();
        assert!(first.is_held() && !second.is_held() && !third.is_held());
        drop(first);
        second.granted().await;
        assert!(second.is_held());
    }

    #[tokio::test]
    async fn one_that_leaves_the_line_frees_its_place_there_and_takes_none_with_it() {
        let queue = queue(1);
        let first = queue.enter(entrant()).unwrap();
        let second = queue.enter(entrant()).unwrap();
        let mut third = queue.enter(entrant()).unwrap();
        drop(second);
        assert_eq!(queue.places().line.iter().count(), 1);
        drop(first);
        third.granted().await;
        drop(third);
        assert_eq!(queue.places().taken(), 0);
    }

    #[tokio::test]
    async fn a_grant_nobody_looked_at_is_given_back() {
        let queue = queue(1);
        let first = queue.enter(entrant()).unwrap();
        let second = queue.enter(entrant()).unwrap();
        drop(first);
        drop(second);
        assert_eq!(queue.places().taken(), 0);
    }

    #[tokio::test]
    async fn a_parked_run_gives_its_place_back_and_goes_first_when_it_returns() {
        let queue = queue(1);
        let mut parked = queue.enter(entrant()).unwrap();
        parked.park();
        let runs = queue.enter(entrant()).unwrap();
        let waits = queue.enter(entrant()).unwrap();
        assert!(runs.is_held());
        parked.come_back();
        drop(runs);
        parked.granted().await;
        assert!(parked.is_held() && !waits.is_held());
    }

    #[tokio::test]
    async fn a_flow_at_its_limit_waits_and_holds_nobody_else_up() {
        let queue = queue(4);
        let mut first = queue.enter(of_flow("a", 1)).unwrap();
        let mut second = queue.enter(of_flow("a", 1)).unwrap();
        let other = queue.enter(of_flow("b", 1)).unwrap();
        assert!(first.is_held() && !second.is_held() && other.is_held());
        // A run that waits for a person is still one of its flow.
        first.park();
        assert_eq!(queue.places().line.iter().count(), 1);
        drop(first);
        second.granted().await;
        drop(second);
        assert!(queue.enter(of_flow("a", 1)).unwrap().is_held());
    }

    #[tokio::test]
    async fn a_flow_that_refuses_at_its_limit_counts_those_that_run_wait_and_are_parked() {
        let queue = queue(1);
        let mut first = queue.enter(refusing("a", 2)).unwrap();
        let second = queue.enter(refusing("a", 2)).unwrap();
        assert!(first.is_held() && !second.is_held(), "there is one place in all");
        let refused = |queue: &Queue| queue.enter(refusing("a", 2)).err();
        let busy = Some(Refused::FlowBusy { flow: "a".parse().unwrap(), limit: 2 });
        assert_eq!(refused(&queue), busy);
        first.park();
        assert_eq!(refused(&queue), busy);
        drop(first);
        assert_eq!(refused(&queue), None);
    }

    #[tokio::test]
    async fn a_run_that_was_parked_before_a_restart_counts_for_its_flow() {
        let queue = queue(4);
        let parked = queue.parked(Owner::local(), Some("a".parse().unwrap()));
        let mut next = queue.enter(of_flow("a", 1)).unwrap();
        assert!(!next.is_held());
        drop(parked);
        next.granted().await;
        assert_eq!(queue.places().flows.len(), 1);
        drop(next);
        assert!(queue.places().flows.is_empty() && queue.places().running.is_empty());
    }
}
