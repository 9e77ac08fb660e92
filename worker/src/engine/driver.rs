//! The loop of one run, from its admission to its last event.
//!
//! Its one sentence: take inputs, decide, append the events and commit, show them, act. Nothing is shown and no tool
//! is started before the commit that records it. Everything that is ready when the loop wakes goes into one commit.

mod storage_stop;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use weir_shared::ids::{GateId, Owner, RunId, StepIndex};
use weir_shared::plan::Plan;
use weir_shared::reference::{Filled, Resolved, Unresolved, fill_args, resolve_args};
use weir_shared::run::decide::{Action, Ending, Input, Surroundings};
use weir_shared::run::reduce::BadHistory;
use weir_shared::run::state::{OpenGate, RunState, StepState};
use weir_shared::run::turn::{Turn, take_turn};
use weir_shared::run::values::{RunValues, WholeResults};
use weir_shared::run::view;

use super::attempt::{self, Finished, Running};
use super::run_guard::RunGuard;
use super::runs::{Answer, ApproveError, CancelError, Inner};
use crate::feed::run::RunFeed;
use crate::feed::wire::Schemas;
use crate::queue::pump::Place;
use crate::run_dir::RunDirectory;
use crate::shutdown::{ShutdownWatch, Stage};
use crate::store::StoreError;
use crate::tool::call::{CallIdentity, StopReason, ToolOutcome};

/// What a person asks of a live run. The answer comes after the commit.
pub(crate) enum Command {
    Answer { answer: Answer, by: Owner, reply: oneshot::Sender<Result<(), ApproveError>> },
    Cancel { by: Owner, reply: oneshot::Sender<Result<(), CancelError>> },
}

/// One run's loop and all that it owns.
pub(crate) struct Driver {
    pub(super) inner: Arc<Inner>,
    pub(super) run: RunId,
    pub(super) state: RunState,
    pub(super) place: Place,
    pub(super) feed: Arc<RunFeed>,
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) admitted: Instant,
    attempts: JoinSet<Finished>,
    /// Which attempt a task of `attempts` is, for one that panics.
    tasks: BTreeMap<tokio::task::Id, (StepIndex, u32)>,
    running: BTreeMap<StepIndex, Running>,
    /// Arguments of steps that were judged and have not ended.
    resolved: BTreeMap<StepIndex, Resolved>,
    whole: WholeResults,
    /// When the next attempts are due.
    due: BTreeMap<StepIndex, Instant>,
    /// When `due` was last looked through.
    looked_at: Instant,
    shutdown: ShutdownWatch,
    interrupting: bool,
    /// Answers to give once the turn is committed.
    replies: Vec<Reply>,
}

enum Reply {
    Answer(oneshot::Sender<Result<(), ApproveError>>),
    Cancel(oneshot::Sender<Result<(), CancelError>>),
}

/// What woke the loop.
enum Woke {
    Command(Command),
    Attempt(Result<(tokio::task::Id, Finished), tokio::task::JoinError>),
    Granted,
    Due,
    Shutdown(Stage),
}

/// Why a run cannot be driven on.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the journal does not add up: {0}")]
    History(#[from] BadHistory),
}

impl Driver {
    pub(super) fn new(
        inner: Arc<Inner>,
        state: RunState,
        place: Place,
        feed: Arc<RunFeed>,
        (run, commands): (RunId, mpsc::Receiver<Command>),
    ) -> Self {
        let shutdown = inner.shutdown.clone();
        Self {
            inner,
            run,
            state,
            place,
            feed,
            commands,
            admitted: Instant::now(),
            attempts: JoinSet::new(),
            tasks: BTreeMap::new(),
            running: BTreeMap::new(),
            resolved: BTreeMap::new(),
            whole: WholeResults::new(),
            due: BTreeMap::new(),
            looked_at: Instant::now(),
            shutdown,
            interrupting: false,
            replies: Vec::new(),
        }
    }

    /// Drives the run until its last event, or until the worker's end leaves it parked.
    pub(super) async fn drive(mut self) {
        let mut inputs = Vec::new();
        if self.place.is_held() {
            inputs.push(self.begin());
        }
        let mut next_stage = Some(Stage::Draining);
        loop {
            if let Err(broken) = self.turn(std::mem::take(&mut inputs)).await {
                self.stop_for_storage(broken).await;
                return;
            }
            let is_draining = next_stage != Some(Stage::Draining);
            if self.state.end.is_some() || (self.state.is_parked() && is_draining) {
                return;
            }
            match self.wake(next_stage).await {
                Woke::Shutdown(stage) => {
                    next_stage = after(stage);
                    self.wind_down(stage);
                }
                woke => self.collect(woke, &mut inputs),
            }
            while let Some(woke) = self.already_there() {
                self.collect(woke, &mut inputs);
            }
        }
    }

    /// Waits for the next thing that happens to the run.
    async fn wake(&mut self, next_stage: Option<Stage>) -> Woke {
        // One that is overdue has had its turn and waits for room: whatever makes room also wakes the loop.
        let retry = self.due.values().filter(|due| **due > self.looked_at).min().copied();
        let due = retry.into_iter().chain(self.next_look_at_gates()).min();
        let due = async {
            match due {
                Some(due) => tokio::time::sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        let shutdown = async {
            match next_stage {
                Some(stage) => self.shutdown.reached(stage).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(attempt) = self.attempts.join_next_with_id() => Woke::Attempt(attempt),
            () = self.place.granted() => Woke::Granted,
            Some(command) = self.commands.recv() => Woke::Command(command),
            () = due => Woke::Due,
            () = shutdown => Woke::Shutdown(self.inner.shutdown.stage()),
        }
    }

    /// What has happened besides, without waiting: it goes into the same commit.
    fn already_there(&mut self) -> Option<Woke> {
        if let Some(attempt) = self.attempts.try_join_next_with_id() {
            return Some(Woke::Attempt(attempt));
        }
        self.commands.try_recv().ok().map(Woke::Command)
    }

    /// Turns what happened into inputs.
    fn collect(&mut self, woke: Woke, inputs: &mut Vec<Input>) {
        match woke {
            Woke::Command(command) => inputs.extend(self.command(command)),
            Woke::Attempt(Ok((task, finished))) => {
                self.tasks.remove(&task);
                self.whole.extend(finished.whole);
                inputs.push(finished.input);
            }
            Woke::Attempt(Err(error)) => inputs.extend(self.lost(&error)),
            Woke::Granted => inputs.push(self.begin()),
            // `turn` looks for what is due by itself.
            Woke::Due | Woke::Shutdown(_) => {}
        }
    }

    fn begin(&self) -> Input {
        if self.state.started_at.is_some() {
            return Input::Continue;
        }
        Input::Begin { queue_wait_ms: u64::try_from(self.admitted.elapsed().as_millis()).unwrap_or(u64::MAX) }
    }

    fn command(&mut self, command: Command) -> Option<Input> {
        match command {
            Command::Cancel { by, reply } => {
                self.replies.push(Reply::Cancel(reply));
                Some(Input::Cancel { by: by.0 })
            }
            Command::Answer { answer, by, reply } => match self.gate(&answer) {
                Ok(gate) => {
                    self.replies.push(Reply::Answer(reply));
                    let Answer { approved, reason, plan, .. } = answer;
                    Some(Input::Answered { gate, approved, by: by.0, reason, plan })
                }
                Err(refusal) => {
                    // The caller may have gone away; nothing was changed.
                    let _gone = reply.send(Err(refusal));
                    None
                }
            },
        }
    }

    /// The gate that an answer is for: the one it names, else the only one.
    fn gate(&self, answer: &Answer) -> Result<GateId, ApproveError> {
        let open: Vec<&GateId> = self.state.gates.keys().collect();
        let gate = match (&answer.gate, open.as_slice()) {
            (Some(gate), _) if self.state.gates.contains_key(gate) => gate.clone(),
            (Some(gate), _) => return Err(ApproveError::GateNotOpen(gate.clone())),
            (None, []) => return Err(ApproveError::NoOpenGate),
            (None, [gate]) => (*gate).clone(),
            (None, _) => return Err(ApproveError::SeveralGates(view::gates(&self.state))),
        };
        match self.state.gates.get(&gate) {
            Some(OpenGate::Step { .. }) if answer.plan.is_some() => Err(ApproveError::PlanAtStepGate(gate)),
            _ => Ok(gate),
        }
    }

    /// Answers that nobody gave in time: rejections, by the expiry.
    fn expired_gates(&self) -> Vec<Input> {
        let now = self.inner.clock.now();
        let expired = self.state.gates.iter().filter(|(_, gate)| now.millis_since(gate.since()) >= self.expiry_ms());
        let days = self.inner.settings.gate_expiry.as_secs() / 86_400;
        let answer = |(gate, _): (&GateId, &OpenGate)| Input::Answered {
            gate: gate.clone(),
            approved: false,
            by: "expiry".to_owned(),
            reason: Some(format!("nobody answered within {days} days")),
            plan: None,
        };
        expired.map(answer).collect()
    }

    fn expiry_ms(&self) -> u64 {
        u64::try_from(self.inner.settings.gate_expiry.as_millis()).unwrap_or(u64::MAX)
    }

    /// When to look at the gates' expiry again. A look is due at least once an hour, since the wall clock, by which
    /// days are counted, and the timer's clock drift apart, in a suspend by hours.
    fn next_look_at_gates(&self) -> Option<Instant> {
        const LOOK: Duration = Duration::from_hours(1);
        let now = self.inner.clock.now();
        let left = |gate: &OpenGate| self.expiry_ms().saturating_sub(now.millis_since(gate.since()));
        let left = self.state.gates.values().map(left).min()?;
        Some(Instant::now() + Duration::from_millis(left).min(LOOK))
    }

    /// The ending of an attempt whose task panicked: a fault of the tool's code, contained.
    fn lost(&mut self, error: &tokio::task::JoinError) -> Option<Input> {
        let (index, attempt) = self.tasks.remove(&error.id())?;
        tracing::error!(run = %self.run, step = %index, %error, "a tool's call broke off");
        let message = self.inner.toolbox.secrets().masker().text(format!("the tool broke off: {error}"));
        let ending = Ending::Failed { error: message, timed_out: false };
        Some(Input::Ended { index, attempt, ending, duration_ms: 0, report: None })
    }

    /// One turn: decide, commit, show, act.
    async fn turn(&mut self, inputs: Vec<Input>) -> Result<(), Broken> {
        let inner = self.inner.clone();
        let catalog = inner.toolbox.catalog();
        let parallel = if self.place.is_held() { inner.settings.parallel } else { 0 };
        let around = Surroundings {
            catalog: &catalog,
            whole: &self.whole,
            parallel,
            interrupting: self.interrupting,
            now: inner.clock.now(),
        };
        let mut guard = RunGuard {
            toolbox: &inner.toolbox,
            catalog: &catalog,
            whole: &self.whole,
            resolved: &self.resolved,
            run_dir: RunDirectory::of(&inner.state_dir, &self.run),
        };
        self.looked_at = Instant::now();
        let due = self
            .due
            .iter()
            .filter(|(_, due)| **due <= self.looked_at)
            .map(|(index, _)| Input::RetryDue { index: *index });
        let expired = self.expired_gates();
        let inputs: Vec<Input> = inputs.into_iter().chain(expired).chain(due).chain([Input::Continue]).collect();
        let turn = take_turn(std::mem::take(&mut self.state), inputs, &around, &mut guard)?;
        let Turn { state, recorded, actions, resolved } = turn;
        self.state = state;
        self.resolved.extend(resolved);
        if !recorded.is_empty() {
            let row = view::row(&self.state).ok_or(StoreError::Closed)?;
            let committed = recorded.clone();
            inner.store.append(self.run.clone(), recorded, row).await?;
            // Asked after the commit: who begins to follow before this is shown the events here, and who begins
            // later finds them in the journal. Asked before it, a follower in between would get them from neither.
            if self.feed.is_followed() {
                self.show(&committed, &catalog);
            }
        }
        self.reply();
        self.forget_ended();
        self.place_for_state();
        for action in &actions {
            self.act(action);
        }
        Ok(())
    }

    /// Shows committed events to those who follow. The output of a step comes before its end.
    fn show(&self, recorded: &[weir_shared::run::event::Recorded], catalog: &weir_shared::tool::Catalog) {
        let schemas = Schemas { catalog, plan: self.state.plan.as_deref() };
        for recorded in recorded {
            self.feed.publish(schemas.frame(recorded));
        }
    }

    fn reply(&mut self) {
        for reply in self.replies.drain(..) {
            // A caller that has gone away misses its answer; the journal has it.
            let _gone = match reply {
                Reply::Answer(reply) => reply.send(Ok(())).is_err(),
                Reply::Cancel(reply) => reply.send(Ok(())).is_err(),
            };
        }
    }

    /// Drops what is held for steps that are over.
    fn forget_ended(&mut self) {
        let ended = |index: StepIndex| self.state.step(index).is_none_or(StepState::has_ended);
        self.running.retain(|index, _| !ended(*index));
        self.resolved.retain(|index, _| !ended(*index));
        self.due.retain(|index, _| matches!(self.state.step(*index), Some(StepState::Retrying { .. })));
    }

    /// A parked run gives its place back, and asks for one again when it may go on.
    fn place_for_state(&mut self) {
        if self.state.is_parked() {
            self.place.park();
        } else if self.place.is_parked() && self.state.end.is_none() {
            self.place.come_back();
        }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Start { index, attempt } => self.start(*index, *attempt),
            Action::Wake { index, after_ms } => {
                self.due.insert(*index, Instant::now() + Duration::from_millis(*after_ms));
            }
            Action::Stop { index } => {
                if let Some(running) = self.running.get(index) {
                    running.stop(StopReason::Cancelled);
                }
            }
            // `take_turn` answers these before the commit.
            Action::Judge { .. } | Action::Recheck { .. } => {}
        }
    }

    fn start(&mut self, index: StepIndex, attempt: u32) {
        let (Some(created), Some(plan)) = (self.state.created.clone(), self.state.plan.clone()) else { return };
        let Some(step) = plan.step(index) else { return };
        let filled = self.filled_args(&plan, index);
        let identity = CallIdentity {
            run: self.run.clone(),
            step: index,
            node: step.node_id.clone(),
            attempt,
            idempotency_key: attempt::idempotency_key(&created.root_run_id, step),
        };
        let run_dir = RunDirectory::of(&self.inner.state_dir, &self.run);
        let output = self.feed.begin_attempt(index, attempt);
        let (args, unfilled) = match filled {
            Ok(args) => (args, None),
            Err(failure) => (Filled::default(), Some(failure.to_string())),
        };
        let (call, running) = attempt::call(step, args, identity, run_dir.clone(), output);
        let (toolbox, feed) = (self.inner.toolbox.clone(), self.feed.clone());
        let masker = toolbox.secrets().masker();
        let task = self.attempts.spawn(async move {
            let outcome = match unfilled {
                None => toolbox.call(call).await,
                Some(message) => ToolOutcome::not_called(masker.text(message)),
            };
            feed.end_attempt(index);
            attempt::finish(index, attempt, outcome, run_dir).await
        });
        self.tasks.insert(task.id(), (index, attempt));
        self.running.insert(index, running);
    }

    /// The arguments that were judged; resolved again, to the same, after a restart.
    fn resolved_args(&mut self, plan: &Plan, index: StepIndex) -> Resolved {
        if let Some(resolved) = self.resolved.get(&index) {
            return resolved.clone();
        }
        let catalog = self.inner.toolbox.catalog();
        let values = RunValues { state: &self.state, whole: &self.whole };
        let again = plan.step(index).zip(plan.step(index).and_then(|step| catalog.get(step.tool_name.as_str())));
        again.and_then(|(step, tool)| resolve_args(step, tool, &values).ok()).unwrap_or_default()
    }

    /// The arguments for one call: those that were judged, secrets in the place of their placeholders.
    fn filled_args(&mut self, plan: &Plan, index: StepIndex) -> Result<Filled, Unresolved> {
        let resolved = self.resolved_args(plan, index);
        let catalog = self.inner.toolbox.catalog();
        let step = plan.step(index).filter(|_| !resolved.secrets.is_empty());
        let Some((step, tool)) = step.and_then(|step| Some((step, catalog.get(step.tool_name.as_str())?))) else {
            return Ok(Filled { call: resolved.call, environment: resolved.environment });
        };
        let values = RunValues { state: &self.state, whole: &self.whole };
        fill_args(step, tool, &values, self.inner.toolbox.secrets().values())
    }

    /// What a stage of the worker's end asks of the run.
    fn wind_down(&mut self, stage: Stage) {
        match stage {
            Stage::Serving => {}
            // A run that has not started does not start any more.
            Stage::Draining => self.interrupting |= self.state.started_at.is_none(),
            Stage::Stopping | Stage::Forced => {
                self.interrupting = true;
                let reason = if stage == Stage::Forced { StopReason::Forced } else { StopReason::ShuttingDown };
                for running in self.running.values() {
                    running.stop(reason);
                }
            }
        }
    }
}

/// The stage to wait for after this one; none after the last.
fn after(stage: Stage) -> Option<Stage> {
    match stage {
        Stage::Serving => Some(Stage::Draining),
        Stage::Draining => Some(Stage::Stopping),
        Stage::Stopping => Some(Stage::Forced),
        Stage::Forced => None,
    }
}
