//! One attempt of a step as its driver sees it: the call is made, its outcome becomes the ending of an attempt.
//!
//! A result too large for an event is kept whole in the run's directory, and cut for the event.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::watch;
use weir_shared::ids::{RunId, StepIndex};
use weir_shared::limits::RESULT_BYTES;
use weir_shared::plan::Step;
use weir_shared::reference::Filled;
use weir_shared::run::decide::{Ending, Input};

use crate::run_dir::RunDirectory;
use crate::tool::call::{CallIdentity, OutputTap, StopReason, ToolCall, ToolFailure, ToolOutcome};

/// What a driver holds of an attempt that is going on.
pub(crate) struct Running {
    pub(crate) stop: watch::Sender<Option<StopReason>>,
}

impl Running {
    /// Asks the tool to stop; a stronger reason replaces a weaker one.
    pub(crate) fn stop(&self, reason: StopReason) {
        self.stop.send_if_modified(|now| {
            let stronger = now.is_none_or(|now| reason > now);
            if stronger {
                *now = Some(reason);
            }
            stronger
        });
    }
}

/// What came of an attempt.
pub(crate) struct Finished {
    pub(crate) input: Input,
    /// The result, where the event holds only a part.
    pub(crate) whole: Option<(StepIndex, Arc<Value>)>,
}

/// The call for one attempt of a step.
pub(crate) fn call(
    step: &Step,
    filled: Filled,
    identity: CallIdentity,
    run_dir: RunDirectory,
    output: Arc<dyn OutputTap>,
) -> (ToolCall, Running) {
    let (stop, stopping) = watch::channel(None);
    let call = ToolCall {
        tool: step.tool_name.clone(),
        args: filled.call,
        environment: filled.environment,
        identity,
        node_timeout: step.timeout_ms.map(std::time::Duration::from_millis),
        stop: step.stop,
        run_dir,
        stopping,
        output,
    };
    (call, Running { stop })
}

/// The key that every attempt of a step shares, also in runs that resume this one.
pub(crate) fn idempotency_key(root: &RunId, step: &Step) -> String {
    match &step.node_id {
        Some(node) => format!("{root}:{node}"),
        None => format!("{root}:step:{}", step.index),
    }
}

/// The input that an outcome makes.
pub(crate) async fn finish(index: StepIndex, attempt: u32, outcome: ToolOutcome, run_dir: RunDirectory) -> Finished {
    let ToolOutcome { ended, duration, report } = outcome;
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut whole = None;
    let ending = match ended {
        Ok(result) => {
            let (result, kept) = fit(index, result, &run_dir).await;
            let truncated = kept.is_some();
            whole = kept.map(|kept| (index, kept));
            Ending::Done { result, truncated }
        }
        Err(ToolFailure { message, timed_out, stopped }) => match stopped {
            Some(StopReason::Cancelled) => Ending::Cancelled { error: message },
            Some(StopReason::ShuttingDown | StopReason::Forced) => Ending::Interrupted { error: message },
            Some(StopReason::TimedOut) => Ending::Failed { error: message, timed_out: true },
            None => Ending::Failed { error: message, timed_out },
        },
    };
    Finished { input: Input::Ended { index, attempt, ending, duration_ms, report }, whole }
}

/// The result as an event can hold it, and the whole where that is less.
async fn fit(index: StepIndex, result: Value, run_dir: &RunDirectory) -> (Arc<Value>, Option<Arc<Value>>) {
    let bytes = result.to_string();
    if bytes.len() <= RESULT_BYTES {
        return (Arc::new(result), None);
    }
    let path = run_dir.result(index);
    let kept = tokio::task::spawn_blocking(move || {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(&path, bytes)
    });
    if let Ok(Err(error)) = kept.await {
        tracing::warn!(step = %index, %error, "a large result is not kept in the run's directory");
    }
    let mut budget = RESULT_BYTES;
    (Arc::new(cut(&result, &mut budget)), Some(Arc::new(result)))
}

/// The beginning of a value: strings are cut, and lists and objects end, where the budget of bytes does.
fn cut(value: &Value, budget: &mut usize) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            *budget = budget.saturating_sub(8);
            value.clone()
        }
        Value::String(text) => {
            // Escapes can make a text six times as long in JSON; half is a fair guess for output of programs.
            let mut keep = text.len().min(*budget / 2);
            while !text.is_char_boundary(keep) {
                keep -= 1;
            }
            *budget = budget.saturating_sub(keep * 2 + 4);
            Value::from(&text[..keep])
        }
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                if *budget < 16 {
                    break;
                }
                kept.push(cut(item, budget));
            }
            Value::Array(kept)
        }
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (name, field) in fields {
                if *budget < name.len() + 16 {
                    break;
                }
                *budget -= name.len() + 4;
                kept.insert(name.clone(), cut(field, budget));
            }
            Value::Object(kept)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_large_result_is_cut_to_its_beginning_and_keeps_its_shape() {
        let long = "é".repeat(2_000_000);
        let value = json!({"exitCode": 0, "stdout": long, "list": vec![1; 10]});
        let mut budget = RESULT_BYTES;
        let cut = cut(&value, &mut budget);
        assert_eq!(cut["exitCode"], 0);
        assert!(cut["stdout"].as_str().unwrap().starts_with("éé"));
        assert!(cut.to_string().len() <= RESULT_BYTES);
    }
}
