//! Random walks: a random plan, a world that answers at random, and what must hold however it goes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::flow::OnFailure;
use crate::ids::{Owner, StepIndex, Timestamp};
use crate::plan::{Plan, RetryPolicy, RunWhen, Step};
use crate::run::decide::{Action, Ending, Input, Surroundings, Verdict, after_crash};
use crate::run::event::{
    Cause, CoveredFile, Event, Found, Recorded, RunConfig, RunCreated, SandboxPosture, VerdictKind,
};
use crate::run::reduce::{reduce, replay};
use crate::run::state::{RunState, RunStatus, StepState};
use crate::run::turn::{Guard, Turn, take_turn};
use crate::tool::{Catalog, Effect, Idempotent, ToolDeclaration};

/// What the world does next, as far as it can.
#[derive(Debug, Clone)]
enum Move {
    Finish { pick: usize, ending: u8 },
    RetryDue { pick: usize },
    Answer { pick: usize, approved: bool },
    Cancel,
    Rewrite,
    LateEnd { pick: usize },
}

#[derive(Debug, Clone)]
struct Walk {
    plan: Plan,
    verdicts: Vec<u8>,
    moves: Vec<Move>,
    parallel: usize,
    plan_gate: bool,
}

fn catalog() -> Catalog {
    Catalog::new([ToolDeclaration {
        name: "probe".to_owned(),
        title: "Probe".to_owned(),
        description: String::new(),
        effect: Effect::Read,
        idempotent: Idempotent::default(),
        group: String::new(),
        ports: vec!["a".to_owned(), "b".to_owned()],
        input_schema: json!({"type": "object"}),
        output_schema: None,
        timeout_seconds: None,
        source: "builtin".to_owned(),
        trusted: true,
        counts_as: None,
        node: None,
    }])
}

fn a_step(position: usize) -> impl Strategy<Value = Step> {
    let earlier = proptest::collection::btree_set(0..position.max(1), 0..=position.min(3));
    let conditions = proptest::collection::vec((0..position.max(1), any::<bool>()), 0..=usize::from(position > 0));
    (earlier, conditions, 0_u8..12, 1_u32..3).prop_map(move |(earlier, conditions, kind, attempts)| {
        let mut step = Step::new(StepIndex::of(position), "probe".parse().unwrap());
        if position > 0 {
            step.depends_on = earlier.into_iter().map(StepIndex::of).collect();
            step.run_when = conditions
                .into_iter()
                .map(|(step, a)| RunWhen {
                    step: StepIndex::of(step),
                    ports: vec![if a { "a" } else { "b" }.to_owned()],
                })
                .collect();
        }
        step.disabled = kind == 0;
        step.pinned_result = match kind {
            1 => Some(json!({"branch": "a"})),
            2 => Some(json!({"success": false, "error": "pinned"})),
            _ => None,
        };
        step.retry_policy = RetryPolicy { max_attempts: attempts, backoff_ms: 5 };
        step
    })
}

fn a_plan() -> impl Strategy<Value = Plan> {
    (0_usize..9, any::<bool>()).prop_flat_map(|(steps, cancels)| {
        let steps: Vec<_> = (0..steps).map(a_step).collect();
        steps.prop_map(move |steps| Plan {
            on_failure: if cancels { OnFailure::Cancel } else { OnFailure::Finish },
            steps,
            ..Plan::default()
        })
    })
}

fn a_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        12 => (any::<usize>(), 0_u8..10).prop_map(|(pick, ending)| Move::Finish { pick, ending }),
        4 => any::<usize>().prop_map(|pick| Move::RetryDue { pick }),
        4 => (any::<usize>(), any::<bool>()).prop_map(|(pick, approved)| Move::Answer { pick, approved }),
        1 => Just(Move::Cancel),
        1 => Just(Move::Rewrite),
        1 => any::<usize>().prop_map(|pick| Move::LateEnd { pick }),
    ]
}

fn a_walk() -> impl Strategy<Value = Walk> {
    let verdicts = proptest::collection::vec(0_u8..8, 9);
    (a_plan(), verdicts, proptest::collection::vec(a_move(), 0..60), 1_usize..4, any::<bool>())
        .prop_map(|(plan, verdicts, moves, parallel, plan_gate)| Walk { plan, verdicts, moves, parallel, plan_gate })
}

/// The world beside the run: which tools are at work, and which were asked to stop.
struct World<'a> {
    walk: &'a Walk,
    catalog: Catalog,
    state: RunState,
    log: Vec<Recorded>,
    at_work: BTreeMap<StepIndex, u32>,
    stopped: BTreeSet<StepIndex>,
    now: Timestamp,
    /// What the one file holds that every second command names.
    disk: u32,
}

/// A guard that says what the walk says, and a file that now and then has changed.
struct WalkGuard<'a> {
    verdicts: &'a [u8],
    disk: u32,
}

impl WalkGuard<'_> {
    fn files(&self, step: &Step) -> Vec<CoveredFile> {
        let found = Found::Digest { sha256: self.disk.to_string(), size: 0 };
        if step.index.at().is_multiple_of(2) {
            vec![CoveredFile { path: "job.sh".to_owned(), found }]
        } else {
            Vec::new()
        }
    }
}

impl Guard for WalkGuard<'_> {
    fn judge(&mut self, _: &RunState, step: &Step, _: &crate::reference::Resolved) -> Verdict {
        let kind = match self.verdicts[step.index.at()] {
            0 => VerdictKind::Deny,
            1 | 2 => VerdictKind::Ask,
            _ => VerdictKind::Allow,
        };
        Verdict { kind, source: "the walk".to_owned(), segment: None, files: self.files(step) }
    }

    fn look_again(&mut self, _: &RunState, step: &Step) -> Vec<CoveredFile> {
        self.files(step)
    }
}

impl<'a> World<'a> {
    fn new(walk: &'a Walk) -> Self {
        let created = RunCreated {
            run_id: "01890000-0000-7000-8000-000000000000".parse().unwrap(),
            root_run_id: "01890000-0000-7000-8000-000000000000".parse().unwrap(),
            task_id: "01890000-0000-7000-8000-000000000001".parse().unwrap(),
            flow_id: None,
            flow_revision: None,
            priority: None,
            cause: Cause::Api,
            owner: Owner::local(),
            goal: String::new(),
            inputs: Map::new(),
            input_marks: BTreeMap::new(),
            config: RunConfig { require_plan_approval: walk.plan_gate, ..RunConfig::default() },
            sandbox: SandboxPosture::Off,
            resumed_from: None,
        };
        let first = [Event::RunCreated(Box::new(created)), Event::PlanReady(Arc::new(walk.plan.clone()))];
        let mut world = Self {
            walk,
            catalog: catalog(),
            state: RunState::default(),
            log: Vec::new(),
            at_work: BTreeMap::new(),
            stopped: BTreeSet::new(),
            now: Timestamp(1),
            disk: 0,
        };
        for event in first {
            let recorded = Recorded { seq: world.state.last.next(), ts: world.now, event };
            world.state = reduce(std::mem::take(&mut world.state), &recorded).unwrap();
            world.log.push(recorded);
        }
        world.take(Input::Begin { queue_wait_ms: 0 }, walk.parallel);
        world
    }

    fn take(&mut self, input: Input, parallel: usize) {
        self.now = Timestamp(self.now.0 + 1);
        let whole = BTreeMap::new();
        let around =
            Surroundings { catalog: &self.catalog, whole: &whole, parallel, interrupting: false, now: self.now };
        let mut guard = WalkGuard { verdicts: &self.walk.verdicts, disk: self.disk };
        let turn = take_turn(std::mem::take(&mut self.state), [input], &around, &mut guard);
        let Turn { state, recorded, actions, .. } = turn.expect("what decide says, reduce takes");
        self.state = state;
        for fact in &recorded {
            self.assert_may_follow(fact);
            self.assert_is_as_shown(fact);
        }
        self.log.extend(recorded);
        for action in actions {
            match action {
                Action::Start { index, attempt } => {
                    assert_eq!(self.at_work.insert(index, attempt), None, "a step is at work once");
                    assert!(self.at_work.len() <= parallel.max(self.walk.parallel), "room is kept");
                }
                Action::Stop { index } => {
                    self.stopped.insert(index);
                }
                Action::Wake { .. } => {}
                Action::Judge { .. } | Action::Recheck { .. } => panic!("the turn answers for the guard"),
            }
        }
        self.at_work.retain(|index, _| matches!(self.state.step(*index), Some(StepState::Running { .. })));
    }

    /// What a step that was approved runs is what was shown.
    fn assert_is_as_shown(&self, fact: &Recorded) {
        if let Event::StepStart { index, .. } = &fact.event
            && let Some(shown) = self.state.covered.get(index)
        {
            let step = self.walk.plan.step(*index).unwrap();
            let now = WalkGuard { verdicts: &[], disk: self.disk }.files(step);
            assert_eq!(*shown, now, "step {index} starts with another file than was approved");
        }
    }

    /// A step starts only when everything it waits for has ended.
    fn assert_may_follow(&self, fact: &Recorded) {
        if let Event::StepStart { index, .. } = &fact.event {
            for need in self.state.graph.prerequisites(*index) {
                assert!(self.state.step(*need).unwrap().has_ended(), "step {index} started before {need} ended");
            }
        }
    }

    fn make(&mut self, next: &Move) {
        let pick = |from: &[StepIndex], pick: usize| (!from.is_empty()).then(|| from[pick % from.len()]);
        let parallel = self.walk.parallel;
        match next {
            Move::Finish { pick: which, ending } => {
                let at_work: Vec<_> = self.at_work.keys().copied().collect();
                if let Some(index) = pick(&at_work, *which) {
                    self.finish(index, *ending);
                }
            }
            Move::RetryDue { pick: which } => {
                let retrying: Vec<_> = self.state.index.retrying.iter().copied().collect();
                if let Some(index) = pick(&retrying, *which) {
                    self.take(Input::RetryDue { index }, parallel);
                }
            }
            Move::Answer { pick: which, approved } => {
                let gates: Vec<_> = self.state.gates.keys().cloned().collect();
                if !gates.is_empty() {
                    let gate = gates[which % gates.len()].clone();
                    let by = "local".to_owned();
                    self.take(Input::Answered { gate, approved: *approved, by, reason: None, plan: None }, parallel);
                }
            }
            Move::Cancel => self.take(Input::Cancel { by: "local".to_owned() }, parallel),
            Move::Rewrite => self.disk += 1,
            Move::LateEnd { pick: which } => {
                let before = self.log.len();
                let ended: Vec<_> = (0..self.state.steps.len())
                    .map(StepIndex::of)
                    .filter(|index| self.state.step(*index).unwrap().has_ended())
                    .collect();
                if let Some(index) = pick(&ended, *which) {
                    self.take(done(index, 1, json!({"branch": "a"})), parallel);
                    assert_eq!(self.log.len(), before, "a late result changes nothing");
                }
            }
        }
    }

    fn finish(&mut self, index: StepIndex, ending: u8) {
        let attempt = self.at_work.remove(&index).unwrap();
        let ending = match ending {
            _ if self.stopped.contains(&index) => Ending::Cancelled { error: "cancelled".to_owned() },
            0 => Ending::Failed { error: "exit code 1".to_owned(), timed_out: false },
            1 => Ending::Done { result: Arc::new(json!({"success": false, "summary": "no"})), truncated: false },
            2..=5 => Ending::Done { result: Arc::new(json!({"branch": "a"})), truncated: false },
            _ => Ending::Done { result: Arc::new(json!({"branch": "b"})), truncated: false },
        };
        let input = Input::Ended { index, attempt, ending, duration_ms: 1, report: None };
        self.take(input, self.walk.parallel);
    }

    /// Lets everything come to its end: tools end well, gates are approved, waits are over.
    fn settle(&mut self) {
        for _ in 0..1_000 {
            if self.state.end.is_some() {
                return;
            }
            if let Some(index) = self.at_work.keys().next().copied() {
                self.finish(index, 2);
            } else if let Some(index) = self.state.index.retrying.first().copied() {
                self.take(Input::RetryDue { index }, self.walk.parallel);
            } else if let Some(gate) = self.state.gates.keys().next().cloned() {
                let by = "local".to_owned();
                self.take(Input::Answered { gate, approved: true, by, reason: None, plan: None }, self.walk.parallel);
            } else {
                panic!("the run has stalled: {:?}", self.state.steps);
            }
        }
        panic!("the run does not end");
    }
}

fn done(index: StepIndex, attempt: u32, result: Value) -> Input {
    let ending = Ending::Done { result: Arc::new(result), truncated: false };
    Input::Ended { index, attempt, ending, duration_ms: 1, report: None }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_run_comes_to_an_end_however_the_world_answers(walk in a_walk()) {
        let mut world = World::new(&walk);
        for next in &walk.moves {
            world.make(next);
        }
        world.settle();
        prop_assert!(world.state.status().is_terminal());
        prop_assert!(world.log.last().unwrap().event.is_terminal());
        let replayed = replay(&world.log).unwrap();
        prop_assert_eq!(&replayed.steps, &world.state.steps);
        prop_assert_eq!(&replayed.index, &world.state.index);
        // A cancelled run is never called anything else, and a failed one names its lowest failed step.
        if let Some(Event::Error { index: Some(index), .. }) = world.log.last().map(|last| &last.event) {
            prop_assert_eq!(Some(index), world.state.index.failed.first());
        }
    }

    #[test]
    fn a_log_cut_anywhere_is_recovered_to_a_legal_end(walk in a_walk(), cut in any::<prop::sample::Index>()) {
        let mut world = World::new(&walk);
        for next in &walk.moves {
            world.make(next);
        }
        let kept = 1 + cut.index(world.log.len());
        let mut state = replay(&world.log[..kept]).unwrap();
        let parked = state.is_parked();
        let ended = state.end.is_some();
        let events = after_crash(&state);
        prop_assert_eq!(events.is_empty(), parked || ended);
        for event in events {
            let recorded = Recorded { seq: state.last.next(), ts: Timestamp(99), event };
            state = reduce(state, &recorded).unwrap();
        }
        prop_assert!(parked || state.status().is_terminal());
        if !parked && !ended {
            prop_assert_eq!(state.status(), RunStatus::Interrupted);
        }
    }

    #[test]
    fn an_event_is_read_back_as_it_was_written(walk in a_walk()) {
        let mut world = World::new(&walk);
        world.settle();
        for recorded in &world.log {
            let bytes = serde_json::to_vec(recorded).unwrap();
            prop_assert_eq!(&serde_json::from_slice::<Recorded>(&bytes).unwrap(), recorded);
        }
    }
}

#[test]
fn a_join_waits_for_the_branch_that_was_taken() {
    // `pick` takes branch a; `b` is skipped at once; the join must not follow that skip, in either order.
    for swapped in [false, true] {
        let mut plan = Plan::default();
        let step = |index: u32| Step::new(StepIndex(index), "probe".parse().unwrap());
        let when = |port: &str| vec![RunWhen { step: StepIndex(0), ports: vec![port.to_owned()] }];
        let (first, second) = if swapped { ("b", "a") } else { ("a", "b") };
        plan.steps = vec![
            step(0),
            Step { run_when: when(first), ..step(1) },
            Step { run_when: when(second), ..step(2) },
            Step { depends_on: vec![StepIndex(1), StepIndex(2)], ..step(3) },
        ];
        let walk = Walk { plan, verdicts: vec![7; 9], moves: Vec::new(), parallel: 3, plan_gate: false };
        let mut world = World::new(&walk);
        world.finish(StepIndex(0), 2);
        let taken = StepIndex(if swapped { 2 } else { 1 });
        assert_eq!(world.at_work.keys().copied().collect::<Vec<_>>(), [taken]);
        world.finish(taken, 2);
        assert_eq!(world.at_work.keys().copied().collect::<Vec<_>>(), [StepIndex(3)]);
        world.settle();
        assert_eq!(world.state.status(), RunStatus::Completed);
    }
}

#[test]
fn the_wait_before_an_attempt_doubles_and_is_bounded() {
    use crate::run::decide::retry_delay;
    assert_eq!([1, 2, 3, 4].map(|attempt| retry_delay(500, attempt)), [500, 1_000, 2_000, 4_000]);
    assert_eq!(retry_delay(30_000, 4), 30_000);
    assert_eq!(retry_delay(1, 200), 30_000);
}
