//! Who of those that wait is next. Pure: owners take turns, and within an owner the classes do.
//!
//! In a cycle of seven an owner's bodies start as 4 interactive, 2 normal, 1 batch, first in, first out in each class.
//! A class or an owner with nothing that may start passes its turn on, so that a free place is never left empty and
//! batch bodies always come to theirs (`owner-round-robin-weighted-priority`).

use std::collections::VecDeque;

use weir_shared::ids::Owner;

use super::admission::{Entrant, Priority};

/// The turns of one owner's classes.
const CYCLE: [Priority; 7] = [
    Priority::Interactive,
    Priority::Interactive,
    Priority::Interactive,
    Priority::Interactive,
    Priority::Normal,
    Priority::Normal,
    Priority::Batch,
];

/// Those that wait, each with what belongs to it.
#[derive(Debug)]
pub(super) struct Line<T> {
    /// Owners of whom something waits; whose turn it is stands first.
    owners: VecDeque<OwnersLine<T>>,
}

#[derive(Debug)]
struct OwnersLine<T> {
    owner: Owner,
    /// In the order of their arrival.
    waiting: VecDeque<(Entrant, T)>,
    /// Whose turn it is, in [`CYCLE`].
    turn: usize,
}

impl<T> Line<T> {
    pub(super) fn new() -> Self {
        Self { owners: VecDeque::new() }
    }

    /// All that wait, in no order that matters.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(Entrant, T)> + Clone {
        self.owners.iter().flat_map(|line| line.waiting.iter())
    }

    pub(super) fn push(&mut self, entrant: Entrant, more: T) {
        if let Some(line) = self.owners.iter_mut().find(|line| line.owner == entrant.owner) {
            line.waiting.push_back((entrant, more));
        } else {
            let owner = entrant.owner.clone();
            self.owners.push_back(OwnersLine { owner, waiting: VecDeque::from([(entrant, more)]), turn: 0 });
        }
    }

    /// Takes the next of those that may start.
    pub(super) fn take(&mut self, may_start: impl Fn(&Entrant) -> bool) -> Option<(Entrant, T)> {
        for at in 0..self.owners.len() {
            let Some(taken) = self.owners[at].take(&may_start) else { continue };
            if let Some(line) = self.owners.remove(at)
                && !line.waiting.is_empty()
            {
                self.owners.push_back(line);
            }
            return Some(taken);
        }
        None
    }

    /// Keeps only what the test holds of.
    pub(super) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        for line in &mut self.owners {
            line.waiting.retain(|(_, more)| keep(more));
        }
        self.owners.retain(|line| !line.waiting.is_empty());
    }
}

impl<T> OwnersLine<T> {
    fn take(&mut self, may_start: impl Fn(&Entrant) -> bool) -> Option<(Entrant, T)> {
        for step in 0..CYCLE.len() {
            let turn = (self.turn + step) % CYCLE.len();
            let is_next = |(entrant, _): &(Entrant, T)| entrant.priority == CYCLE[turn] && may_start(entrant);
            let Some(at) = self.waiting.iter().position(is_next) else { continue };
            self.turn = (turn + 1) % CYCLE.len();
            return self.waiting.remove(at);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn entrant(owner: &str, priority: Priority) -> Entrant {
        Entrant { owner: Owner(owner.to_owned()), priority, flow: None }
    }

    fn all(line: &mut Line<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| line.take(|_| true)).map(|(_, name)| name).collect()
    }

    #[test]
    fn four_interactive_two_normal_one_batch_and_so_on() {
        let mut line = Line::new();
        for _ in 0..9 {
            line.push(entrant("a", Priority::Batch), "b");
            line.push(entrant("a", Priority::Normal), "n");
            line.push(entrant("a", Priority::Interactive), "i");
        }
        assert_eq!(all(&mut line).concat(), "iiiinnbiiiinnbinnbnnbnbbbbb");
    }

    #[test]
    fn owners_take_turns_however_much_each_has() {
        let mut line = Line::new();
        for _ in 0..4 {
            line.push(entrant("a", Priority::Batch), "a");
        }
        line.push(entrant("b", Priority::Interactive), "b");
        line.push(entrant("c", Priority::Batch), "c");
        line.push(entrant("c", Priority::Batch), "c");
        assert_eq!(all(&mut line).concat(), "abcacaa");
    }

    #[test]
    fn what_may_not_start_holds_nobody_up() {
        let mut line = Line::new();
        line.push(entrant("a", Priority::Interactive), "held");
        line.push(entrant("a", Priority::Batch), "free");
        let is_batch = |entrant: &Entrant| entrant.priority == Priority::Batch;
        assert_eq!(line.take(is_batch).map(|(_, name)| name), Some("free"));
        assert!(line.take(is_batch).is_none());
        assert_eq!(all(&mut line), ["held"]);
    }

    fn anyone() -> impl Strategy<Value = Entrant> {
        let priority = prop_oneof![Just(Priority::Interactive), Just(Priority::Normal), Just(Priority::Batch)];
        (0_u8..4, priority).prop_map(|(owner, priority)| entrant(&format!("o{owner}"), priority))
    }

    proptest! {
        /// Whatever arrives, and in whatever order places come free.
        #[test]
        fn nothing_waits_without_end(
            entrants in proptest::collection::vec(anyone(), 1..120),
            arrivals in proptest::collection::vec(0_usize..4, 1..60),
        ) {
            let mut line = Line::new();
            // For each that waits: how often its owner was served since, and how often anyone was.
            let mut served: BTreeMap<Owner, usize> = BTreeMap::new();
            let mut entrants = entrants.into_iter().enumerate();
            let mut taken_in_all = 0;
            for arrive in arrivals {
                for (number, entrant) in entrants.by_ref().take(arrive) {
                    let ahead = line.iter().filter(|(other, _)| {
                        other.owner == entrant.owner && other.priority == entrant.priority
                    }).count();
                    let since = served.get(&entrant.owner).copied().unwrap_or_default();
                    line.push(entrant, (number, ahead, since));
                }
                let waits = line.iter().count();
                let Some((entrant, (_, ahead, since))) = line.take(|_| true) else {
                    prop_assert_eq!(waits, 0, "a place stayed empty while something waited");
                    continue;
                };
                taken_in_all += 1;
                let turns = served.entry(entrant.owner.clone()).or_default();
                // In each cycle of seven a class has one turn at least.
                prop_assert!(*turns - since <= (ahead + 1) * CYCLE.len(), "{entrant:?} waited {} turns", *turns - since);
                *turns += 1;
            }
            prop_assert_eq!(served.values().sum::<usize>(), taken_in_all);
        }
    }
}
