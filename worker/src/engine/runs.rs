//! The handle on all runs: start, approve, cancel, read, follow. Everybody outside the engine holds a clone of it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use tokio::sync::{mpsc, oneshot, watch};
use weir_shared::finding::Fault;
use weir_shared::ids::{FlowId, GateId, Owner, RunId, Seq, TaskId};
use weir_shared::plan::Plan;
use weir_shared::run::event::{Cause, Event, Recorded, RunCreated, SandboxPosture};
use weir_shared::run::reduce::{BadHistory, reduce, replay};
use weir_shared::run::state::RunState;
use weir_shared::run::view;
use weir_shared::task::Capacity;
use weir_shared::tool::Catalog;
use weir_shared::wire::{Gate, RunAccepted, RunDetail};

use super::driver::{Command, Driver};
use crate::clock::Clock;
use crate::feed::follow::Follower;
use crate::feed::run::RunFeed;
use crate::feed::wire::{Frame, Schemas, mask_inputs};
use crate::queue::admission::{Bounds, Entrant, Priority, Refused};
use crate::queue::pump::{Place, Queue};
use crate::run_request::{self, Bound, RunRequest, StartError};
use crate::shutdown::{ShutdownWatch, Stage};
use crate::store::{Admitted, Claim, ClaimedEvent, Store, StoreError};
use crate::tool::Toolbox;

/// Commands a run's loop may be behind. Whoever sends one more waits.
const COMMANDS: usize = 32;

/// What the configuration says about runs.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Steps of one run that may run at once (`run.parallel`).
    pub(crate) parallel: usize,
    pub(crate) bounds: Bounds,
    /// A gate that nobody answers for this long counts as rejected (`gate.expiresDays`).
    pub(crate) gate_expiry: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { parallel: 16, bounds: Bounds::default(), gate_expiry: Duration::from_hours(7 * 24) }
    }
}

/// What confines the processes of runs: nothing yet.
pub(crate) const SANDBOX: SandboxPosture = SandboxPosture::Off;

/// All runs of this worker.
#[derive(Clone)]
pub(crate) struct Runs(Arc<Inner>);

pub(super) struct Inner {
    pub(super) store: Store,
    pub(super) toolbox: Toolbox,
    pub(super) clock: Clock,
    pub(super) shutdown: ShutdownWatch,
    pub(super) state_dir: PathBuf,
    pub(super) settings: Settings,
    queue: Queue,
    live: Mutex<HashMap<RunId, Live>>,
    /// How many drivers go on, for whoever waits for the last.
    drivers: watch::Sender<usize>,
}

/// What others hold of a live run.
#[derive(Clone)]
pub(super) struct Live {
    pub(super) commands: mpsc::Sender<Command>,
    feed: Arc<RunFeed>,
    flow: Option<FlowId>,
}

/// What came of a start that claims something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Started {
    /// A run was admitted, and holds the claim.
    New(RunAccepted),
    /// An earlier run holds it; none was admitted.
    Duplicate(ClaimedEvent),
    /// There is nothing to claim any more; none was admitted.
    Gone,
}

/// A run that was bound and has a place, and is not recorded.
struct Entered {
    run: RunId,
    bound: Bound,
    place: Place,
}

/// A person's answer to a gate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    /// Which gate; the only one when none is named.
    pub(crate) gate: Option<GateId>,
    pub(crate) approved: bool,
    pub(crate) reason: Option<String>,
    /// At a plan gate: the plan to run instead.
    pub(crate) plan: Option<Arc<Plan>>,
}

/// Why an answer to a gate is refused. It released nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApproveError {
    #[error("there is no such run")]
    Unknown,
    #[error("no gate of this run is open")]
    NoOpenGate,
    #[error("gate {0} is not open")]
    GateNotOpen(GateId),
    #[error("gate {0} asks about a step, and an edited plan is taken at a plan gate only")]
    PlanAtStepGate(GateId),
    #[error("the edited plan cannot run, and the gate stays open")]
    Plan(Vec<Fault>),
    #[error("several gates are open: name one in `gateId`")]
    SeveralGates(Vec<Gate>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a cancel is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CancelError {
    #[error("there is no such run")]
    Unknown,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a run cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("there is no such run")]
    Unknown,
    #[error("the journal of the run does not add up: {0}")]
    History(#[from] BadHistory),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a run cannot be followed from there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FollowError {
    #[error("there is no such run")]
    Unknown,
    #[error("the run has no event {after} yet; its last is {last}")]
    PastEnd { after: Seq, last: Seq },
    /// The run has ended and everything was seen.
    #[error("the run has ended, and nothing follows")]
    Ended,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Runs {
    /// The runs of a worker with this store and these tools. `recover` comes before anything else.
    pub(crate) fn new(
        store: Store,
        toolbox: Toolbox,
        (clock, shutdown): (Clock, ShutdownWatch),
        state_dir: PathBuf,
        settings: Settings,
    ) -> Self {
        let queue = Queue::new(settings.bounds);
        let drivers = watch::Sender::new(0);
        let live = Mutex::default();
        Self(Arc::new(Inner { store, toolbox, clock, shutdown, state_dir, settings, queue, live, drivers }))
    }

    /// Admits a run: bound, given a place, and recorded. It starts as soon as its place is granted.
    pub(crate) async fn start(&self, request: RunRequest) -> Result<RunAccepted, StartError> {
        let mut accepted = self.start_all(vec![request]).await?;
        accepted.pop().ok_or(StartError::Stopping)
    }

    /// Admits a run for what claims it. Both are recorded in one commit, so that no two runs hold one claim, and an
    /// error leaves it free.
    pub(crate) async fn start_claiming(&self, request: RunRequest, claim: Claim) -> Result<Started, StartError> {
        let entered = self.enter(request, &self.0.toolbox.catalog())?;
        self.launch(entered, claim).await
    }

    /// Admits several runs or none: all are bound and given a place before the first is recorded. When the store
    /// fails in between, those recorded before it go on.
    pub(crate) async fn start_all(&self, requests: Vec<RunRequest>) -> Result<Vec<RunAccepted>, StartError> {
        let catalog = self.0.toolbox.catalog();
        let entered: Vec<Entered> =
            requests.into_iter().map(|request| self.enter(request, &catalog)).collect::<Result<_, _>>()?;
        let mut accepted = Vec::with_capacity(entered.len());
        for one in entered {
            // What claims nothing is always new.
            if let Started::New(run) = self.launch(one, Claim::None).await? {
                accepted.push(run);
            }
        }
        Ok(accepted)
    }

    /// Binds a request and gives it a place. Nothing is recorded; dropping it gives the place back.
    fn enter(&self, request: RunRequest, catalog: &Catalog) -> Result<Entered, StartError> {
        let inner = &self.0;
        if inner.shutdown.stage() > Stage::Serving {
            return Err(StartError::Stopping);
        }
        let run = RunId::from_bytes(uuid::Uuid::now_v7().into_bytes());
        let bound = request.bind(&run, catalog)?;
        let priority = bound.priority.unwrap_or_else(|| priority(bound.cause));
        let entrant = Entrant { owner: bound.owner.clone(), priority, flow: bound.share() };
        let place = inner.queue.enter(entrant).map_err(|refused| match refused {
            Refused::FlowBusy { flow, limit } => StartError::FlowBusy { flow, limit },
            Refused::Full(scope) => StartError::Capacity { scope, priority },
        })?;
        Ok(Entered { run, bound, place })
    }

    /// Records a run with its claim and starts its loop.
    async fn launch(&self, entered: Entered, claim: Claim) -> Result<Started, StartError> {
        let Entered { run: run_id, bound, place } = entered;
        let task_id = TaskId::from_bytes(uuid::Uuid::now_v7().into_bytes());
        let tolerates = bound.tolerates();
        let owner = bound.owner.clone();
        let (admitted, state) = self.record_admission((&run_id, &task_id), bound, claim).await?;
        match admitted {
            Admitted::New => {
                let mut older = self.spawn_driver(run_id.clone(), state, place);
                if let Some(beside) = tolerates {
                    older.truncate(older.len().saturating_sub(beside));
                    self.give_way(&older, &owner).await;
                }
                Ok(Started::New(RunAccepted { run_id, task_id }))
            }
            Admitted::Duplicate(claimed) => Ok(Started::Duplicate(claimed)),
            Admitted::Gone => Ok(Started::Gone),
        }
    }

    /// Commits a run's first two events, that it was created and its plan, with what claims it.
    async fn record_admission(
        &self,
        (run, task): (&RunId, &TaskId),
        bound: Bound,
        claim: Claim,
    ) -> Result<(Admitted, RunState), StoreError> {
        let (flow_id, flow_revision) = bound.flow.unzip();
        let created = RunCreated {
            run_id: run.clone(),
            root_run_id: run.clone(),
            task_id: task.clone(),
            flow_id,
            flow_revision,
            cause: bound.cause,
            priority: bound.priority,
            owner: bound.owner,
            goal: bound.goal,
            inputs: bound.inputs,
            input_marks: bound.input_marks,
            config: bound.config,
            sandbox: SANDBOX,
            resumed_from: None,
        };
        let now = self.0.clock.now();
        let mut state = RunState::default();
        let mut recorded = Vec::with_capacity(2);
        for event in [Event::RunCreated(Box::new(created)), Event::PlanReady(bound.plan)] {
            let next = Recorded { seq: state.last.next(), ts: now, event };
            // The first two events of a run always follow; anything else would be a fault of this function.
            state = reduce(state, &next).map_err(|error| StoreError::Damaged { reason: error.to_string() })?;
            recorded.push(next);
        }
        let row = view::row(&state).ok_or(StoreError::Closed)?;
        let admitted = self.0.store.admit(run.clone(), recorded, row, claim).await?;
        Ok((admitted, state))
    }

    /// Starts the loop of a run that has been recorded. Answers the runs of its flow that were there before it and
    /// have not ended, those that wait included, oldest first: of two that come at once, one sees the other.
    pub(super) fn spawn_driver(&self, run: RunId, state: RunState, place: Place) -> Vec<RunId> {
        let (commands, received) = mpsc::channel(COMMANDS);
        let feed = RunFeed::new();
        let flow = state.created.as_ref().and_then(|created| created.flow_id.clone());
        let mut before = Vec::new();
        {
            let mut live = self.live();
            if let Some(flow) = &flow {
                let same = live.iter().filter(|(_, live)| live.flow.as_ref() == Some(flow));
                before.extend(same.map(|(run, _)| run.clone()));
            }
            live.insert(run.clone(), Live { commands, feed: feed.clone(), flow });
        }
        before.sort_unstable();
        let driver = Driver::new(self.0.clone(), state, place, feed, (run.clone(), received));
        let alive = Alive::new(self.0.clone(), run);
        // Waited for by `drained`, through `Alive`, which also outlives a panic of the loop.
        tokio::spawn(async move {
            driver.drive().await;
            drop(alive);
        });
        before
    }

    /// Answers a gate. Returns once the answer is recorded.
    pub(crate) async fn approve(&self, run: &RunId, answer: Answer, by: &Owner) -> Result<(), ApproveError> {
        let Some(live) = self.live_run(run) else {
            return Err(self.0.store.run(run)?.map_or(ApproveError::Unknown, |_| ApproveError::NoOpenGate));
        };
        if let Some(plan) = &answer.plan {
            let faults = run_request::faults_of_plan(plan, &self.0.toolbox.catalog(), None);
            if !faults.is_empty() {
                return Err(ApproveError::Plan(faults));
            }
        }
        let (reply, answered) = oneshot::channel();
        let command = Command::Answer { answer, by: by.clone(), reply };
        // A loop that has ended meanwhile has closed its gates.
        live.commands.send(command).await.map_err(|_| ApproveError::NoOpenGate)?;
        answered.await.unwrap_or(Err(ApproveError::NoOpenGate))
    }

    /// Asks a run to stop. Returns once that is recorded; for a run that has ended, at once.
    pub(crate) async fn cancel(&self, run: &RunId, by: &Owner) -> Result<(), CancelError> {
        let Some(live) = self.live_run(run) else {
            return self.0.store.run(run)?.map(|_| ()).ok_or(CancelError::Unknown);
        };
        let (reply, answered) = oneshot::channel();
        if live.commands.send(Command::Cancel { by: by.clone(), reply }).await.is_err() {
            return Ok(());
        }
        answered.await.unwrap_or(Ok(()))
    }

    /// The queue, as this owner is told of it.
    pub(crate) fn capacity(&self, owner: &Owner) -> Capacity {
        self.0.queue.capacity(owner)
    }

    /// All of a run, masked: what its journal adds up to, and its events after `after`, at most `limit`.
    pub(crate) fn detail(&self, run: &RunId, after: Seq, limit: usize) -> Result<RunDetail, ReadError> {
        let events = self.0.store.events(run, Seq(0), usize::MAX)?;
        if events.is_empty() {
            return Err(ReadError::Unknown);
        }
        let state = replay(&events)?;
        let (Some(row), Some(created)) = (view::row(&state), state.created.as_ref()) else {
            return Err(ReadError::Unknown);
        };
        let catalog = self.0.toolbox.catalog();
        let schemas = Schemas { catalog: &catalog, plan: state.plan.as_deref() };
        let mut created = (**created).clone();
        mask_inputs(&mut created);
        let plan = state.plan.as_deref().cloned().map(|mut plan| {
            schemas.mask_plan(&mut plan);
            plan
        });
        let mut gates = view::gates(&state);
        for gate in &mut gates {
            if let (Some(index), Some(args)) = (gate.index, gate.args.as_mut()) {
                schemas.mask_args(index, args);
            }
        }
        let mut executions = view::executions(&state);
        for execution in &mut executions {
            if let Some(args) = execution.args.as_mut() {
                schemas.mask_args(execution.index, args);
            }
            if let Some(result) = execution.result.as_mut() {
                schemas.mask_result(execution.index, result);
            }
        }
        let total = events.len() as u64;
        let page: Vec<&Recorded> = events.iter().filter(|event| event.seq > after).take(limit).collect();
        let next_event = page.last().map(|last| last.seq.0).filter(|last| *last < total);
        Ok(RunDetail {
            row,
            inputs: created.inputs,
            config: created.config,
            plan,
            gates,
            executions,
            events: page.into_iter().map(|event| schemas.masked(event)).collect(),
            next_event,
        })
    }

    /// A run's stream from after `after`: its journal, then what comes.
    pub(crate) fn follow(
        &self,
        run: &RunId,
        after: Seq,
    ) -> Result<impl Stream<Item = Frame> + Send + 'static, FollowError> {
        let inner = &self.0;
        // The feed before the journal, so that no event falls between the two.
        let feed = self.live_run(run).map(|live| live.feed.subscribe());
        let row = inner.store.run(run)?.ok_or(FollowError::Unknown)?;
        let last = inner.store.last_seq(run)?;
        if row.status.is_terminal() && after >= last {
            return Err(FollowError::Ended);
        }
        if after > last {
            return Err(FollowError::PastEnd { after, last });
        }
        let catalog = inner.toolbox.catalog();
        let follower = Follower::new(inner.store.clone(), catalog, inner.shutdown.clone(), (run.clone(), after), feed);
        Ok(follower.frames())
    }

    /// Returns once no run is driven any more.
    pub(crate) async fn drained(&self) {
        // The sender lives in `self`, so this only ends by the count.
        let mut drivers = self.0.drivers.subscribe();
        let _ended = drivers.wait_for(|drivers| *drivers == 0).await;
    }

    /// How many runs are driven now, parked ones included.
    pub(crate) fn driven(&self) -> usize {
        *self.0.drivers.borrow()
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.0
    }

    /// The place of a run that was parked when the worker before this one ended.
    pub(super) fn parked_place(&self, created: &RunCreated) -> Place {
        self.0.queue.parked(created.owner.clone(), created.flow_id.clone())
    }

    /// Whether a run is driven now, a parked one included.
    pub(crate) fn is_live(&self, run: &RunId) -> bool {
        self.live().contains_key(run)
    }

    /// Wakes whenever a run starts or stops being driven.
    pub(crate) fn changes(&self) -> watch::Receiver<usize> {
        self.0.drivers.subscribe()
    }

    pub(super) fn live_run(&self, run: &RunId) -> Option<Live> {
        self.live().get(run).cloned()
    }

    fn live(&self) -> MutexGuard<'_, HashMap<RunId, Live>> {
        self.0.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How urgent a run is, by what started it.
pub(super) fn priority(cause: Cause) -> Priority {
    match cause {
        Cause::Manual | Cause::Api | Cause::Webhook | Cause::Resume | Cause::Fork | Cause::Rewind | Cause::Rerun => {
            Priority::Interactive
        }
        Cause::Model => Priority::Normal,
        Cause::Schedule => Priority::Batch,
    }
}

/// That a run is driven. Dropped on every way out of its loop, a panic too.
struct Alive {
    inner: Arc<Inner>,
    run: RunId,
}

impl Alive {
    fn new(inner: Arc<Inner>, run: RunId) -> Self {
        inner.drivers.send_modify(|drivers| *drivers += 1);
        Self { inner, run }
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.inner.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.run);
        self.inner.drivers.send_modify(|drivers| *drivers = drivers.saturating_sub(1));
    }
}
