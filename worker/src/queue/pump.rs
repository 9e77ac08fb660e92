//! The queue itself: who holds a place, who waits for one, and who gets the next.
//!
//! Guarantees: at most `bounds.running` places are held; a place given back goes on at once, with no timer between;
//! a run that comes back from a gate goes ahead of those that have not started. First in, first out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::admission::{Admission, Bounds, CapacityScope, Entrant, admit};

/// The queue. A clone is the same queue.
#[derive(Clone)]
pub(crate) struct Queue(Arc<Mutex<Places>>);

struct Places {
    bounds: Bounds,
    running: usize,
    /// Runs that were parked at a gate and may go on.
    returning: VecDeque<oneshot::Sender<()>>,
    waiting: VecDeque<(Entrant, oneshot::Sender<()>)>,
}

/// A body's place. Dropping it frees it.
pub(crate) struct Place {
    queue: Queue,
    at: At,
}

enum At {
    Waiting(oneshot::Receiver<()>),
    Held,
    /// Given back while the run waits for a person.
    Parked,
}

impl Queue {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let (returning, waiting) = (VecDeque::new(), VecDeque::new());
        Self(Arc::new(Mutex::new(Places { bounds, running: 0, returning, waiting })))
    }

    /// A place for this body, held or waited for.
    pub(crate) fn enter(&self, entrant: Entrant) -> Result<Place, CapacityScope> {
        let mut places = self.places();
        let waiting = places.waiting.iter().map(|(entrant, _)| entrant);
        // Those that come back count as running: they have been admitted, and go first.
        let running = places.running + places.returning.len();
        let at = match admit(&entrant, running, &waiting, &places.bounds)? {
            Admission::Start => {
                places.running += 1;
                At::Held
            }
            Admission::Wait => {
                let (grant, granted) = oneshot::channel();
                places.waiting.push_back((entrant, grant));
                At::Waiting(granted)
            }
        };
        Ok(Place { queue: self.clone(), at })
    }

    /// The place of a run that was parked when the worker before this one ended.
    pub(crate) fn parked(&self) -> Place {
        Place { queue: self.clone(), at: At::Parked }
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    /// Grants free places to whoever is next; one that has gone away is passed over.
    fn grant(&mut self) {
        while self.running < self.bounds.running {
            let next = self.returning.pop_front().or_else(|| self.waiting.pop_front().map(|(_, grant)| grant));
            match next {
                Some(grant) => self.running += usize::from(grant.send(()).is_ok()),
                None => return,
            }
        }
    }

    fn give_back(&mut self) {
        self.running = self.running.saturating_sub(1);
        self.grant();
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
        if let At::Waiting(granted) = &mut self.at {
            // The queue outlives its places and never drops a grant unsent, so an error cannot come.
            if granted.await.is_ok() {
                self.at = At::Held;
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    /// Gives a held place back while the run waits for a person.
    pub(crate) fn park(&mut self) {
        if matches!(self.at, At::Held) {
            self.at = At::Parked;
            self.queue.places().give_back();
        }
    }

    /// Asks for a place again, ahead of bodies that have not started.
    pub(crate) fn come_back(&mut self) {
        if matches!(self.at, At::Parked) {
            let (grant, granted) = oneshot::channel();
            self.at = At::Waiting(granted);
            let mut places = self.queue.places();
            places.returning.push_back(grant);
            places.grant();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let at = std::mem::replace(&mut self.at, At::Parked);
        let mut places = self.queue.places();
        match at {
            At::Held => places.give_back(),
            At::Waiting(mut granted) => {
                // Granted between its last look and now: the place is held after all. Otherwise the closed channel
                // makes `grant` pass it over; its entry is removed so that it does not count as waiting.
                granted.close();
                if granted.try_recv().is_ok() {
                    places.give_back();
                } else {
                    places.waiting.retain(|(_, grant)| !grant.is_closed());
                    places.returning.retain(|grant| !grant.is_closed());
                }
            }
            At::Parked => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_shared::ids::Owner;

    use super::super::admission::Priority;
    use super::*;

    fn entrant() -> Entrant {
        Entrant { owner: Owner::local(), priority: Priority::Interactive }
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
        assert_eq!(queue.places().waiting.len(), 1);
        drop(first);
        third.granted().await;
        drop(third);
        assert_eq!(queue.places().running, 0);
    }

    #[tokio::test]
    async fn a_grant_nobody_looked_at_is_given_back() {
        let queue = queue(1);
        let first = queue.enter(entrant()).unwrap();
        let second = queue.enter(entrant()).unwrap();
        drop(first);
        drop(second);
        assert_eq!(queue.places().running, 0);
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
}
