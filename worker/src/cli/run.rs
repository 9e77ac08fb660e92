//! `weir run`: starts a flow on the running worker and follows it to its end.

use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use nix::sys::signal::{SigSet, Signal};
use serde_json::Value;
use weir_shared::flow::PermissionMode;
use weir_shared::ids::{FlowId, GateId, RunId};
use weir_shared::run::event::{EndCode, Event, RunConfig};
use weir_shared::wire::{Approve, FlowView, RunAccepted, RunFlow};

use super::connect::{AskError, Worker};
use super::events::{Frame, next_frame};
use super::exit::{Exit, Stop};
use super::progress::Progress;
use super::{Done, Place, gate, output, run_inputs};

/// Run a flow on the running worker, and follow it to its end
///
/// Steps and progress go to standard error, the result to standard output. A gate is asked about on a terminal; without
/// one the command ends with exit code 4, and the run waits. Ctrl-C cancels the run; a second one leaves at once.
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

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
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
        let worker = Worker::find(&self.place.config()?)?;
        let flow = flow_id(&self.flow)?;
        let view: FlowView = worker.get(&format!("/api/workflows/{flow}"))?;
        let file = self.inputs_file.as_deref().map(read_inputs).transpose()?;
        let schema = view.flow.as_ref().and_then(|flow| flow.inputs.as_ref());
        let inputs =
            run_inputs::assemble(schema, file.as_deref(), &self.inputs).map_err(|error| Stop::usage(&error))?;
        let mut config = RunConfig::default();
        if let Some(mode) = self.permission_mode {
            config.permission_mode = mode.into();
        }
        let body = RunFlow { inputs, config, ..RunFlow::default() };
        let interrupts = Interrupts::hold()?;
        let accepted: RunAccepted = worker.post(&format!("/api/workflows/{flow}/run"), &body)?;
        output::tell(&format!("run {}", accepted.run_id));
        interrupts.cancel(worker.clone(), accepted.run_id.clone());
        Following { worker, run: accepted.run_id, progress: Progress::default(), json: self.json }.follow()
    }
}

/// The flow that was named, by id or by file.
fn flow_id(named: &str) -> Result<FlowId, Stop> {
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

struct Following {
    worker: Worker,
    run: RunId,
    progress: Progress,
    json: bool,
}

impl Following {
    fn follow(mut self) -> Done {
        let path = format!("/api/agent/stream?runId={}", self.run);
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
                        if let Some(exit) = self.take(&frame)? {
                            return Ok(exit);
                        }
                    }
                }
                Ok(None) => return Err(Stop::failed(&format!("the end of run {} was missed", self.run))),
                Err(AskError::Unreachable { .. }) if lost < RECONNECTS => {}
                Err(error) => return Err(error.into()),
            }
            lost += 1;
            if lost > RECONNECTS {
                return Err(Stop::failed(&format!("the stream of run {} was lost; see `weir runs`", self.run)));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Shows one frame, and says when it was the last one that counts.
    fn take(&mut self, frame: &Frame) -> Result<Option<Exit>, Stop> {
        let Some(event) = event_of(frame) else { return Ok(None) };
        for line in self.progress.lines(&event) {
            output::tell(&line);
        }
        match event {
            Event::StepApprovalRequested { gate_id, .. } | Event::PlanApprovalRequested { gate_id } => {
                self.answer(gate_id)
            }
            Event::Complete { summary, result } => {
                self.finish("completed", &summary, Some(&result))?;
                Ok(Some(Exit::Done))
            }
            Event::Error { message, code, .. } => {
                let (status, exit) = match code {
                    EndCode::Cancelled => ("cancelled", Exit::Cancelled),
                    EndCode::Interrupted => ("interrupted", Exit::Failed),
                    EndCode::Failed | EndCode::StorageFull => ("failed", Exit::Failed),
                };
                self.finish(status, &message, None)?;
                Ok(Some(exit))
            }
            _ => Ok(None),
        }
    }

    fn answer(&self, gate_id: GateId) -> Result<Option<Exit>, Stop> {
        if !gate::somebody_is_there() {
            output::tell(&format!("the run waits; answer with `weir approve {} --gate {gate_id}`", self.run));
            return Ok(Some(Exit::Gate));
        }
        let approved = match gate::ask(&format!("gate {gate_id}")) {
            gate::Said::Yes => true,
            gate::Said::No => false,
            gate::Said::Nothing => return Ok(Some(Exit::Gate)),
        };
        let answer = Approve { gate_id: Some(gate_id), approved: Some(approved), reason: None };
        match self.worker.post::<Value>(&format!("/api/agent/{}/approve", self.run), &answer) {
            Ok(_) => {}
            // Somebody else was quicker, or the run is over: the stream tells which.
            Err(AskError::Refused(refused)) if refused.status == 409 => output::tell(&refused.problem.error),
            Err(error) => return Err(error.into()),
        }
        Ok(None)
    }

    fn finish(&self, status: &str, said: &str, result: Option<&Value>) -> Result<(), Stop> {
        if self.json {
            let (summary, error) = if result.is_some() { (Some(said), None) } else { (None, Some(said)) };
            let whole = serde_json::json!({
                "runId": self.run, "status": status, "summary": summary, "error": error, "result": result,
            });
            return output::data(&output::json_line(&whole)?);
        }
        output::tell(&format!("{status}: {said}"));
        match result {
            None | Some(Value::Null) => Ok(()),
            Some(Value::String(text)) => output::data(&format!("{}\n", text.trim_end_matches('\n'))),
            Some(value) => {
                let text = serde_json::to_string_pretty(value).map_err(|error| Stop::failed(&error))?;
                output::data(&format!("{text}\n"))
            }
        }
    }
}

/// The event that a frame carries; none for frames that are not events.
fn event_of(frame: &Frame) -> Option<Event> {
    let mut data: Value = serde_json::from_str(&frame.data).ok()?;
    let fields = data.as_object_mut()?;
    // Of the record, not of the event.
    fields.shift_remove("seq")?;
    fields.shift_remove("ts");
    serde_json::from_value(serde_json::json!({ "event": frame.event, "data": data })).ok()
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

    #[test]
    fn an_event_is_read_from_its_frame_and_output_is_none() {
        let frame = |event: &str, data: &str| Frame { id: None, event: event.to_owned(), data: data.to_owned() };
        let event = event_of(&frame("cancel_requested", r#"{"seq":3,"ts":"2026-11-30T22:16:40.123Z","by":"local"}"#));
        assert_eq!(event, Some(Event::CancelRequested { by: "local".to_owned() }));
        assert_eq!(event_of(&frame("step_output", r#"{"index":0,"text":"x"}"#)), None);
    }
}
