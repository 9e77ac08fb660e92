//! The transition as a table: one helper walks a list of inputs at given times and tells what was done.

use weir_shared::flow::StopSignal;

use super::*;

const TERM: Ladder = Ladder { signal: StopSignal::Term, grace: Duration::from_secs(5) };
const NO_GRACE: Ladder = Ladder { signal: StopSignal::Term, grace: Duration::ZERO };
const KILL: Ladder = Ladder { signal: StopSignal::Kill, grace: Duration::from_secs(5) };

const EXIT: Exit = Exit::Code(0);
const KILLED: Exit = Exit::Signal(9);

fn leader(exit: Exit, pipes: Pipes, group: Group) -> Input {
    Input::LeaderEnded { exit, pipes, group }
}

const TREE_GONE: Input = Input::TreeGone { pipes: Pipes::Closed };

/// Walks from the start of a unit that may take ten seconds. Times are milliseconds after its start.
fn walk(ladder: &Ladder, inputs: &[(u64, Input)]) -> (UnitState, Vec<Action>) {
    let start = Instant::now();
    let mut state = UnitState::started(start, Some(Duration::from_secs(10)));
    let mut done = Vec::new();
    for (at, input) in inputs {
        let now = start + Duration::from_millis(*at);
        let (next, actions) = step(state, *input, At { ladder, now });
        state = next;
        done.extend(actions);
    }
    (state, done)
}

/// The whole of a life: what was done, and how it ended.
#[track_caller]
fn expect(ladder: &Ladder, inputs: &[(u64, Input)], done: &[Action], ending: Ending) {
    let (state, actions) = walk(ladder, inputs);
    assert_eq!(actions, done);
    assert_eq!(state, UnitState::Ended(ending));
}

fn ended(exit: Exit) -> Ending {
    Ending { exit, stopped: None, leaked: false }
}

fn stopped(exit: Exit, reason: StopReason, rung: Rung) -> Ending {
    Ending { exit, stopped: Some(Stopped { reason, rung }), leaked: false }
}

const SWEEP: [Action; 2] = [Action::KillGroup, Action::SweepTree];

#[test]
fn a_command_that_ends_by_itself_is_swept_at_once() {
    let inputs = [(3, leader(EXIT, Pipes::Closed, Group::Empty)), (3, TREE_GONE)];
    expect(&TERM, &inputs, &SWEEP, ended(EXIT));
}

#[test]
fn what_is_still_in_the_pipes_is_waited_for() {
    let inputs = [(3, leader(EXIT, Pipes::Open, Group::Empty)), (4, Input::PipesClosed), (4, TREE_GONE)];
    expect(&TERM, &inputs, &SWEEP, ended(EXIT));
}

#[test]
fn a_descendant_that_keeps_a_pipe_is_cut_off_after_half_a_second() {
    let start = [(3, leader(EXIT, Pipes::Open, Group::Empty)), (502, Input::Time)];
    assert_eq!(walk(&TERM, &start).1, []);
    let inputs = [start[0], start[1], (503, Input::Time), (504, TREE_GONE)];
    expect(&TERM, &inputs, &SWEEP, Ending { leaked: true, ..ended(EXIT) });
}

#[test]
fn a_pipe_that_stays_open_after_the_sweep_is_a_leak_too() {
    let inputs = [
        (3, Input::Stop(StopReason::Cancelled)),
        (4, leader(KILLED, Pipes::Open, Group::Empty)),
        (5, Input::TreeGone { pipes: Pipes::Open }),
    ];
    let ending = Ending { leaked: true, ..stopped(KILLED, StopReason::Cancelled, Rung::Asked) };
    expect(&TERM, &inputs, &[Action::Ask, Action::KillGroup, Action::SweepTree], ending);
}

#[test]
fn a_stop_after_the_leaders_own_end_only_ends_the_waiting() {
    let inputs =
        [(3, leader(EXIT, Pipes::Open, Group::Empty)), (9, Input::Stop(StopReason::Cancelled)), (9, TREE_GONE)];
    expect(&TERM, &inputs, &SWEEP, ended(EXIT));
}

#[test]
fn the_ladder_goes_from_the_signal_over_grace_to_kill() {
    let inputs = [
        (100, Input::Stop(StopReason::Cancelled)),
        (5_099, Input::Time),
        (5_100, Input::Time),
        (5_101, leader(KILLED, Pipes::Closed, Group::Empty)),
        (5_102, TREE_GONE),
    ];
    assert_eq!(walk(&TERM, &inputs[..2]).1, [Action::Ask]);
    let done = [Action::Ask, Action::KillGroup, Action::KillGroup, Action::SweepTree];
    expect(&TERM, &inputs, &done, stopped(KILLED, StopReason::Cancelled, Rung::Killed));
}

#[test]
fn the_deadline_starts_the_ladder() {
    let inputs =
        [(10_000, Input::Time), (10_001, leader(Exit::Signal(15), Pipes::Closed, Group::Empty)), (10_002, TREE_GONE)];
    let done = [Action::Ask, Action::KillGroup, Action::SweepTree];
    expect(&TERM, &inputs, &done, stopped(Exit::Signal(15), StopReason::TimedOut, Rung::Asked));
}

#[test]
fn zero_grace_the_kill_signal_and_force_start_at_the_top() {
    for (ladder, reason) in
        [(NO_GRACE, StopReason::Cancelled), (KILL, StopReason::TimedOut), (TERM, StopReason::Forced)]
    {
        let (state, done) = walk(&ladder, &[(1, Input::Stop(reason))]);
        assert_eq!(done, [Action::KillGroup], "{reason:?}");
        assert!(
            matches!(state, UnitState::Stopping { stopped, .. } if stopped == Stopped { reason, rung: Rung::Killed })
        );
    }
}

#[test]
fn a_second_request_goes_to_the_top_and_the_stronger_reason_stays() {
    for (first, second) in [
        (StopReason::Cancelled, StopReason::ShuttingDown),
        (StopReason::ShuttingDown, StopReason::Cancelled),
        (StopReason::ShuttingDown, StopReason::ShuttingDown),
    ] {
        let (state, done) = walk(&TERM, &[(1, Input::Stop(first)), (2, Input::Stop(second))]);
        assert_eq!(done, [Action::Ask, Action::KillGroup]);
        let top = Stopped { reason: StopReason::ShuttingDown, rung: Rung::Killed };
        assert!(matches!(state, UnitState::Stopping { stopped, .. } if stopped == top), "{state:?}");
    }
}

#[test]
fn the_program_behind_a_shell_keeps_its_grace_when_the_shell_dies_at_once() {
    let asked = [
        (100, Input::Stop(StopReason::Cancelled)),
        (101, leader(Exit::Signal(15), Pipes::Open, Group::Living)),
        (4_000, Input::Time),
    ];
    assert_eq!(walk(&TERM, &asked).1, [Action::Ask, Action::AwaitGroup]);
    let done = [Action::Ask, Action::AwaitGroup, Action::KillGroup, Action::SweepTree];
    let in_time = [asked[0], asked[1], (2_000, Input::GroupGone), (2_001, TREE_GONE)];
    expect(&TERM, &in_time, &done, stopped(Exit::Signal(15), StopReason::Cancelled, Rung::Asked));
    let too_late = [asked[0], asked[1], (5_100, Input::Time), (5_101, TREE_GONE)];
    expect(&TERM, &too_late, &done, stopped(Exit::Signal(15), StopReason::Cancelled, Rung::Killed));
    let hurried = [asked[0], asked[1], (200, Input::Stop(StopReason::Forced)), (201, TREE_GONE)];
    expect(&TERM, &hurried, &done, stopped(Exit::Signal(15), StopReason::Forced, Rung::Killed));
}

#[test]
fn a_tree_that_does_not_die_is_not_waited_for_without_end() {
    let inputs = [(3, leader(EXIT, Pipes::Closed, Group::Empty)), (1_002, Input::Time), (1_003, Input::Time)];
    assert!(matches!(walk(&TERM, &inputs[..2]).0, UnitState::Draining(_)));
    expect(&TERM, &inputs, &SWEEP, ended(EXIT));
}

#[test]
fn a_leader_that_does_not_die_is_reported_as_stuck() {
    let inputs = [(0, Input::Stop(StopReason::Forced)), (10_000, Input::Time)];
    expect(&TERM, &inputs, &[Action::KillGroup], stopped(Exit::Stuck, StopReason::Forced, Rung::Killed));
}

#[test]
fn a_long_lived_unit_is_tended_and_its_deadline_still_seen() {
    let (state, done) = walk(&TERM, &[(50, Input::Time), (900, Input::Time), (1_050, Input::Time)]);
    assert_eq!(done, [Action::Tend, Action::Tend]);
    assert!(matches!(state, UnitState::Running { .. }));
    let start = Instant::now();
    let short = UnitState::started(start, Some(Duration::from_millis(20)));
    assert_eq!(short.wake_at(), Some(start + Duration::from_millis(20)));
    let endless = UnitState::started(start, None);
    assert_eq!(endless.wake_at(), Some(start + SLOW_AFTER));
}

#[test]
fn outputs_that_close_early_do_not_end_a_process() {
    let (state, done) = walk(&TERM, &[(1, Input::PipesClosed)]);
    assert!(matches!(state, UnitState::Running { .. }) && done.is_empty());
}
