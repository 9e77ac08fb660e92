//! Numbers that are part of the contract, in one place, with their units.
//!
//! What an installation may change is in [`Limits`]; what it may not is a constant.

/// Characters of a flow's name after trimming.
pub const NAME_CHARS: usize = 160;
/// Bytes of a flow file that is read at all.
pub const FLOW_FILE_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a snapshot's file: the largest flow with each of its lines two spaces further in, and what stands around it.
pub const SNAPSHOT_FILE_BYTES: usize = 2 * FLOW_FILE_BYTES + 1024;
/// Levels of nesting in a flow file; deeper is refused before it can exhaust a stack.
pub const JSON_DEPTH: usize = 128;
/// Bytes of one pin in compact JSON.
pub const PIN_BYTES: usize = 64 * 1024;
/// Nodes and notes together in a flow.
pub const NODES_AND_NOTES: usize = 512;
/// Edges in a flow.
pub const EDGES: usize = 1024;
/// Steps of a plan that an API caller sends.
pub const PLAN_STEPS: usize = 10_000;
/// Steps of a plan that a model drafts.
pub const MODEL_PLAN_STEPS: usize = 64;
/// Attempts of one step, the first included.
pub const MAX_ATTEMPTS: u32 = 5;
/// The longest wait between two attempts, in milliseconds.
pub const MAX_BACKOFF_MS: u64 = 30_000;
/// The longest grace between the stop signal and SIGKILL, in seconds.
pub const MAX_GRACE_SECONDS: u64 = 600;
/// Grace when a node names none, in seconds.
pub const DEFAULT_GRACE_SECONDS: u64 = 5;
/// The longest timeout of one attempt, in seconds (a day).
pub const MAX_TIMEOUT_SECONDS: u64 = 86_400;
/// Bytes of a result in compact JSON that an event carries whole; more stays in the run's directory.
pub const RESULT_BYTES: usize = 1024 * 1024;
/// Bytes of one environment string, name and `=` included (Linux `MAX_ARG_STRLEN`).
pub const ENVIRONMENT_STRING_BYTES: usize = 131_072;
/// Bytes of a request body that holds a flow or a plan.
pub const BODY_BYTES: u64 = 8 * 1024 * 1024;

/// What the settings may change about flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps in a saved flow (64; the setting allows up to 10,000).
    pub flow_steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { flow_steps: 64 }
    }
}
