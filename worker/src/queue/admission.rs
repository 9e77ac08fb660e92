//! May another body enter the queue, and does it start or wait. Pure: a function of what runs, what waits and the
//! bounds. It knows nothing of runs, tasks or time.

use weir_shared::ids::{FlowId, Owner};
pub(crate) use weir_shared::task::Priority;

/// Who enters, as far as the bounds care.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entrant {
    pub(crate) owner: Owner,
    pub(crate) priority: Priority,
    pub(crate) flow: Option<FlowShare>,
}

/// The flow that a body runs, and how many bodies of it may have started and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlowShare {
    pub(crate) flow: FlowId,
    /// `concurrency.limit` of its file.
    pub(crate) limit: Option<usize>,
    pub(crate) at_limit: AtLimit,
}

/// What a body meets whose flow has as many as it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtLimit {
    Wait,
    /// Those of its flow that wait count, too.
    Refuse,
}

/// Whether a body could start at once, were it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    Free,
    Taken,
}

/// The bounds, in bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Running at once.
    pub(crate) running: usize,
    /// Waiting in all, and of one owner.
    pub(crate) waiting: Bound,
    /// Waiting batch bodies.
    pub(crate) batch: Bound,
    /// Waiting batch and normal bodies together, so that some places stay for interactive ones.
    pub(crate) non_interactive: Bound,
}

/// One bound, for everybody together and for each owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) all: usize,
    pub(crate) per_owner: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            running: 16,
            waiting: Bound { all: 128, per_owner: 32 },
            batch: Bound { all: 64, per_owner: 16 },
            non_interactive: Bound { all: 96, per_owner: 24 },
        }
    }
}

/// What becomes of a body that may enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    Start,
    Wait,
}

/// Which bound is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CapacityScope {
    Owner,
    Global,
    OwnerPriority,
    GlobalPriority,
}

/// Why a body may not enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A bound is full.
    Full(CapacityScope),
    /// Its flow has as many bodies as it may have.
    FlowBusy { flow: FlowId, limit: usize },
}

impl CapacityScope {
    /// The scope as it stands in the answer.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            CapacityScope::Owner => "owner",
            CapacityScope::Global => "global",
            CapacityScope::OwnerPriority => "owner-priority",
            CapacityScope::GlobalPriority => "global-priority",
        }
    }
}

/// Whether a body may enter beside those that wait, and whether it starts at once. Where there is room, none that
/// waits could have started: each free place is given at once.
pub(crate) fn admit<'a>(
    entrant: &Entrant,
    room: Room,
    waiting: &(impl Iterator<Item = &'a Entrant> + Clone),
    bounds: &Bounds,
) -> Result<Admission, CapacityScope> {
    if room == Room::Free {
        return Ok(Admission::Start);
    }
    let full = |bound: &Bound, counts: fn(Priority) -> bool| {
        let same = waiting.clone().filter(|other| counts(other.priority));
        let (all, own) =
            same.fold((0, 0), |(all, own), other| (all + 1, own + usize::from(other.owner == entrant.owner)));
        (own >= bound.per_owner, all >= bound.all)
    };
    match full(&bounds.waiting, |_| true) {
        (true, _) => return Err(CapacityScope::Owner),
        (_, true) => return Err(CapacityScope::Global),
        (false, false) => {}
    }
    let mut classes = Vec::with_capacity(2);
    if entrant.priority == Priority::Batch {
        classes.push(full(&bounds.batch, |priority| priority == Priority::Batch));
    }
    if entrant.priority != Priority::Interactive {
        classes.push(full(&bounds.non_interactive, |priority| priority != Priority::Interactive));
    }
    for class in classes {
        match class {
            (true, _) => return Err(CapacityScope::OwnerPriority),
            (_, true) => return Err(CapacityScope::GlobalPriority),
            (false, false) => {}
        }
    }
    Ok(Admission::Wait)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn an_entrant() -> impl Strategy<Value = Entrant> {
        let priority = prop_oneof![Just(Priority::Interactive), Just(Priority::Normal), Just(Priority::Batch)];
        (0_u8..8, priority).prop_map(|(owner, priority)| Entrant {
            owner: Owner(format!("o{owner}")),
            priority,
            flow: None,
        })
    }

    proptest! {
        #[test]
        fn no_bound_is_ever_passed_and_places_stay_for_interactive_bodies(
            entrants in proptest::collection::vec(an_entrant(), 0..400),
        ) {
            let bounds = Bounds::default();
            let (mut running, mut waiting) = (0, Vec::<Entrant>::new());
            for entrant in entrants {
                let room = if running < bounds.running { Room::Free } else { Room::Taken };
                match admit(&entrant, room, &waiting.iter(), &bounds) {
                    Ok(Admission::Start) => running += 1,
                    Ok(Admission::Wait) => waiting.push(entrant),
                    Err(_) => prop_assert!(running == bounds.running, "refused while there was room"),
                }
                let count = |which: &dyn Fn(&Entrant) -> bool| waiting.iter().filter(|one| which(one)).count();
                prop_assert!(running <= bounds.running);
                prop_assert!(waiting.len() <= bounds.waiting.all);
                prop_assert!(count(&|one| one.priority == Priority::Batch) <= bounds.batch.all);
                prop_assert!(count(&|one| one.priority != Priority::Interactive) <= bounds.non_interactive.all);
                for owner in 0..8 {
                    let owner = Owner(format!("o{owner}"));
                    prop_assert!(count(&|one| one.owner == owner) <= bounds.waiting.per_owner);
                    let own = |one: &Entrant| one.owner == owner && one.priority != Priority::Interactive;
                    prop_assert!(count(&own) <= bounds.non_interactive.per_owner);
                }
            }
        }
    }

    #[test]
    fn a_full_bound_is_named() {
        let bounds = Bounds::default();
        let one = |owner: &str, priority| Entrant { owner: Owner(owner.to_owned()), priority, flow: None };
        let own: Vec<_> = (0..32).map(|_| one("a", Priority::Interactive)).collect();
        let refused = |entrant: Entrant, waiting: &[Entrant]| admit(&entrant, Room::Taken, &waiting.iter(), &bounds);
        assert_eq!(refused(one("a", Priority::Interactive), &own), Err(CapacityScope::Owner));
        assert_eq!(refused(one("b", Priority::Interactive), &own), Ok(Admission::Wait));
        let batch: Vec<_> = (0..16).map(|_| one("a", Priority::Batch)).collect();
        assert_eq!(refused(one("a", Priority::Batch), &batch), Err(CapacityScope::OwnerPriority));
        assert_eq!(refused(one("a", Priority::Normal), &batch), Ok(Admission::Wait));
        let many: Vec<_> = (0..64).map(|n| one(&format!("o{n}"), Priority::Batch)).collect();
        assert_eq!(refused(one("z", Priority::Batch), &many), Err(CapacityScope::GlobalPriority));
        let most: Vec<_> = (0..128).map(|n| one(&format!("o{n}"), Priority::Interactive)).collect();
        assert_eq!(refused(one("z", Priority::Interactive), &most), Err(CapacityScope::Global));
    }
}
