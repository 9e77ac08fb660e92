//! A run as `weir run` tells it, whoever runs it: progress to standard error, the result to standard output.

use serde_json::Value;
use weir_shared::ids::{GateId, RunId};
use weir_shared::run::event::{EndCode, Event};

use super::events::Frame;
use super::exit::{Exit, Stop};
use super::output;
use super::progress::Progress;

/// Tells one run.
pub(super) struct Telling {
    pub(super) run: RunId,
    pub(super) json: Json,
    progress: Progress,
}

/// How the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Json {
    /// The run, its status and its result as one line of JSON.
    Yes,
    /// The result alone, for people.
    No,
}

/// What an event asks of whoever follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    Nothing,
    Gate(GateId),
    Ended(Exit),
}

impl Telling {
    pub(super) fn of(run: RunId, json: Json) -> Self {
        Self { run, json, progress: Progress::default() }
    }

    /// Tells one frame.
    pub(super) fn take(&mut self, frame: &Frame) -> Result<Told, Stop> {
        let Some(event) = event_of(frame) else { return Ok(Told::Nothing) };
        for line in self.progress.lines(&event) {
            output::tell(&line);
        }
        match event {
            Event::StepApprovalRequested { gate_id, .. } | Event::PlanApprovalRequested { gate_id } => {
                Ok(Told::Gate(gate_id))
            }
            Event::Complete { summary, result } => {
                self.finish("completed", &summary, Some(&result))?;
                Ok(Told::Ended(Exit::Done))
            }
            Event::Error { message, code, .. } => {
                let (status, exit) = match code {
                    EndCode::Cancelled => ("cancelled", Exit::Cancelled),
                    EndCode::Interrupted => ("interrupted", Exit::Failed),
                    EndCode::Failed | EndCode::StorageFull => ("failed", Exit::Failed),
                };
                self.finish(status, &message, None)?;
                Ok(Told::Ended(exit))
            }
            _ => Ok(Told::Nothing),
        }
    }

    fn finish(&self, status: &str, said: &str, result: Option<&Value>) -> Result<(), Stop> {
        if self.json == Json::Yes {
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
pub(super) fn event_of(frame: &Frame) -> Option<Event> {
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
    fn an_event_is_read_from_its_frame_and_output_is_none() {
        let frame = |event: &str, data: &str| Frame { id: None, event: event.to_owned(), data: data.to_owned() };
        let event = event_of(&frame("cancel_requested", r#"{"seq":3,"ts":"2026-11-30T22:16:40.123Z","by":"local"}"#));
        assert_eq!(event, Some(Event::CancelRequested { by: "local".to_owned() }));
        assert_eq!(event_of(&frame("step_output", r#"{"index":0,"text":"x"}"#)), None);
    }
}
