//! `weir logs`: what happened in a run, and what its steps wrote.

use std::collections::BTreeMap;
use std::io::{BufReader, Read as _};

use clap::Args;
use weir_shared::ids::{RunId, StepIndex};
use weir_shared::run::event::{Event, OutputStream, Recorded, STEP_OUTPUT, StepOutput};
use weir_shared::wire::RunDetail;

use super::connect::{AskError, Worker};
use super::events::{Frame, next_frame};
use super::exit::{Exit, Stop};
use super::progress::Progress;
use super::telling::event_of;
use super::{Done, Place, output};

/// Bytes of one output that are read at a time: an output is as long as its step made it.
const PIECE_BYTES: u64 = 4 * 1024 * 1024;

/// Print what happened in a run, and what its steps wrote
///
/// Each step's output stands where the step ended, or as it comes with --follow. Standard output of a step is marked
/// with `|`, its standard error with `!`.
#[derive(Debug, Args)]
pub(super) struct Logs {
    run: RunId,
    /// Go on until the run has ended
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    place: Place,
}

impl Logs {
    pub(super) fn execute(self) -> Done {
        let worker = Worker::find(&self.place.config()?)?;
        let mut log = Log {
            worker,
            run: self.run,
            progress: Progress::default(),
            attempts: BTreeMap::new(),
            printed: BTreeMap::new(),
        };
        let last = log.past()?;
        if self.follow {
            log.follow(last)?;
        }
        Ok(Exit::Done)
    }
}

struct Log {
    worker: Worker,
    run: RunId,
    progress: Progress,
    /// The attempt of each step that was started last.
    attempts: BTreeMap<StepIndex, u32>,
    /// Bytes of each output that have been printed.
    printed: BTreeMap<(StepIndex, u32, &'static str), u64>,
}

impl Log {
    /// Prints what has happened so far; the number of the last event.
    fn past(&mut self) -> Result<u64, Stop> {
        let mut last = 0;
        loop {
            let page: RunDetail = self.worker.get(&format!("/api/agent/runs/{}?after={last}", self.run))?;
            for Recorded { seq, event, .. } in &page.events {
                last = seq.0;
                self.event(event)?;
            }
            if page.next_event.is_none() {
                return Ok(last);
            }
        }
    }

    /// Prints what happens from there on, until the run has ended or the worker goes away.
    fn follow(&mut self, last: u64) -> Result<(), Stop> {
        let path = format!("/api/agent/stream?runId={}", self.run);
        let Some(stream) = self.worker.follow(&path, Some(&last.to_string()))? else { return Ok(()) };
        let mut stream = BufReader::new(stream);
        while let Ok(Some(frame)) = next_frame(&mut stream) {
            self.frame(&frame)?;
        }
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), Stop> {
        if frame.event == STEP_OUTPUT {
            let Ok(piece) = serde_json::from_str::<StepOutput>(&frame.data) else { return Ok(()) };
            // From the kept output and not from the piece: what came before this was followed is there too.
            return self.output(piece.index, piece.attempt, piece.stream);
        }
        event_of(frame).map_or(Ok(()), |event| self.event(&event))
    }

    fn event(&mut self, event: &Event) -> Result<(), Stop> {
        let ended = match event {
            Event::StepStart { index, attempt, .. } => {
                self.attempts.insert(*index, *attempt);
                None
            }
            Event::StepComplete { index, .. } => self.attempts.get(index).map(|attempt| (*index, *attempt)),
            Event::StepRetry { index, next_attempt, .. } => Some((*index, next_attempt.saturating_sub(1))),
            Event::StepFailed(end) | Event::StepCancelled(end) | Event::StepInterrupted(end) => {
                Some((end.index, end.attempt))
            }
            _ => None,
        };
        if let Some((index, attempt)) = ended {
            self.output(index, attempt, OutputStream::Stdout)?;
            self.output(index, attempt, OutputStream::Stderr)?;
        }
        for line in self.progress.lines(event) {
            output::data(&format!("{line}\n"))?;
        }
        match event {
            Event::Complete { summary, .. } => output::data(&format!("completed: {summary}\n")),
            Event::Error { message, .. } => output::data(&format!("ended: {message}\n")),
            _ => Ok(()),
        }
    }

    /// Prints what is kept of an output beyond what was printed.
    fn output(&mut self, index: StepIndex, attempt: u32, stream: OutputStream) -> Result<(), Stop> {
        let (name, mark) = match stream {
            OutputStream::Stdout => ("stdout", '|'),
            OutputStream::Stderr => ("stderr", '!'),
        };
        loop {
            let from = self.printed.get(&(index, attempt, name)).copied().unwrap_or(0);
            let path = format!(
                "/api/agent/runs/{}/steps/{index}/output?attempt={attempt}&stream={name}&offset={from}",
                self.run
            );
            let bytes = match self.worker.follow(&path, None) {
                Ok(Some(body)) => read_piece(body)?,
                // A step that is no process has no output.
                Ok(None) | Err(AskError::Refused(_)) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            if bytes.is_empty() {
                return Ok(());
            }
            self.printed.insert((index, attempt, name), from + bytes.len() as u64);
            let text = String::from_utf8_lossy(&bytes);
            let lines: Vec<String> = text.lines().map(|line| format!("    {mark} {line}\n")).collect();
            output::data(&lines.concat())?;
        }
    }
}

fn read_piece(body: impl std::io::Read) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    body.take(PIECE_BYTES).read_to_end(&mut bytes).map_err(|error| Stop::failed(&error))?;
    Ok(bytes)
}
