//! A run's stream, folded: the state by the same `reduce` as the worker's, and the output beside it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use weir_shared::ids::StepIndex;
use weir_shared::run::event::{OutputStream, Recorded, STEP_OUTPUT, StepOutput};
use weir_shared::run::reduce::reduce;
use weir_shared::run::state::RunState;

use super::capture::Capture;

/// The names of all frames that a run's stream has.
pub const FRAMES: [&str; 19] = [
    "run_created",
    "run_started",
    "plan_ready",
    "plan_approval_requested",
    "step_approval_requested",
    "approval_resolved",
    "step_decided",
    "step_start",
    "step_retry",
    "step_skipped",
    "step_complete",
    "step_failed",
    "step_cancelled",
    "step_interrupted",
    "cancel_requested",
    "hook_failed",
    "complete",
    "error",
    STEP_OUTPUT,
];

/// Which output: of a step, an attempt, a stream.
pub type OutputKey = (StepIndex, u32, OutputName);

/// `stdout` before `stderr`; ordered, which the wire's own type is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutputName {
    Stdout,
    Stderr,
}

impl OutputName {
    /// The wire's name of it.
    pub fn stream(self) -> OutputStream {
        match self {
            OutputName::Stdout => OutputStream::Stdout,
            OutputName::Stderr => OutputStream::Stderr,
        }
    }

    fn of(stream: OutputStream) -> Self {
        match stream {
            OutputStream::Stdout => OutputName::Stdout,
            OutputStream::Stderr => OutputName::Stderr,
        }
    }
}

/// A run as far as its stream has told.
#[derive(Debug, Clone, Default)]
pub struct RunFold {
    pub state: RunState,
    pub outputs: BTreeMap<OutputKey, Capture>,
    /// Why the stream cannot be followed any more: it does not add up, or is of another version.
    pub broken: Option<String>,
}

impl RunFold {
    /// Takes one frame. What was taken before is passed over, so a replay does no harm.
    pub fn take(&mut self, name: &str, data: &str) {
        if self.broken.is_some() {
            return;
        }
        let taken = if name == STEP_OUTPUT { self.take_output(data) } else { self.take_event(name, data) };
        if let Err(why) = taken {
            self.broken = Some(why);
        }
    }

    fn take_event(&mut self, name: &str, data: &str) -> Result<(), String> {
        let recorded = recorded(name, data)?;
        if recorded.seq <= self.state.last {
            return Ok(());
        }
        self.state = reduce(std::mem::take(&mut self.state), &recorded).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn take_output(&mut self, data: &str) -> Result<(), String> {
        let output: StepOutput = serde_json::from_str(data).map_err(|error| error.to_string())?;
        let key = (output.index, output.attempt, OutputName::of(output.stream));
        self.outputs.entry(key).or_default().add(output.offset, &output.text);
        Ok(())
    }
}

/// An event from its frame, whose data holds `seq` and `ts` beside the event's own fields.
fn recorded(name: &str, data: &str) -> Result<Recorded, String> {
    let mut fields: Map<String, Value> = serde_json::from_str(data).map_err(|error| error.to_string())?;
    let (seq, ts) = (fields.shift_remove("seq"), fields.shift_remove("ts"));
    serde_json::from_value(json!({ "seq": seq, "ts": ts, "event": name, "data": fields }))
        .map_err(|error| format!("frame {name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_shared::run::state::RunStatus;

    const CREATED: &str = r#"{"seq": 1, "ts": "2026-11-30T10:00:00Z", "runId": "01936d2a-0000-7000-8000-000000000001",
        "rootRunId": "01936d2a-0000-7000-8000-000000000001", "taskId": "01936d2a-0000-7000-8000-000000000002",
        "cause": "manual", "owner": "local", "goal": "", "inputs": {}, "config": {}, "sandbox": "off"}"#;

    #[test]
    fn a_stream_is_folded_and_a_replay_does_no_harm() {
        let mut fold = RunFold::default();
        let started = r#"{"seq": 2, "ts": "2026-11-30T10:00:00.010Z", "queueWaitMs": 10}"#;
        for _ in 0..2 {
            fold.take("run_created", CREATED);
            fold.take("run_started", started);
        }
        assert_eq!(fold.broken, None);
        assert_eq!(fold.state.status(), RunStatus::Planning);
    }

    #[test]
    fn a_gap_is_said_and_nothing_is_guessed() {
        let mut fold = RunFold::default();
        fold.take("run_created", CREATED);
        fold.take("run_started", r#"{"seq": 3, "ts": "2026-11-30T10:00:01Z", "queueWaitMs": 10}"#);
        assert!(fold.broken.is_some());
        assert_eq!(fold.state.last.0, 0, "a broken fold shows nothing it is not sure of");
    }

    #[test]
    fn output_is_kept_by_attempt_and_stream() {
        let mut fold = RunFold::default();
        fold.take(STEP_OUTPUT, r#"{"index": 0, "attempt": 1, "stream": "stdout", "offset": 0, "text": "a"}"#);
        fold.take(STEP_OUTPUT, r#"{"index": 0, "attempt": 2, "stream": "stdout", "offset": 0, "text": "b"}"#);
        let texts: Vec<&str> = fold.outputs.values().map(Capture::text).collect();
        assert_eq!(texts, ["a", "b"]);
    }
}
