//! From a call to its answer, in three steps: what its head shows, what its body proves, what it starts.
//!
//! The order is the contract. The secret is judged before a byte of the body is read. Which of two ways a call is
//! judged by, its secret or its signature, depends on what it carries and never on the trigger it names, so that a
//! trigger that is not there takes the same way. An event that is known is answered before the limit on calls, and
//! before anybody looks at what the body means. Only a run that is recorded claims its event.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use weir_shared::finding::Finding;
use weir_shared::ids::{RunId, TaskId, TriggerId};
use weir_shared::run::event::{Cause, RunConfig};
use weir_shared::webhook::{DeliveryStatus, EVENT_ID_CHARS, EVENT_ID_HEADER, SECRET_HEADER};

use super::limits::TooOften;
use super::refused::Unfit;
use super::secret;
use super::signature::{self, Headers, Scheme, claims_to_be_signed};
use super::triggers::{Inner, Webhooks, event_id_header};
use crate::engine::{Outcome, SANDBOX, Started};
use crate::published::{ActiveVersion, NotActive};
use crate::run_request::{RunRequest, StartError};
use crate::store::{Claim, ClaimedEvent, DeliveryClaim, EventDigest, StoreError, TriggerRecord};

/// The key of a signature that nobody made.
const NOBODYS_KEY: &[u8] = &[0; 32];

/// The head of a call.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    /// As it stands in the address.
    pub(crate) trigger: &'a str,
    pub(crate) peer: IpAddr,
    pub(crate) headers: Headers<'a>,
}

/// A call whose body may be read: its secret was right, or it says to be signed.
pub(crate) struct Knock {
    /// The trigger that its secret opened, or that asks for no secret.
    trigger: Option<TriggerRecord>,
}

/// A call that is let in.
pub(crate) struct Guest {
    trigger: TriggerRecord,
    event: Option<EventDigest>,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) trigger: TriggerId,
    pub(crate) run: RunId,
    pub(crate) task: TaskId,
    /// The run that an earlier call with the same event started.
    pub(crate) is_duplicate: bool,
    pub(crate) status: DeliveryStatus,
}

/// Why a call starts nothing. None of these uses up its event.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// One text for every reason.
    #[error("no such webhook, or not its secret or signature")]
    NotLetIn,
    #[error("too many wrong secrets or signatures from this address")]
    Guessing(TooOften),
    #[error("this webhook is called more often than its limit allows")]
    TooOften(TooOften),
    #[error("{EVENT_ID_HEADER} has 1 to {EVENT_ID_CHARS} characters, and is text")]
    BadEventId,
    #[error("the body is no JSON object: {0}")]
    NotAnObject(String),
    #[error("runs are confined less than when this webhook was made; it waits until they are again")]
    SandboxWeakened,
    #[error("the published version has errors and cannot run")]
    Findings(Vec<Finding>),
    #[error("the version that was published since this webhook was made must not be started by it: {0}")]
    Unfit(#[from] Unfit),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Webhooks {
    /// Judges the head of a call. Nothing of its body has been read, and after an error nothing need be.
    pub(crate) fn knock(&self, call: &Call<'_>) -> Result<Knock, CallError> {
        let trigger = self.named(call.trigger)?;
        let sent = (call.headers)(&SECRET_HEADER.to_ascii_lowercase());
        let kept = trigger.as_ref().and_then(|trigger| trigger.secret.as_ref());
        let opens = secret::matches(kept, sent.unwrap_or_default());
        match sent {
            Some(_) if opens && self.is_live(trigger.as_ref())? => Ok(Knock { trigger }),
            None if self.says_to_be_signed(call)? => {
                Ok(Knock { trigger: trigger.filter(|trigger| trigger.secret.is_none()) })
            }
            Some(_) | None => Err(self.turn_away(call)),
        }
    }

    /// Judges the body of a call, byte for byte as it came.
    pub(crate) fn let_in(&self, knock: Knock, call: &Call<'_>, body: &[u8]) -> Result<Guest, CallError> {
        let rule = knock.trigger.as_ref().and_then(|trigger| trigger.signature.as_ref());
        if rule.is_some() || knock.trigger.is_none() {
            let scheme = rule.and_then(|rule| Scheme::of(rule).ok());
            let key = rule.and_then(|rule| self.inner().of.secrets.values().get(&rule.secret));
            let is_real = scheme.is_some() && key.is_some();
            let scheme = scheme.unwrap_or_else(signature::nobodys);
            let key = key.map_or(NOBODYS_KEY, |key| key.as_bytes());
            let is_right = scheme.verify(call.headers, body, (key, self.inner().of.clock.now()));
            if !(is_right && is_real && self.is_live(knock.trigger.as_ref())?) {
                return Err(self.turn_away(call));
            }
        }
        let trigger = knock.trigger.ok_or_else(|| self.turn_away(call))?;
        let event = event_of(call, &trigger)?;
        Ok(Guest { trigger, event })
    }

    /// Starts what a call asks for, once for every event.
    pub(crate) async fn deliver(&self, guest: Guest, body: &[u8]) -> Result<Accepted, CallError> {
        let inner = self.inner();
        let Guest { trigger, event } = guest;
        if trigger.sandbox > SANDBOX {
            return Err(CallError::SandboxWeakened);
        }
        let _turn = match event {
            Some(event) => Some(inner.in_flight.take_turn(&trigger.id, event).await),
            None => None,
        };
        if let Some(event) = event
            && let Some(claimed) = inner.of.store.count_duplicate(&trigger.id, event).await?
        {
            return self.duplicate(trigger.id, claimed);
        }
        if let Some(limit) = trigger.rate_limit {
            inner.limits.call(&trigger.id, limit).map_err(CallError::TooOften)?;
        }
        let given = object(body)?;
        // Looked at again: the body may have taken its time.
        let active = self.active(&trigger)?;
        self.refuse_unfit(&active, &trigger)?;
        let mut inputs = trigger.default_inputs.clone();
        inputs.extend(given);
        let config = RunConfig { permission_mode: trigger.permission_mode, ..RunConfig::default() };
        let request = RunRequest::of_active(&active, (Cause::Webhook, trigger.owner.clone()), inputs, config);
        let claim = DeliveryClaim {
            trigger: trigger.id.clone(),
            generation: trigger.generation,
            event,
            at: inner.of.clock.now(),
        };
        match inner.of.runs.start_claiming(request, Claim::Delivery(claim)).await? {
            Started::New(run) => Ok(Accepted {
                trigger: trigger.id,
                run: run.run_id,
                task: run.task_id,
                is_duplicate: false,
                status: DeliveryStatus::Queued,
            }),
            Started::Duplicate(claimed) => self.duplicate(trigger.id, claimed),
            // Removed, or its secret replaced, since it was let in.
            Started::Gone => Err(CallError::NotLetIn),
        }
    }

    /// How the run of a call ended, waited for this long at most; none while it goes on.
    pub(crate) async fn outcome(&self, run: &RunId, patience: Duration) -> Result<Option<Outcome>, CallError> {
        Ok(self.inner().of.runs.outcome(run, patience).await?)
    }

    /// Where the delivery of a run is now; unknown once the run is no longer kept.
    pub(crate) fn status(&self, run: &RunId) -> Result<Option<DeliveryStatus>, CallError> {
        Ok(self.inner().of.store.run(run)?.map(|row| DeliveryStatus::of(row.status)))
    }

    fn duplicate(&self, trigger: TriggerId, claimed: ClaimedEvent) -> Result<Accepted, CallError> {
        let status = self.inner().of.store.delivery_status(&claimed)?;
        Ok(Accepted { trigger, run: claimed.run, task: claimed.task, is_duplicate: true, status })
    }

    /// The trigger that an address names, whatever state its flow is in.
    fn named(&self, address: &str) -> Result<Option<TriggerRecord>, CallError> {
        let Inner { of, nobody, .. } = self.inner();
        let trigger = of.store.trigger(&address.parse().unwrap_or_else(|_| nobody.id()))?;
        if trigger.is_none() {
            nobody.read();
        }
        Ok(trigger)
    }

    /// Whether there is a version that this trigger starts, errors and all. Looked at only where a call would be let in:
    /// whoever is not must not learn from the time it takes.
    fn is_live(&self, trigger: Option<&TriggerRecord>) -> Result<bool, CallError> {
        match trigger.map(|trigger| self.active(trigger)) {
            None | Some(Err(CallError::NotLetIn)) => Ok(false),
            Some(Ok(_) | Err(CallError::Findings(_))) => Ok(true),
            Some(Err(error)) => Err(error),
        }
    }

    /// What a trigger starts. A flow that nothing starts without a person lets nobody in.
    fn active(&self, trigger: &TriggerRecord) -> Result<Arc<ActiveVersion>, CallError> {
        self.inner().of.published.active(&trigger.flow).map_err(|not_active| match not_active {
            NotActive::Unknown(_)
            | NotActive::NotPublished(_)
            | NotActive::OutOfService(_)
            | NotActive::Unaccepted { .. }
            | NotActive::NotAccepted { .. } => CallError::NotLetIn,
            NotActive::Findings { findings, .. } => CallError::Findings(findings),
            NotActive::Store(error) => CallError::Store(error),
        })
    }

    /// Whether a call carries a header in which a preset, or any trigger of this worker, looks for a signature.
    fn says_to_be_signed(&self, call: &Call<'_>) -> Result<bool, CallError> {
        if claims_to_be_signed(call.headers, []) {
            return Ok(true);
        }
        let triggers = self.inner().of.store.triggers()?;
        let rules = triggers.iter().filter_map(|trigger| trigger.signature.as_ref());
        let own: Vec<Scheme> = rules.filter_map(|rule| Scheme::of(rule).ok()).collect();
        Ok(claims_to_be_signed(call.headers, own.iter().map(Scheme::header)))
    }

    /// The one answer to whoever is not let in.
    fn turn_away(&self, call: &Call<'_>) -> CallError {
        match self.inner().limits.guess(call.peer) {
            Ok(()) => CallError::NotLetIn,
            Err(too_often) => CallError::Guessing(too_often),
        }
    }
}

/// The event that a sender names, as its digest.
fn event_of(call: &Call<'_>, trigger: &TriggerRecord) -> Result<Option<EventDigest>, CallError> {
    let look = |name: &str| (call.headers)(&name.to_ascii_lowercase());
    let Some(name) = look(EVENT_ID_HEADER).or_else(|| look(event_id_header(trigger))) else { return Ok(None) };
    let chars = std::str::from_utf8(name).map_err(|_| CallError::BadEventId)?.chars().count();
    if !(1..=EVENT_ID_CHARS).contains(&chars) {
        return Err(CallError::BadEventId);
    }
    Ok(Some(Sha256::digest(name).into()))
}

/// The fields that a body holds; an empty body holds none.
fn object(body: &[u8]) -> Result<Map<String, Value>, CallError> {
    if body.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(body).map_err(|error| CallError::NotAnObject(error.to_string()))
}
