//! The one loop that fires schedules. It owns their records, and everything that changes one goes through it: callers,
//! published versions, the end of a run, and the time. `course` decides; here it is done.
//!
//! There is one timer, set for the earliest thing that is due, and nothing polls. A schedule whose record could not be
//! written is left alone until the store answers again; the others go on.
//!
//! - `follow`: schedules in line with the flows
//! - `commands`: what callers ask for

mod commands;
mod follow;

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::mpsc;
use weir_shared::ids::{ScheduleId, Timestamp};
use weir_shared::run::state::RunStatus;
use weir_shared::schedule::{FireOutcome, PauseReason};

use super::alarm::Alarm;
use super::calendar::Timetable;
use super::course::{self, Change, Decision, Left, Look};
use super::flow::request;
use super::schedules::{Command, SchedulesOf, Troubles};
use super::wanted;
use crate::engine::Started;
use crate::run_request::StartError;
use crate::shutdown::Stage;
use crate::store::{Claim, FireClaim, ScheduleRecord, StoreError};

/// How long a schedule whose record could not be written is left alone.
const RETRY: Duration = Duration::from_secs(5);

/// The loop's state.
pub(super) struct Timekeeper {
    of: SchedulesOf,
    kept: BTreeMap<ScheduleId, Kept>,
    troubles: Troubles,
    /// Whether changes of flows were not followed because the store did not answer.
    is_behind: bool,
}

/// A schedule as it is stored, and when it comes round. An unknown zone has no timetable.
#[derive(Debug, Clone)]
struct Kept {
    record: ScheduleRecord,
    timetable: Option<Timetable>,
}

impl Kept {
    fn of(record: ScheduleRecord) -> Self {
        let timetable = wanted::timetable(&record);
        Self { record, timetable }
    }
}

impl Timekeeper {
    /// A loop that has every stored schedule. Without them it must not go on: it would take those of files for new.
    pub(super) fn of(of: SchedulesOf, troubles: Troubles) -> Result<Self, StoreError> {
        let kept = by_id(of.store.schedules()?);
        Ok(Self { of, kept, troubles, is_behind: false })
    }

    /// Keeps the schedules until the worker ends.
    pub(super) async fn work(mut self, alarm: Alarm, mut commands: mpsc::Receiver<Command>) {
        let mut shutdown = self.of.shutdown.clone();
        let mut library = self.of.library.subscribe();
        let mut runs = self.of.runs.changes();
        self.begin().await;
        loop {
            let until = self.turn().await;
            if let Err(error) = alarm.set(until, self.of.clock.now()) {
                tracing::error!(%error, "the timer of the schedules cannot be set");
            }
            let (waits, is_troubled) = (self.waits_for_a_run(), self.is_troubled());
            tokio::select! {
                () = shutdown.reached(Stage::Draining) => return,
                command = commands.recv() => match command {
                    Some(command) => self.execute(command).await,
                    None => return,
                },
                change = library.recv() => self.follow(change).await,
                rung = alarm.rings() => if let Err(error) = rung {
                    tracing::error!(%error, "the timer of the schedules is broken");
                    return;
                },
                // The sender lives as long as the runs.
                _ = runs.changed(), if waits => {}
                () = tokio::time::sleep(RETRY), if is_troubled => self.try_again().await,
            }
        }
    }

    /// What an earlier worker left, against the flows as they are.
    async fn begin(&mut self) {
        let now = self.of.clock.now();
        let ids: Vec<ScheduleId> = self.kept.keys().cloned().collect();
        for id in ids {
            let Some(kept) = self.kept.get(&id) else { continue };
            let left = Left { now, is_cut_off: self.is_cut_off(&kept.record) };
            if let Some(change) = course::after_restart(&kept.record, left) {
                self.commit(change).await;
            }
        }
        self.follow_all().await;
    }

    /// Whether the run of the last fire went down with an earlier worker. One that cannot be read was not seen to.
    fn is_cut_off(&self, record: &ScheduleRecord) -> bool {
        let last = record.last_run.as_ref().and_then(|run| self.of.store.run(run).ok().flatten());
        last.is_some_and(|run| run.status == RunStatus::Interrupted)
    }

    /// Does what is due and tells when to look again.
    async fn turn(&mut self) -> Option<Timestamp> {
        let ids: Vec<ScheduleId> = self.kept.keys().cloned().collect();
        let mut earliest = None;
        for id in ids {
            let until = self.settle(&id).await;
            earliest = [earliest, until].into_iter().flatten().min();
        }
        earliest
    }

    /// Does all that is due about one schedule.
    async fn settle(&mut self, id: &ScheduleId) -> Option<Timestamp> {
        loop {
            if self.troubles.all().contains_key(id) {
                return None;
            }
            let kept = self.kept.get(id)?;
            let look = Look { now: self.of.clock.now(), is_running: self.is_running(&kept.record) };
            let is_settled = match course::decide(&kept.record, kept.timetable.as_ref()?, look) {
                Decision::Rest { until } => return until,
                Decision::Record(change) => self.commit(change).await,
                Decision::Start(change) => self.start(change).await,
            };
            if let Settled::No = is_settled {
                return None;
            }
        }
    }

    fn is_running(&self, record: &ScheduleRecord) -> bool {
        record.last_run.as_ref().is_some_and(|run| self.of.runs.is_live(run))
    }

    fn waits_for_a_run(&self) -> bool {
        self.kept.values().any(|kept| !kept.record.waiting.is_empty())
    }

    /// Starts a run whose claim is this change; when none can be started, records that instead.
    async fn start(&mut self, change: Change) -> Settled {
        let record = &change.record;
        let active = match self.of.published.active(&record.flow) {
            Ok(active) => active,
            Err(not) => return self.pause_for(&record.id.clone(), not).await,
        };
        // A tool may have become another since the schedule was judged.
        if self.could_open_gates(record, &active) {
            return self.pause(&record.id.clone(), PauseReason::CouldOpenGates).await;
        }
        let request = request(&active, record);
        let claim = Box::new(FireClaim { record: record.clone(), fires: change.fires.clone() });
        let refusal = match self.of.runs.start_claiming(request, Claim::Fire(claim)).await {
            Ok(Started::New(run)) => {
                let mut change = change;
                change.record.last_run = Some(run.run_id);
                change.record.last_task = Some(run.task_id);
                self.keep(change);
                return Settled::Yes;
            }
            Ok(Started::Duplicate(_) | Started::Gone) => {
                self.read_again(&change.record.id);
                return Settled::Yes;
            }
            // The occurrence stays due, and is one of those that the next worker finds.
            Err(StartError::Stopping) => return Settled::No,
            Err(StartError::Store(error)) => return self.trouble(&change.record.id, &error),
            Err(error @ StartError::FlowBusy { .. }) => (FireOutcome::Skipped, error.to_string()),
            Err(error) => (FireOutcome::Failed, told(&error)),
        };
        tracing::warn!(schedule = %change.record.id, flow = %change.record.flow, reason = refusal.1, "a fire started nothing");
        self.commit(course::not_started(change, refusal)).await
    }

    /// Stores a change. One that another write came before is dropped, and the record read again.
    async fn commit(&mut self, change: Change) -> Settled {
        match self.of.store.put_schedule(change.record.clone(), change.fires.clone()).await {
            Ok(true) => {
                self.keep(change);
                Settled::Yes
            }
            Ok(false) => {
                self.read_again(&change.record.id);
                Settled::Yes
            }
            Err(StoreError::Closed) => Settled::No,
            Err(error) => self.trouble(&change.record.id, &error),
        }
    }

    /// Takes over what was stored.
    fn keep(&mut self, change: Change) {
        let mut record = change.record;
        record.recorded += change.fires.len() as u64;
        self.kept.insert(record.id.clone(), Kept::of(record));
    }

    fn read_again(&mut self, id: &ScheduleId) {
        match self.of.store.schedule(id) {
            Ok(Some(record)) => {
                self.kept.insert(id.clone(), Kept::of(record));
            }
            Ok(None) => {
                self.kept.remove(id);
            }
            Err(error) => {
                self.trouble(id, &error);
            }
        }
    }

    /// Leaves a schedule alone for a while: what was stored of it is not known.
    fn trouble(&mut self, id: &ScheduleId, error: &StoreError) -> Settled {
        tracing::error!(schedule = %id, %error, "a schedule could not be written; trying again in {} s", RETRY.as_secs());
        self.troubles.all().insert(id.clone(), error.to_string());
        Settled::No
    }

    fn is_troubled(&self) -> bool {
        self.is_behind || !self.troubles.all().is_empty()
    }

    /// Looks again at what could not be written or read: all records as they are stored, and what files say.
    async fn try_again(&mut self) {
        if self.is_troubled() {
            self.troubles.all().clear();
            self.follow_all().await;
        }
    }
}

/// Whether what was begun about a schedule is over, and it can be looked at again now.
#[derive(Debug, Clone, Copy)]
enum Settled {
    Yes,
    No,
}

fn by_id(records: Vec<ScheduleRecord>) -> BTreeMap<ScheduleId, Kept> {
    records.into_iter().map(|record| (record.id.clone(), Kept::of(record))).collect()
}

fn new_id() -> ScheduleId {
    ScheduleId::from_bytes(uuid::Uuid::now_v7().into_bytes())
}

/// Why no run was started, with what is wrong with the inputs.
fn told(error: &StartError) -> String {
    match error {
        StartError::Inputs(faults) | StartError::Plan(faults) => {
            let faults: Vec<String> = faults.iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect();
            format!("{error}: {}", faults.join("; "))
        }
        other => other.to_string(),
    }
}
