//! Power cuts: the worker is killed around the events of runs and started again, and what it had acknowledged is held
//! against what it then knows.
//!
//! After each: no frame that was seen is lost or changed, the journal has no gap and comes to a legal end, no step has
//! been started twice, and no process of a run is left.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_shared::ids::RunId;
use weir_shared::run::state::{RunStatus, StepStatus};
use weir_tests::client::Client;
use weir_tests::flows::{command_step, plan};
use weir_tests::processes;
use weir_tests::stream::{Frame, Stream};
use weir_tests::wait::until;
use weir_tests::worker::Worker;

/// How long a process may outlive the start of the next worker.
const GONE: Duration = Duration::from_secs(2);
/// Kills of the long tier, unless `WEIR_KILLS` says otherwise.
const KILLS: usize = 1_000;

/// What is run at once in the long tier.
const PLANS: [fn(&Path) -> Value; 2] = [marking_plan, eventful_plan];

/// A run that is watched from outside: what it was seen to do, and the marks that its steps leave in a file each.
struct Watched {
    run: RunId,
    stream: Stream,
    seen: Vec<Frame>,
    marks: std::path::PathBuf,
}

/// Two steps side by side, one that joins them, and one after it. Each adds a line to a file of its own when it
/// starts; the second takes long enough to be met while it runs.
fn marking_plan(marks: &Path) -> Value {
    let mark = |index: usize, then: &str| format!("echo started >> {}/{index}; {then}", marks.display());
    plan(&[
        command_step(0, &mark(0, "true"), &[]),
        command_step(1, &mark(1, "sleep 0.05"), &[]),
        command_step(2, &mark(2, "sleep 0.01"), &[0, 1]),
        command_step(3, &mark(3, "true"), &[2]),
    ])
}

/// Everything else that a run can meet: an attempt that fails and is followed by another, a branch that is not taken,
/// a gate, and what comes after it.
fn eventful_plan(marks: &Path) -> Value {
    let mark = |index: usize, then: &str| format!("echo started >> {}/{index}; {then}", marks.display());
    let mut again = command_step(1, &mark(1, &format!("test $(wc -l < {}/1) -ge 2", marks.display())), &[0]);
    again["idempotent"] = json!(true);
    again["retryPolicy"] = json!({ "maxAttempts": 3, "backoffMs": 20 });
    let branch = json!({
        "index": 2, "toolName": "flow_if", "args": { "left": "1", "operator": "eq", "right": "2" }, "dependsOn": [1]
    });
    let mut not_taken = command_step(3, &mark(3, "true"), &[]);
    not_taken["runWhen"] = json!([{ "step": 2, "in": ["true"] }]);
    let mut asking = command_step(4, &mark(4, "true"), &[2]);
    asking["requiresApproval"] = json!(true);
    plan(&[
        command_step(0, &mark(0, "true"), &[]),
        again,
        branch,
        not_taken,
        asking,
        command_step(5, &mark(5, "true"), &[4]),
    ])
}

impl Watched {
    fn start(worker: &Worker, client: &Client, name: &str, plan: impl Fn(&Path) -> Value) -> Result<Self> {
        let marks = worker.world().path(name);
        std::fs::create_dir(&marks)?;
        // What asks is what the plan says, and nothing else.
        let run = client.run_plan_as(&plan(&marks), &json!({ "requireStepApproval": false }))?;
        let stream = client.follow(&run)?;
        Ok(Self { run, stream, seen: Vec::new(), marks })
    }

    /// Reads until so many events were seen, and answers the gates on the way; false when the run ends before.
    fn see(&mut self, client: &Client, events: usize) -> Result<bool> {
        while self.seen.len() < events {
            if self.seen.last().is_some_and(|frame| frame.event == "step_approval_requested") {
                client.approve(&self.run, &json!({}))?.having::<Value>(202)?;
            }
            let Some(frame) = self.stream.frame()? else { return Ok(false) };
            if frame.id.is_some() {
                self.seen.push(frame);
            }
        }
        Ok(true)
    }

    /// Holds what the next worker knows against what was seen.
    ///
    /// A run that stands at its gate goes on standing there, and to its end once it is answered.
    fn verify(&self, client: &Client) -> Result<RunStatus> {
        if client.run(&self.run)?.row.status == RunStatus::AwaitingStepApproval {
            client.approve(&self.run, &json!({}))?.having::<Value>(202)?;
        }
        let frames: Vec<Frame> =
            client.follow(&self.run)?.to_end()?.into_iter().filter(|frame| frame.id.is_some()).collect();
        ensure!(frames.starts_with(&self.seen), "what was shown is lost or changed: {:?}\n{frames:?}", self.seen);
        let ids: Vec<u64> = frames.iter().filter_map(|frame| frame.id).collect();
        ensure!(ids == (1..=ids.len() as u64).collect::<Vec<_>>(), "the journal has gaps: {ids:?}");
        let last = frames.last().context("the journal is empty")?;
        ensure!(matches!(last.event.as_str(), "complete" | "error"), "it ends with {}", last.event);

        let detail = client.run(&self.run)?;
        ensure!(
            matches!(detail.row.status, RunStatus::Completed | RunStatus::Interrupted),
            "{:?} is no end for it: {:?}",
            detail.row.status,
            detail.row.error
        );
        for step in &detail.executions {
            let is_open = !matches!(
                step.status,
                StepStatus::Waiting | StepStatus::Completed | StepStatus::Interrupted | StepStatus::Skipped
            );
            ensure!(!is_open, "step {} is {:?} after the end", step.index, step.status);
            let attempts: Vec<&Value> = frames
                .iter()
                .filter(|frame| frame.event == "step_start" && frame.data["index"] == json!(step.index))
                .map(|frame| &frame.data["attempt"])
                .collect();
            let expected: Vec<Value> = (1..=attempts.len()).map(Value::from).collect();
            ensure!(attempts.iter().copied().eq(&expected), "step {}: attempts {attempts:?}", step.index);
            let plan = detail.plan.as_ref().context("a run without a plan")?;
            let is_command = plan
                .steps
                .iter()
                .any(|planned| planned.index == step.index && planned.tool_name.as_str() == "execute_command");
            if !is_command {
                continue;
            }
            let marks = std::fs::read_to_string(self.marks.join(step.index.to_string())).unwrap_or_default();
            let (marks, starts) = (marks.lines().count(), attempts.len());
            ensure!(marks <= starts, "step {}: {starts} starts and {marks} marks", step.index);
            ensure!(step.status != StepStatus::Completed || marks == starts, "step {} completed unseen", step.index);
        }
        until("the processes of the run to be gone", GONE, || processes::of_run(&self.run).is_empty().then_some(()))?;
        Ok(detail.row.status)
    }
}

/// Runs the plan again and again, with a kill one event later each time. How the runs ended, in that order.
fn killed_at_every_event(plan: impl Fn(&Path) -> Value) -> Result<Vec<RunStatus>> {
    let mut worker = Worker::start()?;
    let client = worker.client()?;
    let mut ends = Vec::new();
    loop {
        let at = ends.len() + 1;
        let mut watched = Watched::start(&worker, &client, &format!("marks-{at}"), &plan)?;
        let came = watched.see(&client, at)?;
        worker.kill()?;
        worker.start_again()?;
        ends.push(watched.verify(&client).with_context(|| format!("killed at event {at}"))?);
        if !came {
            return Ok(ends);
        }
    }
}

#[test]
fn killed_at_every_event_of_a_run_nothing_is_lost_and_nothing_is_done_twice() -> Result<()> {
    let ends = killed_at_every_event(marking_plan)?;
    assert!(ends.len() > 12, "a run of four steps has more than {} events", ends.len());
    assert_eq!(ends.last(), Some(&RunStatus::Completed), "it had ended before the last kill");
    Ok(())
}

#[test]
fn killed_around_retries_branches_and_gates_a_run_comes_to_a_legal_end() -> Result<()> {
    let ends = killed_at_every_event(eventful_plan)?;
    assert!(ends.len() > 20, "this run has more than {} events", ends.len());
    let completed = ends.iter().filter(|end| **end == RunStatus::Completed).count();
    assert!(completed >= 2, "killed at its gate, or after its end, a run completes: {ends:?}");
    assert!(completed < ends.len(), "killed in a step, a run is interrupted: {ends:?}");
    Ok(())
}

/// The long tier, run by hand: `cargo test -p weir-tests --test journeys -- --ignored --nocapture random_kills`.
#[test]
#[ignore = "takes minutes; WEIR_KILLS sets the number"]
fn a_thousand_random_kills_lose_no_event_replay_no_step_and_leave_no_process() -> Result<()> {
    let kills: usize = std::env::var("WEIR_KILLS").ok().map_or(Ok(KILLS), |text| text.parse())?;
    let mut chance = Chance(u64::from(std::process::id()) | 1);
    let seed = chance.0;
    let mut worker = Worker::start()?;
    let client = worker.client()?;
    let (mut events, mut interrupted, mut completed) = (0, 0, 0);
    let mut starts: Vec<Duration> = Vec::new();
    for kill in 0..kills {
        let mut watched: Vec<Watched> = PLANS
            .iter()
            .enumerate()
            .map(|(n, plan)| Watched::start(&worker, &client, &format!("marks-{kill}-{n}"), plan))
            .collect::<Result<_>>()?;
        let of = kill % watched.len();
        let came = watched[of].see(&client, chance.below(28))?;
        // Between two events, too.
        let moment = Instant::now() + Duration::from_micros(chance.below(4_000) as u64);
        while came && Instant::now() < moment {
            std::hint::spin_loop();
        }
        worker.kill()?;
        let begun = Instant::now();
        worker.start_again()?;
        starts.push(begun.elapsed());
        for (n, run) in watched.iter().enumerate() {
            events += run.seen.len();
            let context = || format!("kill {kill} (seed {seed}), run {n}");
            match run.verify(&client).with_context(context)? {
                RunStatus::Completed => completed += 1,
                _ => interrupted += 1,
            }
            std::fs::remove_dir_all(&run.marks)?;
        }
    }
    starts.sort_unstable();
    say(&format!(
        "{kills} kills: {events} events seen before them and none lost; {interrupted} runs interrupted, {completed} \
         completed, no step done twice, no process left; back after {:?} at the median and {:?} at most",
        starts[starts.len() / 2],
        starts[starts.len() - 1]
    ));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the figures are what the long tier is run for")]
fn say(line: &str) {
    println!("{line}");
}

/// Numbers that look random and come again with their seed (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap_or(0)
    }
}
