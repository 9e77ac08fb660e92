//! [`Schedules`]: what the rest of the worker holds. Changes go through the one loop that fires; what is shown is read
//! from the store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot};
use weir_shared::finding::Fault;
use weir_shared::flow::PermissionMode;
use weir_shared::ids::{FlowId, Owner, ScheduleId, Timestamp};
use weir_shared::schedule::{
    ChangeSchedule, CreateSchedule, Fire, MOST_SCHEDULES, Preview, PreviewRequest, ScheduleRow,
};

use super::alarm::Alarm;
use super::calendar::{Timetable, moment_of};
use super::preview::{judged, preview};
use super::row::row;
use super::timekeeper::Timekeeper;
use super::wanted;
use crate::clock::Clock;
use crate::engine::Runs;
use crate::guard::modes;
use crate::library::Library;
use crate::published::{NotActive, Published};
use crate::shutdown::ShutdownWatch;
use crate::store::{ScheduleRecord, Store, StoreError};
use crate::tool::Toolbox;

/// Changes that may wait for the loop. Whoever asks for one more waits.
const COMMANDS: usize = 64;

/// What schedules are made of.
#[derive(Clone)]
pub(crate) struct SchedulesOf {
    pub(crate) store: Store,
    pub(crate) library: Library,
    pub(crate) published: Published,
    pub(crate) runs: Runs,
    pub(crate) toolbox: Toolbox,
    pub(crate) clock: Clock,
    pub(crate) shutdown: ShutdownWatch,
}

/// The schedules of this worker. A clone is the same schedules.
#[derive(Clone)]
pub(crate) struct Schedules {
    of: SchedulesOf,
    commands: mpsc::Sender<Command>,
    troubles: Troubles,
}

/// What the store could not be told: the last error of schedules whose record could not be written.
#[derive(Debug, Clone, Default)]
pub(super) struct Troubles(Arc<Mutex<BTreeMap<ScheduleId, String>>>);

impl Troubles {
    pub(super) fn all(&self) -> MutexGuard<'_, BTreeMap<ScheduleId, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the loop is asked to do, and where the answer goes.
pub(super) enum Command {
    Create {
        asked: Box<CreateSchedule>,
        owner: Owner,
        reply: Reply<ScheduleRecord>,
    },
    Change {
        id: ScheduleId,
        asked: Box<ChangeSchedule>,
        reply: Reply<ScheduleRecord>,
    },
    Remove {
        id: ScheduleId,
        reply: Reply<ScheduleRecord>,
    },
    /// Look at everything now; answered when all of it is settled.
    #[cfg(test)]
    Look {
        reply: oneshot::Sender<()>,
    },
}

pub(super) type Reply<T> = oneshot::Sender<Result<T, ScheduleError>>;

/// Why a schedule is not made, shown or changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScheduleError {
    #[error("there is no schedule `{0}`")]
    Unknown(String),
    #[error("this schedule lives in the file of its flow `{0}`; change it there and publish")]
    InFile(FlowId),
    #[error(transparent)]
    Flow(#[from] NotActive),
    #[error("this is no schedule")]
    Faults(Vec<Fault>),
    #[error("the inputs do not fit the flow")]
    Inputs(Vec<Fault>),
    #[error(
        "nobody is there to answer a gate, and in the mode {} one could open at: {}; choose a mode that allows them, \
         or take the approval away",
        modes::name(*mode),
        steps.join(", ")
    )]
    CouldOpenGates { steps: Vec<String>, mode: PermissionMode },
    #[error("this owner has {MOST_SCHEDULES} schedules; delete one that is no longer used")]
    TooMany,
    #[error("the worker is stopping")]
    Stopping,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why the schedules cannot be kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("there is no timer for the schedules: {0}")]
    Timer(std::io::Error),
    #[error("the schedules cannot be read: {0}")]
    Store(#[from] StoreError),
}

impl Schedules {
    /// The schedules, and the loop that keeps them, which is to be run. Needs the runtime.
    pub(crate) fn open(of: SchedulesOf) -> Result<(Self, impl Future<Output = ()> + Send + 'static), OpenError> {
        let (commands, received) = mpsc::channel(COMMANDS);
        let troubles = Troubles::default();
        let keeper = Timekeeper::of(of.clone(), troubles.clone())?;
        let alarm = Alarm::new().map_err(OpenError::Timer)?;
        Ok((Self { of, commands, troubles }, keeper.work(alarm, received)))
    }

    /// Makes a schedule for this owner. It is in force when this returns.
    pub(crate) async fn create(&self, asked: CreateSchedule, owner: Owner) -> Result<ScheduleRow, ScheduleError> {
        let record = self.ask(|reply| Command::Create { asked: Box::new(asked), owner, reply }).await?;
        Ok(self.shown(record))
    }

    /// Changes a schedule, which takes effect at once.
    pub(crate) async fn change(
        &self,
        id: &str,
        asked: ChangeSchedule,
        owner: Option<&Owner>,
    ) -> Result<ScheduleRow, ScheduleError> {
        let id = self.visible(id, owner)?.id;
        let record = self.ask(|reply| Command::Change { id, asked: Box::new(asked), reply }).await?;
        Ok(self.shown(record))
    }

    /// Removes a schedule and tells what it was. Runs that it started go on.
    pub(crate) async fn remove(&self, id: &str, owner: Option<&Owner>) -> Result<ScheduleRow, ScheduleError> {
        let id = self.visible(id, owner)?.id;
        Ok(self.shown(self.ask(|reply| Command::Remove { id, reply }).await?))
    }

    /// The schedules of this owner, or of all, oldest first.
    pub(crate) fn list(&self, owner: Option<&Owner>) -> Result<Vec<ScheduleRow>, ScheduleError> {
        let records = self.of.store.schedules()?.into_iter();
        let visible = records.filter(|record| owner.is_none_or(|owner| record.owner == *owner));
        Ok(visible.map(|record| self.shown(record)).collect())
    }

    /// One schedule.
    pub(crate) fn get(&self, id: &str, owner: Option<&Owner>) -> Result<ScheduleRow, ScheduleError> {
        Ok(self.shown(self.visible(id, owner)?))
    }

    /// What became of the newest occurrences of a schedule, newest first.
    pub(crate) fn fires(&self, id: &str, (owner, limit): (Option<&Owner>, usize)) -> Result<Vec<Fire>, ScheduleError> {
        Ok(self.of.store.fires(&self.visible(id, owner)?.id, limit)?)
    }

    /// The next fires of a schedule, were it active.
    pub(crate) fn preview(
        &self,
        id: &str,
        (owner, count): (Option<&Owner>, Option<usize>),
    ) -> Result<Preview, ScheduleError> {
        let record = self.visible(id, owner)?;
        let timetable = wanted::timetable(&record).ok_or_else(|| {
            let faults = judged(weir_shared::recurrence::RuleText::of(&record.said), record.said.time_zone.as_deref());
            ScheduleError::Faults(faults.err().unwrap_or_default())
        })?;
        Ok(preview(&timetable, self.of.clock.now(), count))
    }

    /// The next fires of a rule that belongs to no schedule.
    pub(crate) fn preview_of(&self, asked: &PreviewRequest) -> Result<Preview, ScheduleError> {
        let (rule, zone) = judged(asked.rule(), asked.time_zone.as_deref()).map_err(ScheduleError::Faults)?;
        let from = asked.from.unwrap_or_else(|| self.of.clock.now());
        Ok(preview(&Timetable::beginning(rule, zone, moment_of(from)), from, asked.count))
    }

    /// When each flow with an active schedule fires next.
    pub(crate) fn next_fires(&self) -> Result<BTreeMap<FlowId, Timestamp>, StoreError> {
        let mut next: BTreeMap<FlowId, Timestamp> = BTreeMap::new();
        for record in self.of.store.schedules()? {
            if let Some(at) = record.next {
                next.entry(record.flow).and_modify(|earliest| *earliest = at.min(*earliest)).or_insert(at);
            }
        }
        Ok(next)
    }

    /// Looks at everything now. Returns when all of it is settled.
    #[cfg(test)]
    pub(crate) async fn look(&self) {
        let (reply, done) = oneshot::channel();
        self.commands.send(Command::Look { reply }).await.unwrap();
        done.await.unwrap();
    }

    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, ScheduleError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| ScheduleError::Stopping)?;
        answer.await.unwrap_or(Err(ScheduleError::Stopping))
    }

    /// The schedule of this id, if this owner sees it. Another's looks like it does not exist.
    fn visible(&self, id: &str, owner: Option<&Owner>) -> Result<ScheduleRecord, ScheduleError> {
        let unknown = || ScheduleError::Unknown(id.to_owned());
        let record = self.of.store.schedule(&id.parse().map_err(|_| unknown())?)?.ok_or_else(unknown)?;
        if owner.is_none_or(|owner| record.owner == *owner) { Ok(record) } else { Err(unknown()) }
    }

    fn shown(&self, record: ScheduleRecord) -> ScheduleRow {
        let active = self.of.published.active(&record.flow).ok();
        let trouble = self.troubles.all().get(&record.id).cloned();
        let mut row = row(record, active.as_ref().and_then(|active| active.flow.inputs.as_ref()));
        row.last_error = trouble.or(row.last_error);
        row
    }
}
