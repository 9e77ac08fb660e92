//! One call of a tool: what goes in, what comes out, how it is stopped. The engine makes calls, tools answer them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::watch;
use weir_shared::ids::{NodeId, RunId, StepIndex, ToolName};
use weir_shared::plan::StopPolicy;
use weir_shared::run::event::{OutputStream, ProcessReport};

use crate::run_dir::RunDirectory;

/// Why something that runs is asked to stop. A later reason is stronger and replaces an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopReason {
    Cancelled,
    TimedOut,
    ShuttingDown,
    /// No grace: SIGKILL at once.
    Forced,
}

/// Sees a wish to stop, also one made before it was looked at.
pub(crate) type StopReceiver = watch::Receiver<Option<StopReason>>;

/// Sees output as it comes. Called from the loop that drains the pipes: it must not block and cannot slow the child.
pub(crate) trait OutputTap: Send + Sync {
    /// `offset`: bytes of this stream before these.
    fn write(&self, stream: OutputStream, offset: u64, bytes: &[u8]);
}

/// One attempt of one step.
pub(crate) struct ToolCall {
    pub(crate) tool: ToolName,
    /// In the form the tool takes: secrets filled in, a command's references turned into variables.
    pub(crate) args: Map<String, Value>,
    /// Variables that carry the values of a command's references.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) identity: CallIdentity,
    /// The node's own timeout; the argument's and the tool's default are the tool's business.
    pub(crate) node_timeout: Option<Duration>,
    pub(crate) stop: StopPolicy,
    pub(crate) run_dir: RunDirectory,
    pub(crate) stopping: StopReceiver,
    pub(crate) output: Arc<dyn OutputTap>,
}

/// Which attempt a call is: the `WEIR_*` variables of its process.
#[derive(Debug, Clone)]
pub(crate) struct CallIdentity {
    pub(crate) run: RunId,
    pub(crate) step: StepIndex,
    pub(crate) node: Option<NodeId>,
    pub(crate) attempt: u32,
    pub(crate) idempotency_key: String,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct ToolOutcome {
    pub(crate) ended: Result<Value, ToolFailure>,
    pub(crate) duration: Duration,
    /// Of a process tool.
    pub(crate) report: Option<Box<ProcessReport>>,
}

impl ToolOutcome {
    /// The outcome of a call that could not be made.
    pub(crate) fn not_called(message: String) -> Self {
        let failure = ToolFailure { message, timed_out: false, stopped: None };
        Self { ended: Err(failure), duration: Duration::ZERO, report: None }
    }
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolFailure {
    /// For a person: `exit code 2: no such file`.
    pub(crate) message: String,
    pub(crate) timed_out: bool,
    /// It ended because it was asked to.
    pub(crate) stopped: Option<StopReason>,
}
