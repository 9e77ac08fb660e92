//! Schedules in line with the flows: those of a file are made, changed and removed with its active version, and all of
//! a flow are paused while there is none.

use std::collections::{BTreeMap, BTreeSet};

use tokio::sync::broadcast::error::RecvError;
use weir_shared::flow::Schedule;
use weir_shared::ids::{FlowId, Owner, ScheduleId};
use weir_shared::schedule::{MOST_SCHEDULES, PauseReason};

use super::super::course::{self, Change};
use super::super::flow::reason;
use super::super::wanted;
use super::{Kept, Settled, Timekeeper, by_id, new_id};
use crate::guard::could_open_gates;
use crate::library::LibraryChange;
use crate::published::{ActiveVersion, NotActive};
use crate::store::{Origin, ScheduleRecord, Standing};

impl Timekeeper {
    /// A change in the library. What was missed of them is looked for in all flows.
    pub(super) async fn follow(&mut self, change: Result<LibraryChange, RecvError>) {
        let flow = match change {
            Ok(LibraryChange::Changed(entry)) => entry.id.clone(),
            Ok(LibraryChange::Removed(id)) => id,
            Err(RecvError::Lagged(_)) => return self.follow_all().await,
            // The library goes after everything that listens to it.
            Err(RecvError::Closed) => return,
        };
        if self.refresh() {
            self.follow_flow(&flow).await;
        }
    }

    pub(super) async fn follow_all(&mut self) {
        if !self.refresh() {
            return;
        }
        let known = self.kept.values().map(|kept| kept.record.flow.clone());
        let flows: BTreeSet<FlowId> =
            self.of.library.list().iter().map(|entry| entry.id.clone()).chain(known).collect();
        for flow in flows {
            self.follow_flow(&flow).await;
        }
    }

    /// Takes over what is stored: a flow that was deleted or renamed has taken its schedules along there, and under
    /// its new name they must not be taken for new. False when the store does not answer, and all is to be followed
    /// again later.
    fn refresh(&mut self) -> bool {
        match self.of.store.schedules() {
            Ok(records) => {
                self.kept = by_id(records);
                self.is_behind = false;
            }
            Err(error) => {
                tracing::error!(%error, "the schedules cannot be read; trying again");
                self.is_behind = true;
            }
        }
        !self.is_behind
    }

    /// Brings the schedules of a flow in line with its active version.
    async fn follow_flow(&mut self, flow: &FlowId) {
        let ids: Vec<ScheduleId> =
            self.kept.iter().filter(|(_, kept)| kept.record.flow == *flow).map(|(id, _)| id.clone()).collect();
        let active = match self.of.published.active(flow) {
            Ok(active) => active,
            Err(not) => {
                for id in ids {
                    self.pause_for(&id, not.clone()).await;
                }
                return;
            }
        };
        let mut in_file = of_file(active.flow.schedules.as_deref().unwrap_or_default());
        for id in ids {
            let Some(kept) = self.kept.get(&id) else { continue };
            match (&kept.record.origin, in_file.remove(&kept.record.origin)) {
                (Origin::File { .. }, None) => {
                    self.forget(&id).await;
                }
                (Origin::File { .. }, Some(said)) if said != kept.record.said => {
                    self.rewrite(&id, said, &active).await;
                }
                (Origin::File { .. }, Some(_)) | (Origin::Api, _) => {
                    self.judge_again(&id, &active).await;
                }
            }
        }
        for (origin, said) in in_file {
            self.register(flow, (origin, said), &active).await;
        }
    }

    /// A schedule that a file has and the store has not.
    async fn register(&mut self, flow: &FlowId, (origin, said): (Origin, Schedule), active: &ActiveVersion) {
        let now = self.of.clock.now();
        let record = ScheduleRecord::new(new_id(), (flow, &Owner::local()), (origin, said), now);
        let Some(timetable) = wanted::timetable_from(&record.said, now) else {
            let change = Change { record, fires: Vec::new() };
            self.commit(course::as_new(change, PauseReason::UnknownTimeZone)).await;
            return;
        };
        let record = course::begun(record, &timetable, now);
        let change = Change { record, fires: Vec::new() };
        let change = match self.obstacle(&change.record, active) {
            Some(reason) => course::as_new(change, reason),
            None => change,
        };
        self.commit(change).await;
    }

    /// A schedule whose file says something else now.
    async fn rewrite(&mut self, id: &ScheduleId, said: Schedule, active: &ActiveVersion) {
        let Some(kept) = self.kept.get(id) else { return };
        let now = self.of.clock.now();
        let changes_times =
            wanted::changes_times(&kept.record.said, &said) || said.expires_at != kept.record.said.expires_at;
        let before = ScheduleRecord { said, ..kept.record.clone() };
        let obstacle = self.obstacle(&before, active);
        let timetable = wanted::timetable_from(&before.said, now);
        let change = match (obstacle, timetable) {
            (Some(reason), _) => course::paused(&before, None, (now, reason)),
            (None, Some(timetable)) if changes_times || before.standing != Standing::Active => {
                course::edited(&before, &timetable, now)
            }
            (None, _) => course::restated(&before),
        };
        self.commit(change).await;
    }

    /// Whether what stood in the way of a schedule still does.
    async fn judge_again(&mut self, id: &ScheduleId, active: &ActiveVersion) {
        let Some(kept) = self.kept.get(id) else { return };
        let obstacle = match kept.record.standing {
            Standing::Active => self.obstacle(&kept.record, active),
            Standing::Paused(PauseReason::Person) | Standing::Completed | Standing::Expired => return,
            Standing::Paused(_) => match self.obstacle(&kept.record, active) {
                None => {
                    let now = self.of.clock.now();
                    if let Some(change) = kept.timetable.as_ref().map(|table| course::resumed(&kept.record, table, now))
                    {
                        self.commit(change).await;
                    }
                    return;
                }
                reason => reason,
            },
        };
        if let Some(reason) = obstacle {
            self.pause(id, reason).await;
        }
    }

    /// What keeps a schedule of a flow that could run from being active.
    pub(super) fn obstacle(&self, record: &ScheduleRecord, active: &ActiveVersion) -> Option<PauseReason> {
        if record.said.enabled == Some(false) {
            return Some(PauseReason::Disabled);
        }
        if wanted::timetable(record).is_none() {
            return Some(PauseReason::UnknownTimeZone);
        }
        if self.could_open_gates(record, active) {
            return Some(PauseReason::CouldOpenGates);
        }
        let is_other = |kept: &&Kept| kept.record.id != record.id && kept.record.owner == record.owner;
        let active = self.kept.values().filter(is_other).filter(|kept| kept.record.standing == Standing::Active);
        (active.count() >= MOST_SCHEDULES).then_some(PauseReason::TooManySchedules)
    }

    /// Whether a run of the schedule could come to stand at a gate that nobody answers.
    pub(super) fn could_open_gates(&self, record: &ScheduleRecord, active: &ActiveVersion) -> bool {
        !could_open_gates(&active.plan, &self.of.toolbox.catalog(), wanted::mode(&record.said)).is_empty()
    }

    /// Pauses a schedule for this reason, unless a person has paused it or it is over.
    pub(super) async fn pause(&mut self, id: &ScheduleId, reason: PauseReason) -> Settled {
        let Some(kept) = self.kept.get(id) else { return Settled::Yes };
        match kept.record.standing {
            Standing::Active => {}
            Standing::Paused(now) if now != reason && now != PauseReason::Person => {}
            Standing::Paused(_) | Standing::Completed | Standing::Expired => return Settled::Yes,
        }
        let change = course::paused(&kept.record, kept.timetable.as_ref(), (self.of.clock.now(), reason));
        self.commit(change).await
    }

    /// Pauses a schedule whose flow has no active version. What the store could not tell is looked for again.
    pub(super) async fn pause_for(&mut self, id: &ScheduleId, not: NotActive) -> Settled {
        match reason(not) {
            Ok(reason) => self.pause(id, reason).await,
            Err(error) => self.trouble(id, &error),
        }
    }

    async fn forget(&mut self, id: &ScheduleId) -> Settled {
        match self.of.store.remove_schedule(id.clone()).await {
            Ok(_) => {
                self.kept.remove(id);
                self.troubles.all().remove(id);
                Settled::Yes
            }
            Err(error) => self.trouble(id, &error),
        }
    }
}

/// The schedules of a file, each by its name and place among those of that name.
fn of_file(schedules: &[Schedule]) -> BTreeMap<Origin, Schedule> {
    let mut by_origin = BTreeMap::new();
    for said in schedules {
        let nth = schedules.iter().take_while(|other| !std::ptr::eq(*other, said));
        let nth = nth.filter(|other| other.name == said.name).count();
        by_origin.insert(Origin::File { name: said.name.clone(), nth }, said.clone());
    }
    by_origin
}
