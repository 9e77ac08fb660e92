//! What callers ask of the loop: to make, change and remove schedules. An answer is given when all of it is in force.

use weir_shared::flow::Schedule;
use weir_shared::ids::{Owner, ScheduleId};
use weir_shared::schedule::{ChangeSchedule, CreateSchedule, MOST_SCHEDULES, PauseReason};

use super::super::course::{self, Change};
use super::super::flow::reason;
use super::super::schedules::{Command, ScheduleError};
use super::super::wanted;
use super::{Kept, Timekeeper, new_id};
use crate::guard::could_open_gates;
use crate::published::ActiveVersion;
use crate::store::{Origin, ScheduleRecord, Standing};

impl Timekeeper {
    pub(super) async fn execute(&mut self, command: Command) {
        // Whoever asked may have gone; what was asked for is done all the same.
        match command {
            Command::Create { asked, owner, reply } => {
                let _gone = reply.send(self.create(*asked, owner).await);
            }
            Command::Change { id, asked, reply } => {
                let _gone = reply.send(self.change(&id, *asked).await);
            }
            Command::Remove { id, reply } => {
                let _gone = reply.send(self.remove(&id).await);
            }
            #[cfg(test)]
            Command::Look { reply } => {
                self.try_again().await;
                self.turn().await;
                let _gone = reply.send(());
            }
        }
    }

    async fn create(&mut self, asked: CreateSchedule, owner: Owner) -> Result<ScheduleRecord, ScheduleError> {
        let now = self.of.clock.now();
        let (said, timetable) = wanted::created(&asked, now).map_err(ScheduleError::Faults)?;
        let active = self.of.published.active(&asked.workflow_id)?;
        self.judge_run(&said, &active)?;
        let counted = self.kept.values().filter(|kept| kept.record.owner == owner);
        let counts = |kept: &&Kept| matches!(kept.record.standing, Standing::Active | Standing::Paused(_));
        if counted.filter(counts).count() >= MOST_SCHEDULES {
            return Err(ScheduleError::TooMany);
        }
        let record = ScheduleRecord::new(new_id(), (&asked.workflow_id, &owner), (Origin::Api, said), now);
        let record = course::begun(record, &timetable, now);
        self.store(Change { record, fires: Vec::new() }).await
    }

    async fn change(&mut self, id: &ScheduleId, asked: ChangeSchedule) -> Result<ScheduleRecord, ScheduleError> {
        let kept = self.kept.get(id).ok_or_else(|| ScheduleError::Unknown(id.to_string()))?;
        if let Origin::File { .. } = kept.record.origin {
            return Err(ScheduleError::InFile(kept.record.flow.clone()));
        }
        let now = self.of.clock.now();
        let (said, timetable) = wanted::changed(&kept.record, &asked, now).map_err(ScheduleError::Faults)?;
        let before = ScheduleRecord { said, ..kept.record.clone() };
        let found = self.of.published.active(&before.flow);
        if let Ok(active) = &found {
            self.judge_run(&before.said, active)?;
        }
        let obstacle = match &found {
            Ok(active) => self.obstacle(&before, active),
            Err(not) => Some(reason(not.clone())?),
        };
        let times = wanted::changes_times(&kept.record.said, &before.said);
        let is_over = matches!(before.standing, Standing::Completed | Standing::Expired);
        let by_person = before.standing == Standing::Paused(PauseReason::Person);
        let change = match (asked.paused, obstacle) {
            (Some(true), _) if !is_over => course::paused(&before, kept.timetable.as_ref(), (now, PauseReason::Person)),
            (None, _) if by_person => course::restated(&before),
            (_, Some(reason)) if !is_over => course::paused(&before, kept.timetable.as_ref(), (now, reason)),
            (_, _) if times => course::edited(&before, &timetable, now),
            (Some(false), None) if by_person => match &kept.timetable {
                Some(timetable) => course::resumed(&before, timetable, now),
                None => course::edited(&before, &timetable, now),
            },
            (_, _) if before.standing == Standing::Expired && course::expiry(&before).is_none_or(|at| at > now) => {
                course::edited(&before, &timetable, now)
            }
            (_, _) => course::restated(&before),
        };
        let change = if asked.fire_immediately == Some(true) { course::with_extra(change, now) } else { change };
        self.store(change).await
    }

    async fn remove(&mut self, id: &ScheduleId) -> Result<ScheduleRecord, ScheduleError> {
        let kept = self.kept.get(id).ok_or_else(|| ScheduleError::Unknown(id.to_string()))?;
        let record = kept.record.clone();
        if let Origin::File { .. } = record.origin {
            return Err(ScheduleError::InFile(record.flow));
        }
        self.of.store.remove_schedule(id.clone()).await?;
        self.kept.remove(id);
        self.troubles.all().remove(id);
        Ok(record)
    }

    /// Stores a change that somebody waits for, and tells the record as it is then.
    async fn store(&mut self, change: Change) -> Result<ScheduleRecord, ScheduleError> {
        let id = change.record.id.clone();
        if !self.of.store.put_schedule(change.record.clone(), change.fires.clone()).await? {
            self.read_again(&id);
            return Err(ScheduleError::Unknown(id.to_string()));
        }
        self.keep(change);
        self.turn().await;
        self.kept.get(&id).map(|kept| kept.record.clone()).ok_or_else(|| ScheduleError::Unknown(id.to_string()))
    }

    /// Refuses inputs that do not fit the flow, and steps that could open a gate.
    fn judge_run(&self, said: &Schedule, active: &ActiveVersion) -> Result<(), ScheduleError> {
        wanted::check_inputs(&active.flow, said).map_err(ScheduleError::Inputs)?;
        let mode = wanted::mode(said);
        let steps = could_open_gates(&active.plan, &self.of.toolbox.catalog(), mode);
        if steps.is_empty() { Ok(()) } else { Err(ScheduleError::CouldOpenGates { steps, mode }) }
    }
}
