//! The one thread that commits.
//!
//! It takes all that waits in its queue, applies it in one transaction, commits once and answers everybody: under load
//! a group shares one sync of the disk, and a lone change waits for nobody. The queue is bounded, and whoever finds it
//! full waits. A change that is refused (out of order, not ended) leaves the others of its group alone.

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};
use weir_shared::ids::{FlowId, RunId, ScheduleId, TaskId, Timestamp, TriggerId};
use weir_shared::schedule::Fire;

use super::claim::{self, Admitted, Claim, EventDigest};
use super::deliveries::{self, DeliveryEnd};
use super::error::StoreError;
use super::event_ids::{self, ClaimedEvent};
use super::flows::{self, Cancelled, Tombstone};
use super::history::{self, StoredRow};
use super::journal::{self, StoredEvent};
use super::keys;
use super::plugins;
use super::retention::{self, Kept};
use super::schedules::{self, ScheduleRecord};
use super::sessions::{self, SessionDigest, SessionRecord};
use super::shelf::Shelf;
use super::tables::OpenTables;
use super::webhooks::{self, SecretDigest, TriggerRecord};
use crate::trust::PluginRecord;

/// Changes that may wait. More than runs can have in flight, so that it fills only when the disk is slow.
const QUEUE: usize = 1024;
/// Changes in one transaction, so that the first of them does not wait without end.
const GROUP: usize = 512;
/// Events past their time that go in one transaction.
const EXPIRED: usize = 1_000;

/// One thing to store. Encoding is done by whoever asks, so that the writer only writes.
#[derive(Debug)]
pub(super) enum Change {
    Append { run: RunId, events: Vec<StoredEvent>, row: Box<StoredRow>, ends: Option<DeliveryEnd> },
    Admit { run: RunId, task: TaskId, events: Vec<StoredEvent>, row: Box<StoredRow>, claim: Claim },
    PutTrigger { trigger: Box<TriggerRecord> },
    ReplaceSecret { trigger: TriggerId, secret: SecretDigest, now: Timestamp },
    RemoveTrigger { trigger: TriggerId },
    CountDuplicate { trigger: TriggerId, event: EventDigest },
    ExpireEvents { now: Timestamp },
    PutSchedule { record: Box<ScheduleRecord>, fires: Vec<Fire> },
    RemoveSchedule { id: ScheduleId },
    PutSession { digest: SessionDigest, session: SessionRecord, now: Timestamp },
    DropSession { digest: SessionDigest },
    PutPlugin { id: String, record: PluginRecord },
    RemoveRun { run: RunId },
    Prune { keep: Kept },
    AcceptVersion { flow: FlowId, number: u64, sha256: String },
    ForgetFlow { flow: FlowId, tombstone: Tombstone },
    RenameFlow { from: FlowId, to: FlowId },
    SettleFlow { flow: FlowId },
}

/// What came of a change.
#[derive(Debug)]
pub(super) enum Outcome {
    Stored,
    /// What went with a flow.
    Cancelled(Cancelled),
    /// The runs that are gone.
    Removed(Vec<RunId>),
    Admitted(Admitted),
    /// The trigger as it is now; none: there is none.
    Trigger(Option<Box<TriggerRecord>>),
    /// The event that was counted; none: it is not claimed.
    Counted(Option<ClaimedEvent>),
    /// Whether a record was what follows the stored one, and is stored.
    Followed(bool),
    /// How many triggers or events are gone.
    Gone(usize),
}

type Answer = Result<Outcome, StoreError>;

enum Request {
    Store {
        change: Change,
        answer: oneshot::Sender<Answer>,
    },
    /// Writes nothing: shows that the thread works.
    Ping {
        answer: oneshot::Sender<()>,
    },
    Close {
        closed: oneshot::Sender<()>,
    },
}

/// Hands changes to the writer thread. The thread ends when it is told to close or the last handle is gone.
#[derive(Debug, Clone)]
pub(super) struct Writer(mpsc::Sender<Request>);

impl Writer {
    /// Starts the thread.
    pub(super) fn start(shelf: Arc<Shelf>) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new().name("weir-store".to_owned()).spawn(move || work(&shelf, receiver))?;
        Ok((Self(sender), thread))
    }

    /// Stores one change; returns after its commit.
    pub(super) async fn store(&self, change: Change) -> Answer {
        let (answer, answered) = oneshot::channel();
        self.0.send(Request::Store { change, answer }).await.map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    /// Returns once the thread has got this far; whether it has.
    pub(super) async fn answers(&self) -> bool {
        let (answer, answered) = oneshot::channel();
        self.0.send(Request::Ping { answer }).await.is_ok() && answered.await.is_ok()
    }

    /// Commits what waits, closes the database and ends the thread.
    pub(super) async fn close(&self) {
        let (closed, is_closed) = oneshot::channel();
        if self.0.send(Request::Close { closed }).await.is_ok() {
            // An error means the thread was closing already.
            let _closed = is_closed.await;
        }
    }
}

fn work(shelf: &Shelf, mut queue: mpsc::Receiver<Request>) {
    let mut closing = Vec::new();
    while closing.is_empty() {
        let Some(first) = queue.blocking_recv() else { break };
        let (mut changes, mut answers) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(request) = next {
            match request {
                Request::Store { change, answer } => {
                    changes.push(change);
                    answers.push(answer);
                }
                Request::Ping { answer } => {
                    let _gone = answer.send(());
                }
                Request::Close { closed } => {
                    queue.close();
                    closing.push(closed);
                }
            }
            next = if changes.len() < GROUP { queue.try_recv().ok() } else { None };
        }
        answer(answers, commit(shelf, &changes));
    }
    // Closing the queue let in nothing new; what was in it may be more than one group.
    while let Some(request) = queue.blocking_recv() {
        match request {
            Request::Store { change, answer: to } => answer(vec![to], commit(shelf, &[change])),
            Request::Ping { answer } => {
                let _gone = answer.send(());
            }
            Request::Close { closed } => closing.push(closed),
        }
    }
    shelf.close();
    for closed in closing {
        let _gone = closed.send(());
    }
}

/// Answers each change of a group, or all of them with the error that the group met.
fn answer(to: Vec<oneshot::Sender<Answer>>, outcome: Result<Vec<Answer>, StoreError>) {
    let count = to.len();
    let answers = outcome.unwrap_or_else(|error| {
        tracing::warn!(%error, changes = count, "changes were not stored");
        std::iter::repeat_with(|| Err(error.clone())).take(count).collect()
    });
    for (to, answer) in to.into_iter().zip(answers) {
        // Whoever asked may have gone; the change is stored all the same.
        let _gone = to.send(answer);
    }
}

/// Applies a group in one transaction.
fn commit(shelf: &Shelf, changes: &[Change]) -> Result<Vec<Answer>, StoreError> {
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    shelf.write(|transaction| {
        let mut tables = OpenTables::of(transaction)?;
        changes.iter().map(|change| refusal_apart(apply(&mut tables, change))).collect()
    })
}

/// A refusal concerns one change; any other error is the store's and concerns the whole group.
fn refusal_apart(answer: Answer) -> Result<Answer, StoreError> {
    match answer {
        Err(error @ (StoreError::Full | StoreError::Io { .. } | StoreError::Damaged { .. } | StoreError::Closed)) => {
            Err(error)
        }
        Ok(_) | Err(StoreError::OutOfOrder { .. } | StoreError::NotEnded { .. }) => Ok(answer),
    }
}

/// Applies one change. One that is refused has written nothing.
fn apply(tables: &mut OpenTables<'_>, change: &Change) -> Answer {
    match change {
        Change::Append { run, events, row, ends } => {
            let key = keys::run_key(run);
            journal::append(tables, run, events)?;
            history::put(tables, &key, row)?;
            if let Some(end) = ends {
                deliveries::settle(tables, &key, end)?;
            }
        }
        Change::Admit { run, task, events, row, claim } => {
            let admitted = claim::judge(tables, claim)?;
            if admitted == Admitted::New {
                journal::append(tables, run, events)?;
                history::put(tables, &keys::run_key(run), row)?;
                claim::record(tables, claim, (run, task))?;
            }
            return Ok(Outcome::Admitted(admitted));
        }
        Change::AcceptVersion { flow, number, sha256 } => flows::accept(tables, flow, *number, sha256)?,
        Change::ForgetFlow { flow, tombstone } => {
            return Ok(Outcome::Cancelled(flows::forget(tables, flow, tombstone)?));
        }
        Change::RenameFlow { from, to } => flows::rename(tables, from, to)?,
        Change::SettleFlow { flow } => flows::settle(tables, flow)?,
        Change::PutTrigger { trigger } => webhooks::put(tables, trigger)?,
        Change::ReplaceSecret { trigger, secret, now } => {
            let replaced = webhooks::replace_secret(tables, trigger, (secret, *now))?;
            return Ok(Outcome::Trigger(replaced.map(Box::new)));
        }
        Change::RemoveTrigger { trigger } => {
            return Ok(Outcome::Gone(usize::from(webhooks::remove(tables, trigger)?)));
        }
        Change::CountDuplicate { trigger, event } => {
            return Ok(Outcome::Counted(deliveries::count_duplicate(tables, trigger, event)?));
        }
        Change::ExpireEvents { now } => return Ok(Outcome::Gone(event_ids::expire(tables, *now, EXPIRED)?)),
        Change::PutSchedule { record, fires } => {
            return Ok(Outcome::Followed(schedules::put(tables, record, fires)?));
        }
        Change::RemoveSchedule { id } => return Ok(Outcome::Gone(usize::from(schedules::remove(tables, id)?))),
        Change::PutSession { digest, session, now } => sessions::put(tables, digest, session, *now)?,
        Change::DropSession { digest } => sessions::remove(tables, digest)?,
        Change::PutPlugin { id, record } => plugins::put(tables, id, record)?,
        Change::RemoveRun { run } => {
            let removed = retention::remove(tables, run)?;
            return Ok(Outcome::Removed(if removed { vec![run.clone()] } else { Vec::new() }));
        }
        Change::Prune { keep } => return Ok(Outcome::Removed(retention::prune(tables, *keep)?)),
    }
    Ok(Outcome::Stored)
}
