//! What an admitted run answers to, committed with the run: claim and run exist together or not at all, so that no
//! crash leaves an event claimed that started nothing, or a run that its claim does not know.

use weir_shared::ids::{RunId, TaskId, Timestamp, TriggerId};

use super::deliveries;
use super::error::StoreError;
use super::event_ids::ClaimedEvent;
use super::schedules::{self, FireClaim};
use super::tables::OpenTables;
use super::webhooks;

/// What a run is admitted for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Claim {
    /// Nothing that could ask twice: a person, a program.
    None,
    /// A call of a webhook.
    Delivery(DeliveryClaim),
    /// A fire of a schedule.
    Fire(Box<FireClaim>),
}

/// A call of a webhook that was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeliveryClaim {
    pub(crate) trigger: TriggerId,
    /// The trigger as it was when the call was let in; see [`webhooks::TriggerRecord::generation`].
    pub(crate) generation: u64,
    /// The event that the sender named.
    pub(crate) event: Option<EventDigest>,
    pub(crate) at: Timestamp,
}

/// SHA-256 of an event's name.
pub(crate) type EventDigest = [u8; 32];

/// What came of admitting a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// The run and what claims it are recorded.
    New,
    /// Another run was admitted for it before. Nothing was recorded but that it was asked for again.
    Duplicate(ClaimedEvent),
    /// What claims it was removed or replaced meanwhile. Nothing was recorded.
    Gone,
}

/// Whether the claim may be made. [`Admitted::New`] has written nothing yet.
pub(super) fn judge(tables: &mut OpenTables<'_>, claim: &Claim) -> Result<Admitted, StoreError> {
    let claim = match claim {
        Claim::None => return Ok(Admitted::New),
        Claim::Fire(claim) if schedules::follows(tables, &claim.record)? => return Ok(Admitted::New),
        Claim::Fire(_) => return Ok(Admitted::Gone),
        Claim::Delivery(claim) => claim,
    };
    let trigger = webhooks::get_in(tables, &claim.trigger)?;
    if trigger.is_none_or(|trigger| trigger.generation != claim.generation) {
        return Ok(Admitted::Gone);
    }
    let Some(event) = &claim.event else { return Ok(Admitted::New) };
    Ok(deliveries::count_duplicate(tables, &claim.trigger, event)?.map_or(Admitted::New, Admitted::Duplicate))
}

/// Records the claim of a run that is recorded in the same transaction.
pub(super) fn record(
    tables: &mut OpenTables<'_>,
    claim: &Claim,
    (run, task): (&RunId, &TaskId),
) -> Result<(), StoreError> {
    match claim {
        Claim::None => Ok(()),
        Claim::Delivery(claim) => deliveries::record(tables, claim, (run, task)),
        Claim::Fire(claim) => schedules::record(tables, claim, (run, task)),
    }
}
