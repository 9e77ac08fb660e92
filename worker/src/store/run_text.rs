//! The narrow form of a run: what lists filter by and what a search reads, and nothing else.
//!
//! Layout: status, cause, length of the owner, length of the flow id (one byte each), owner, flow id, then goal,
//! summary and error in lower case with a zero byte between. It is made from the row whenever the row changes.

use memchr::memmem::Finder;
use weir_shared::run::event::Cause;
use weir_shared::run::state::RunStatus;
use weir_shared::wire::RunRow;

/// Bytes of goal, summary and error, each, that a search looks at. Only a program writes longer ones, and reading
/// them whole would make every search slow.
const SEARCHED_BYTES: usize = 2048;
/// Bytes of an owner's name that are told apart; names in `tokens.toml` are shorter.
const OWNER_BYTES: usize = 255;

/// The code of a status in this table. Codes are part of the format and are never given again.
pub(super) fn status_code(status: RunStatus) -> u8 {
    match status {
        RunStatus::Queued => 0,
        RunStatus::Planning => 1,
        RunStatus::AwaitingPlanApproval => 2,
        RunStatus::Executing => 3,
        RunStatus::AwaitingStepApproval => 4,
        RunStatus::Completed => 5,
        RunStatus::Failed => 6,
        RunStatus::Cancelled => 7,
        RunStatus::Interrupted => 8,
    }
}

/// The code of a cause in this table. Codes are part of the format and are never given again.
pub(super) fn cause_code(cause: Cause) -> u8 {
    match cause {
        Cause::Manual => 0,
        Cause::Api => 1,
        Cause::Schedule => 2,
        Cause::Webhook => 3,
        Cause::Model => 4,
        Cause::Resume => 5,
        Cause::Fork => 6,
        Cause::Rewind => 7,
        Cause::Rerun => 8,
    }
}

/// The narrow form of a row.
pub(super) fn encode(row: &RunRow) -> Vec<u8> {
    let owner = head(&row.owner, OWNER_BYTES).as_bytes();
    let flow = row.flow_id.as_ref().map_or(&[][..], |flow| flow.as_str().as_bytes());
    let mut bytes = vec![status_code(row.status), cause_code(row.cause)];
    // Both fit: an owner is cut above and a flow id has at most 64 bytes.
    bytes.push(u8::try_from(owner.len()).unwrap_or(u8::MAX));
    bytes.push(u8::try_from(flow.len()).unwrap_or(u8::MAX));
    bytes.extend_from_slice(owner);
    bytes.extend_from_slice(flow);
    for (at, text) in [Some(&row.goal), row.summary.as_ref(), row.error.as_ref()].into_iter().enumerate() {
        if at > 0 {
            bytes.push(0);
        }
        if let Some(text) = text {
            bytes.extend_from_slice(head(text, SEARCHED_BYTES).to_lowercase().as_bytes());
        }
    }
    bytes
}

/// The beginning of a text, at most this many bytes, cut between characters.
fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// What a list asks of each run.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) status: Option<u8>,
    pub(super) cause: Option<u8>,
    pub(super) owner: Option<Vec<u8>>,
    pub(super) flow: Option<Vec<u8>>,
    /// Made ready once for all runs; see [`Wanted::text_in_any_case`].
    pub(super) text: Option<Finder<'static>>,
}

impl Wanted {
    /// Whether a run is wanted; `None` when its narrow form is malformed.
    pub(super) fn matches(&self, bytes: &[u8]) -> Option<bool> {
        let (head, rest) = bytes.split_at_checked(4)?;
        let (owner, rest) = rest.split_at_checked(usize::from(head[2]))?;
        let (flow, text) = rest.split_at_checked(usize::from(head[3]))?;
        let plain = self.status.is_none_or(|status| status == head[0])
            && self.cause.is_none_or(|cause| cause == head[1])
            && self.owner.as_deref().is_none_or(|wanted| wanted == owner)
            && self.flow.as_deref().is_none_or(|wanted| wanted == flow);
        if !plain {
            return Some(false);
        }
        match &self.text {
            None => Some(true),
            // Both sides are UTF-8, so their bytes match where their characters do.
            Some(wanted) => Some(wanted.find(text).is_some()),
        }
    }

    /// A text to search for; nothing when it is empty.
    pub(super) fn text_in_any_case(text: &str) -> Option<Finder<'static>> {
        (!text.is_empty()).then(|| Finder::new(text.to_lowercase().as_bytes()).into_owned())
    }

    /// The owner as the table holds it.
    pub(super) fn owner_bytes(owner: &str) -> Vec<u8> {
        head(owner, OWNER_BYTES).as_bytes().to_vec()
    }
}
