//! A run without a worker: the same engine, in this process, on the state directory that a worker would hold.
//!
//! When another run of this kind holds it, this one gets a state directory that goes with it, and says so.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Map, Value};
use tokio::signal::unix::{Signal, SignalKind, signal};
use weir_shared::check::{Surroundings, check_text};
use weir_shared::ids::{FlowId, GateId, Owner, Revision, RunId, Seq};
use weir_shared::run::event::{Cause, RunConfig};

use super::connect::finding_line;
use super::events::Frame;
use super::exit::{Exit, Stop};
use super::telling::{Json, Telling, Told};
use super::{Done, flow_files, gate, output};
use crate::config::Config;
use crate::engine::Answer;
use crate::parts::{Parts, assemble};
use crate::process::confine_worker;
use crate::run_request::{RunRequest, Source, StartError};
use crate::shutdown::{Shutdown, Stage};
use crate::state_dir::{StateDirectory, StateError, StateLock};
use crate::store::Store;

/// How long stopped steps may take to end, above the grace that a step has by default.
const STOP_TIME: Duration = Duration::from_secs(10);
/// How long killed steps may take to be recorded.
const FORCED_TIME: Duration = Duration::from_secs(5);

/// Makes the inputs of a flow with this schema.
pub(super) type MakeInputs<'a> = dyn Fn(Option<&Value>) -> Result<Map<String, Value>, Stop> + 'a;

/// What is to run.
pub(super) struct Asked<'a> {
    /// The flow's file.
    pub(super) file: PathBuf,
    pub(super) flow: FlowId,
    pub(super) inputs: &'a MakeInputs<'a>,
    pub(super) config: RunConfig,
    pub(super) json: Json,
}

/// Runs the flow to its end, or to a gate that nobody answers.
pub(super) fn run(config: Config, asked: &Asked<'_>) -> Done {
    // Before there are threads: it holds for all of them, and for every child.
    confine_worker().map_err(|error| Stop::failed(&error))?;
    let held = Held::take(config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Stop::failed(&error))?;
    let done = runtime.block_on(work(&held, asked));
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}

/// A state directory that is held.
struct Held {
    config: Config,
    keep: Keep,
    _lock: StateLock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// It is the machine's: the run is in its history.
    Kept,
    ThrownAway,
}

impl Held {
    fn take(mut config: Config) -> Result<Self, Stop> {
        match StateDirectory::at(config.state.clone()).take() {
            Ok(lock) => Ok(Self { config, keep: Keep::Kept, _lock: lock }),
            Err(StateError::HeldByUnknown { path }) => {
                output::tell(&format!(
                    "{} is held by another run: this one is kept nowhere, and plugins that are trusted there are not \
                     trusted in it",
                    path.display()
                ));
                config.state = std::env::temp_dir().join(format!("weir-run-{}", uuid::Uuid::now_v7()));
                let lock = StateDirectory::at(config.state.clone()).take().map_err(|error| Stop::failed(&error))?;
                Ok(Self { config, keep: Keep::ThrownAway, _lock: lock })
            }
            Err(error) => Err(Stop::usage(&error)),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.keep == Keep::ThrownAway
            && let Err(error) = std::fs::remove_dir_all(&self.config.state)
        {
            output::tell(&format!("{}: {error}", self.config.state.display()));
        }
    }
}

async fn work(held: &Held, asked: &Asked<'_>) -> Done {
    let mut interrupts = signal(SignalKind::interrupt()).map_err(|error| Stop::failed(&error))?;
    let store = Store::open(&held.config.state.join("weir.redb")).map_err(|error| Stop::usage(&error))?;
    let secrets = held.config.secrets.read().map_err(|error| Stop::usage(&error))?;
    let (shutdown, watch) = Shutdown::new();
    let flows = asked.file.parent().unwrap_or(Path::new("."));
    let flows = std::path::absolute(flows).map_err(|error| Stop::failed(&error))?;
    let parts =
        assemble(&held.config, &flows, (&store, &secrets), watch).await.map_err(|error| Stop::failed(&error))?;
    let done = match start(&parts, &held.config, asked).await {
        Ok(run) => {
            Alone { parts: &parts, shutdown: &shutdown, keep: held.keep }.follow(run, asked.json, &mut interrupts).await
        }
        Err(stop) => Err(stop),
    };
    wind_down(&parts, &shutdown, held.config.shutdown_grace).await;
    store.close().await;
    done
}

/// Checks the flow as the worker would, and starts it.
async fn start(parts: &Parts, config: &Config, asked: &Asked<'_>) -> Result<RunId, Stop> {
    let bytes = flow_files::read(&asked.file)?;
    let catalog = parts.toolbox.catalog();
    let around =
        Surroundings { catalog: &catalog, limits: &config.limits, secrets: Some(parts.toolbox.secrets().names()) };
    let checked = check_text(&bytes, &around);
    let (Some(flow), Some(plan)) = (checked.flow, checked.plan) else {
        let errors = checked.findings.iter().filter(|finding| finding.is_error()).map(finding_line);
        let told = listed("the flow has errors and cannot run", errors);
        return Err(Stop { exit: Exit::Findings, message: told });
    };
    let inputs = (asked.inputs)(flow.inputs.as_ref())?;
    let source = Source::Flow {
        id: asked.flow.clone(),
        revision: Revision::of(&bytes),
        flow: Arc::new(flow),
        plan: Arc::new(plan),
    };
    let config = asked.config.clone();
    let request = RunRequest { cause: Cause::Manual, owner: Owner::local(), source, inputs, config, priority: None };
    let accepted = parts.runs.start(request).await.map_err(|error| refused(&error))?;
    output::tell(&format!("run {}, without a worker", accepted.run_id));
    Ok(accepted.run_id)
}

/// What is wrong, and each part of it on a line of its own.
fn listed(what: &str, lines: impl Iterator<Item = String>) -> String {
    std::iter::once(what.to_owned()).chain(lines.map(|line| format!("  {line}"))).collect::<Vec<_>>().join("\n")
}

fn refused(error: &StartError) -> Stop {
    let faults = match error {
        StartError::Inputs(faults) | StartError::Plan(faults) | StartError::NotYetSupported(faults) => {
            faults.as_slice()
        }
        StartError::Goal(_)
        | StartError::FlowBusy { .. }
        | StartError::Capacity { .. }
        | StartError::Stopping
        | StartError::Store(_) => &[],
    };
    let lines = faults.iter().map(|fault| format!("{}: {}", fault.path, fault.message));
    Stop::usage(&listed(&error.to_string(), lines))
}

/// A run that is followed.
struct Alone<'a> {
    parts: &'a Parts,
    shutdown: &'a Shutdown,
    keep: Keep,
}

impl Alone<'_> {
    async fn follow(&self, run: RunId, json: Json, interrupts: &mut Signal) -> Done {
        let mut telling = Telling::of(run.clone(), json);
        let frames = self.parts.runs.follow(&run, Seq(0)).map_err(|error| Stop::failed(&error))?;
        let mut frames = std::pin::pin!(frames);
        let mut interrupted = 0;
        loop {
            let frame = tokio::select! {
                frame = frames.next() => frame,
                _ = interrupts.recv() => {
                    interrupted += 1;
                    self.interrupt(&run, interrupted).await?;
                    continue;
                }
            };
            let Some(frame) = frame else {
                return Err(Stop { exit: Exit::Cancelled, message: format!("run {run} was ended") });
            };
            let id = frame.id.map(|seq| seq.0.to_string());
            let frame = Frame { id, event: frame.event.to_owned(), data: frame.data.to_string() };
            match telling.take(&frame)? {
                Told::Nothing => {}
                Told::Ended(exit) => return Ok(exit),
                Told::Gate(gate) => {
                    if !self.answer(&run, gate).await? {
                        return Ok(Exit::Gate);
                    }
                }
            }
        }
    }

    /// The first one cancels, the second kills.
    async fn interrupt(&self, run: &RunId, count: u32) -> Result<(), Stop> {
        if count == 1 {
            output::tell("cancelling; press Ctrl-C again to kill what runs");
            return self.parts.runs.cancel(run, &Owner::local()).await.map_err(|error| Stop::failed(&error));
        }
        self.shutdown.advance(Stage::Forced);
        Ok(())
    }

    /// Whether somebody answered the gate.
    async fn answer(&self, run: &RunId, gate: GateId) -> Result<bool, Stop> {
        let said = if gate::somebody_is_there() {
            let question = format!("gate {gate}");
            let asking = tokio::task::spawn_blocking(move || gate::ask(&question));
            asking.await.map_err(|error| Stop::failed(&error))?
        } else {
            gate::Said::Nothing
        };
        let approved = match said {
            gate::Said::Yes => true,
            gate::Said::No => false,
            gate::Said::Nothing => {
                output::tell(match self.keep {
                    Keep::Kept => "the run waits; start the worker with `weir serve`, and answer with `weir approve`",
                    Keep::ThrownAway => "nobody can be asked, and the run is not kept",
                });
                return Ok(false);
            }
        };
        let answer = Answer { gate: Some(gate), approved, ..Answer::default() };
        match self.parts.runs.approve(run, answer, &Owner::local()).await {
            Ok(()) => Ok(true),
            Err(error) => {
                output::tell(&error.to_string());
                Ok(true)
            }
        }
    }
}

/// Lets what still runs finish, then stops it, then kills it. A run that waits at a gate waits on in the journal.
async fn wind_down(parts: &Parts, shutdown: &Shutdown, grace: Duration) {
    for (stage, patience) in [(Stage::Draining, grace), (Stage::Stopping, STOP_TIME), (Stage::Forced, FORCED_TIME)] {
        shutdown.advance(stage);
        if tokio::time::timeout(patience, parts.runs.drained()).await.is_ok() {
            return;
        }
    }
}
