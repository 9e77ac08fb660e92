//! What a worker does on a full disk: it stays up, says so, and loses nothing that it had acknowledged.
//!
//! Among them the kind of C096: a disk that filled during a write, after which the database could not be opened.

use std::io::Write as _;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use weir_shared::ids::RunId;
use weir_shared::run::state::RunStatus;
use weir_shared::wire::RunAccepted;
use weir_tests::client::{Client, full_access};
use weir_tests::flows::{command_step, one_command, plan};
use weir_tests::processes;
use weir_tests::small_disk::SmallDisk;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::{Worker, World};

/// The size of the disk, in MiB.
const SIZE: u32 = 16;
/// Prints more than the disk holds.
const LOUD: &str = "head -c 33554432 /dev/zero | tr '\\0' x";
/// Steps that each have a result of 60,000 characters.
const TALKERS: usize = 200;
/// Runs that are offered until the store takes no more.
const MOST_OFFERED: usize = 400;

/// A worker whose state is on a small disk. The fields go in this order: the worker first.
struct Crowded {
    worker: Worker,
    disk: SmallDisk,
}

impl Crowded {
    /// None, and a word about it, where no disk can be mounted.
    fn new() -> Result<Option<Self>> {
        let world = World::new()?;
        let Some(disk) = SmallDisk::in_place_of(&world.path("state"), SIZE)? else {
            skipped();
            return Ok(None);
        };
        Ok(Some(Self { worker: Worker::start_in(world)?, disk }))
    }

    /// Fills the disk by the output of a run, and tells which run.
    fn fill(&self, client: &Client) -> Result<RunId> {
        let loud = client.run_plan(&one_command(LOUD))?;
        until("the disk to be full", PATIENCE, || (self.disk.free().ok()? == 0).then_some(()))?;
        Ok(loud)
    }

    /// Offers runs until the worker refuses one for want of space; tells those that it took.
    fn offer_until_refused(client: &Client) -> Result<Vec<RunId>> {
        let mut taken = Vec::new();
        for _ in 0..MOST_OFFERED {
            let plan = one_command("head -c 60000 /dev/zero | tr '\\0' y");
            let body = json!({ "goal": "g".repeat(4_000), "workflow": plan, "config": full_access() });
            let answer = client.post("/api/agent/run", &body)?;
            match answer.status {
                202 => taken.push(answer.having::<RunAccepted>(202)?.run_id),
                507 => {
                    assert_eq!(answer.problem(507)?.code, "storage_full");
                    return Ok(taken);
                }
                // The queue is bounded, too: what runs has to end first.
                429 => until("room in the queue", PATIENCE, || {
                    let page = client.runs("status=queued&limit=500").ok()?;
                    (page.runs.len() < 8).then_some(())
                })?,
                other => anyhow::bail!("{other}: {}", answer.text()),
            }
        }
        anyhow::bail!("{} runs were taken on a full disk", taken.len())
    }

    /// Takes the last byte of the disk.
    fn stuff(&self) -> Result<()> {
        let mut file = std::fs::File::create(self.worker.world().state().join("stuffing"))?;
        let piece = [b'z'; 4_096];
        loop {
            match file.write_all(&piece) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::StorageFull => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Gives back what `stuff` took.
    fn unstuff(&self) -> Result<()> {
        Ok(std::fs::remove_file(self.worker.world().state().join("stuffing"))?)
    }

    /// Gives the space of a run's output back.
    fn free(&self, run: &RunId) -> Result<()> {
        let output = self.worker.world().state().join("runs").join(run.as_str()).join("output");
        std::fs::remove_dir_all(&output).with_context(|| format!("cannot remove {}", output.display()))
    }
}

#[expect(clippy::print_stderr, reason = "a test that did not test must not look as if it had")]
fn skipped() {
    eprintln!("skipped: mounting a small file system takes root");
}

/// The runs' last status, once all of them have ended.
fn ends(client: &Client, runs: &[RunId]) -> Result<Vec<(RunStatus, Option<String>)>> {
    runs.iter()
        .map(|run| {
            until("the end of a run", PATIENCE, || {
                let row = client.run(run).ok()?.row;
                row.status.is_terminal().then_some((row.status, row.error))
            })
        })
        .collect()
}

/// What the worker tells of a run that has ended.
struct Told {
    run: RunId,
    detail: Value,
}

impl Told {
    fn by_a_run(client: &Client) -> Result<Self> {
        let run = client.run_plan(&one_command("echo early"))?;
        assert_eq!(client.finish(&run)?.row.status, RunStatus::Completed);
        let detail = client.get(&format!("/api/agent/runs/{run}"))?.having(200)?;
        Ok(Self { run, detail })
    }

    fn is_as_it_was(&self, client: &Client) -> Result<()> {
        let now: Value = client.get(&format!("/api/agent/runs/{}", self.run))?.having(200)?;
        assert_eq!(now, self.detail);
        Ok(())
    }
}

/// Each of these runs comes to an end that a full disk may bring, and the next is run as ever.
fn all_end_and_it_goes_on(client: &Client, runs: &[RunId]) -> Result<()> {
    for (status, _) in ends(client, runs)? {
        assert!(matches!(status, RunStatus::Completed | RunStatus::Failed | RunStatus::Interrupted), "{status:?}");
    }
    let after = client.run_plan(&one_command("echo after"))?;
    assert_eq!(client.finish(&after)?.row.status, RunStatus::Completed);
    Ok(())
}

#[test]
fn on_a_full_disk_the_worker_stays_up_and_says_so_and_then_has_everything() -> Result<()> {
    let Some(crowded) = Crowded::new()? else { return Ok(()) };
    let client = crowded.worker.client()?;
    let early: Vec<RunId> =
        (0..3).map(|n| client.run_plan(&one_command(&format!("echo early {n}")))).collect::<Result<_>>()?;
    ends(&client, &early)?;

    let loud = crowded.fill(&client)?;
    let taken = Crowded::offer_until_refused(&client)?;
    assert_eq!(client.get("/api/health")?.status, 200);
    for (n, run) in early.iter().enumerate() {
        let detail = client.run(run)?;
        assert_eq!(detail.executions[0].result.as_ref().unwrap()["stdout"], format!("early {n}\n"));
    }
    assert_eq!(client.get("/api/agent/runs?q=early")?.status, 200);
    assert_eq!(
        client
            .post("/api/workflows", &json!({ "id": "x", "flow": weir_tests::flows::one_command_flow("X", "true") }))?
            .status,
        201,
        "flows are on another disk"
    );

    crowded.free(&loud)?;
    let mut all = taken;
    all.push(loud);
    let ended = ends(&client, &all)?;
    // Whatever did not complete says that there was no room, and nothing else has happened to it.
    for (status, error) in &ended {
        let for_space = *status == RunStatus::Failed && error.as_ref().is_some_and(|error| is_about_space(error));
        assert!(*status == RunStatus::Completed || for_space, "{status:?}: {error:?}");
    }
    let after = client.run_plan(&one_command("echo after"))?;
    assert_eq!(client.finish(&after)?.row.status, RunStatus::Completed);
    Ok(())
}

/// Whether a run's error says that there was no room.
fn is_about_space(error: &str) -> bool {
    error.contains("storage") || error.contains("space")
}

/// A run that fills the disk by its output, and whose later steps have more to say than the store has room for.
fn talkative() -> Value {
    let mut steps = vec![command_step(0, LOUD, &[])];
    steps.extend((1..=TALKERS).map(|index| command_step(index, "head -c 60000 /dev/zero | tr '\\0' y", &[0])));
    plan(&steps)
}

#[test]
fn a_run_that_fills_the_disk_ends_as_storage_full_with_all_that_was_shown() -> Result<()> {
    let Some(crowded) = Crowded::new()? else { return Ok(()) };
    let client = crowded.worker.client()?;
    let run = client.run_plan(&talkative())?;
    let mut stream = client.follow(&run)?;
    let mut seen = vec![stream.until("step_start", |_| true)?];
    until("the run to stop", PATIENCE, || crowded.worker.log().contains("the run stops").then_some(()))?;

    // It says so, at once, to whoever wants something written, and goes on reading.
    assert_eq!(client.get("/api/health")?.status, 200);
    assert_eq!(client.cancel(&run)?.problem(507)?.code, "storage_full");
    let others = Crowded::offer_until_refused(&client)?;
    assert_eq!(client.run(&run)?.row.status, RunStatus::Executing, "its end is not written yet");
    until("its processes to be gone", PATIENCE, || processes::of_run(&run).is_empty().then_some(()))?;

    crowded.free(&run)?;
    seen.extend(stream.to_end()?.into_iter().filter(|frame| frame.id.is_some()));
    let last = seen.last().context("no frame")?;
    assert_eq!((last.event.as_str(), &last.data["code"]), ("error", &json!("storage_full")), "{last:?}");
    let all = client.follow(&run)?.to_end()?;
    assert!(all.ends_with(&seen), "what was shown is what is kept");
    let row = client.run(&run)?.row;
    assert_eq!(row.status, RunStatus::Failed);
    assert!(row.error.is_some_and(|error| error.contains("the storage is full")));
    ends(&client, &others)?;
    let after = client.run_plan(&one_command("echo after"))?;
    assert_eq!(client.finish(&after)?.row.status, RunStatus::Completed);
    Ok(())
}

#[test]
fn a_worker_started_on_a_full_disk_tells_what_it_has_and_refuses_what_it_cannot_keep() -> Result<()> {
    let Some(mut crowded) = Crowded::new()? else { return Ok(()) };
    let client = crowded.worker.client()?;
    let early = Told::by_a_run(&client)?;
    let loud = crowded.fill(&client)?;
    let taken = Crowded::offer_until_refused(&client)?;
    crowded.worker.kill()?;
    // What a killed worker gives back is taken, too.
    crowded.stuff()?;
    crowded.worker.start_again()?;

    early.is_as_it_was(&client)?;
    // The database may have room left in what it already holds of the disk, so the first may still be taken.
    let more = Crowded::offer_until_refused(&client)?;

    crowded.unstuff()?;
    crowded.free(&loud)?;
    let mut all = taken;
    all.extend(more);
    all.push(loud);
    all_end_and_it_goes_on(&client, &all)
}

#[test]
fn a_worker_killed_on_a_full_disk_starts_again_with_everything_once_there_is_space() -> Result<()> {
    let Some(mut crowded) = Crowded::new()? else { return Ok(()) };
    let client = crowded.worker.client()?;
    let early = Told::by_a_run(&client)?;

    let loud = crowded.fill(&client)?;
    let mut all = Crowded::offer_until_refused(&client)?;
    crowded.worker.kill()?;
    crowded.free(&loud)?;
    crowded.worker.start_again()?;

    early.is_as_it_was(&client)?;
    all.push(loud);
    all_end_and_it_goes_on(&client, &all)
}
