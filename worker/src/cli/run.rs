//! `weir run`: runs a flow to its end: on the running worker, or by itself when there is none.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use nix::sys::signal::{SigSet, Signal};
use serde_json::Value;
use weir_shared::flow::PermissionMode;
use weir_shared::ids::{FlowId, GateId, RunId};
use weir_shared::run::event::RunConfig;
use weir_shared::wire::{Approve, FlowView, RunAccepted, RunFlow};

use super::alone::{self, Asked};
use super::connect::{AskError, Worker};
use super::events::next_frame;
use super::exit::{Exit, Stop};
use super::telling::{Json, Telling, Told};
use super::{Done, Place, gate, output, run_inputs};
use crate::config::Config;

/// Run a flow to its end
///
/// On the running worker, or by itself on the same engine when none runs; then it holds the state directory meanwhile.
/// Steps and progress go to standard error, the result to standard output. A gate is asked about on a terminal; without
/// one the command ends with exit code 4, and the run waits. Ctrl-C cancels the run; a second one forces it, or leaves at
/// once when a worker runs it.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// The flow: its id, or its file `…/<id>.flow.json`
    flow: String,
    /// An input, as name=value; again for each
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    /// A JSON object of inputs; - reads standard input
    #[arg(long = "inputs", value_name = "FILE")]
    inputs_file: Option<PathBuf>,
    /// What may run without asking
    #[arg(long, value_enum)]
    permission_mode: Option<Mode>,
    /// Print the run, its status and its result as one line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// A permission mode, as a flag says it.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Mode {
    AskForApproval,
    ApproveForMe,
    FullAccess,
}

impl From<Mode> for PermissionMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::AskForApproval => PermissionMode::AskForApproval,
            Mode::ApproveForMe => PermissionMode::ApproveForMe,
            Mode::FullAccess => PermissionMode::FullAccess,
        }
    }
}

/// How often a lost stream is taken up again before the worker counts as gone, and the pause between.
const RECONNECTS: u32 = 10;
const PAUSE: Duration = Duration::from_secs(1);

impl Run {
    pub(super) fn execute(self) -> Done {
        let config = self.place.config()?;
        let flow = flow_id(&self.flow)?;
        let file = self.inputs_file.as_deref().map(read_inputs).transpose()?;
        let inputs = |schema: Option<&Value>| {
            run_inputs::assemble(schema, file.as_deref(), &self.inputs).map_err(|error| Stop::usage(&error))
        };
        let mut run_config = RunConfig::default();
        if let Some(mode) = self.permission_mode {
            run_config.permission_mode = mode.into();
        }
        let json = if self.json { Json::Yes } else { Json::No };
        let Some(worker) = Worker::running(&config)? else {
            let file = flow_file(&self.flow, &flow, &config);
            return alone::run(config, &Asked { file, flow, inputs: &inputs, config: run_config, json });
        };
        let view: FlowView = worker.get(&format!("/api/workflows/{flow}"))?;
        let inputs = inputs(view.flow.as_ref().and_then(|flow| flow.inputs.as_ref()))?;
        let body = RunFlow { inputs, config: run_config, ..RunFlow::default() };
        let interrupts = Interrupts::hold()?;
        let accepted: RunAccepted = worker.post(&format!("/api/workflows/{flow}/run"), &body)?;
        output::tell(&format!("run {}", accepted.run_id));
        interrupts.cancel(worker.clone(), accepted.run_id.clone());
        Following { worker, telling: Telling::of(accepted.run_id, json) }.follow()
    }
}

/// Where the flow is that was named, for a run without a worker: a file as it was named, an id in the flow directory.
fn flow_file(named: &str, flow: &FlowId, config: &Config) -> PathBuf {
    if named.ends_with(".flow.json") && named.contains('/') || Path::new(named).is_file() {
        PathBuf::from(named)
    } else {
        config.flows.join(format!("{flow}.flow.json"))
    }
}

/// The flow that was named, by id or by file.
pub(super) fn flow_id(named: &str) -> Result<FlowId, Stop> {
    let file = named.rsplit('/').next().unwrap_or(named);
    file.strip_suffix(".flow.json").unwrap_or(named).parse().map_err(|error| Stop::usage(&error))
}

fn read_inputs(path: &std::path::Path) -> Result<String, Stop> {
    let read = if path.as_os_str() == "-" {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    read.map_err(|error| Stop::usage(&format!("{}: {error}", path.display())))
}

/// Ctrl-C, held back so that a thread can take it. Must be held before any other thread starts.
struct Interrupts(SigSet);

impl Interrupts {
    fn hold() -> Result<Self, Stop> {
        let mut signals = SigSet::empty();
        signals.add(Signal::SIGINT);
        signals.thread_block().map_err(|error| Stop::failed(&error))?;
        Ok(Self(signals))
    }

    /// The first one cancels the run, the second leaves. The thread ends with the process.
    fn cancel(self, worker: Worker, run: RunId) {
        std::thread::spawn(move || {
            if self.0.wait().is_ok() {
                output::tell("cancelling; press Ctrl-C again to leave at once");
                if let Err(error) = worker.post::<Value>(&format!("/api/agent/{run}/cancel"), &serde_json::json!({})) {
                    output::tell(&error.to_string());
                }
            }
            if self.0.wait().is_ok() {
                std::process::exit(130);
            }
        });
    }
}

/// A run that a worker runs.
struct Following {
    worker: Worker,
    telling: Telling,
}

impl Following {
    fn follow(mut self) -> Done {
        let run = self.telling.run.clone();
        let path = format!("/api/agent/stream?runId={run}");
        let mut last: Option<String> = None;
        let mut lost = 0;
        loop {
            match self.worker.follow(&path, last.as_deref()) {
                Ok(Some(stream)) => {
                    let mut stream = BufReader::new(stream);
                    // An error is a lost connection, like an end before the end.
                    while let Ok(Some(frame)) = next_frame(&mut stream) {
                        lost = 0;
                        last = frame.id.clone().or(last);
                        match self.telling.take(&frame)? {
                            Told::Nothing => {}
                            Told::Ended(exit) => return Ok(exit),
                            Told::Gate(gate) => {
                                if let Some(exit) = self.answer(gate)? {
                                    return Ok(exit);
                                }
                            }
                        }
                    }
                }
                Ok(None) => return Err(Stop::failed(&format!("the end of run {run} was missed"))),
                Err(AskError::Unreachable { .. }) if lost < RECONNECTS => {}
                Err(error) => return Err(error.into()),
            }
            lost += 1;
            if lost > RECONNECTS {
                return Err(Stop::failed(&format!("the stream of run {run} was lost; see `weir runs`")));
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn answer(&self, gate_id: GateId) -> Result<Option<Exit>, Stop> {
        let run = &self.telling.run;
        if !gate::somebody_is_there() {
            output::tell(&format!("the run waits; answer with `weir approve {run} --gate {gate_id}`"));
            return Ok(Some(Exit::Gate));
        }
        let approved = match gate::ask(&format!("gate {gate_id}")) {
            gate::Said::Yes => true,
            gate::Said::No => false,
            gate::Said::Nothing => return Ok(Some(Exit::Gate)),
        };
        let answer = Approve { gate_id: Some(gate_id), approved: Some(approved), reason: None };
        match self.worker.post::<Value>(&format!("/api/agent/{run}/approve"), &answer) {
            Ok(_) => {}
            // Somebody else was quicker, or the run is over: the stream tells which.
            Err(AskError::Refused(refused)) if refused.status == 409 => output::tell(&refused.problem.error),
            Err(error) => return Err(error.into()),
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_named_by_id_or_by_file() {
        for named in ["nightly", "nightly.flow.json", "./flows/nightly.flow.json"] {
            assert_eq!(flow_id(named).unwrap().as_str(), "nightly", "{named}");
        }
        assert_eq!(flow_id("Not A Flow").unwrap_err().exit, Exit::Usage);
    }
}
