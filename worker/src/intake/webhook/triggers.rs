//! Making, listing and removing triggers. A trigger takes calls once making it has returned, and none once removing it
//! has: both are one commit, and every call looks at the store.

use std::sync::Arc;

use serde_json::{Map, Value};
use weir_shared::bind::bind;
use weir_shared::finding::Fault;
use weir_shared::ids::{Owner, TriggerId};
use weir_shared::limits::NAME_CHARS;
use weir_shared::webhook::{
    CreateTrigger, Delivery, EVENT_ID_HEADER, PausedReason, RateLimit, SECRET_HEADER, SignaturePreset, Trigger,
    TriggerState,
};

use super::in_flight::InFlight;
use super::limits::Limits;
use super::nobody::Nobody;
use super::refused::{self, Unfit};
use super::secret::{SECRET_BYTES, WebhookSecret};
use super::signature::{BadRule, Scheme};
use crate::clock::Clock;
use crate::engine::{Runs, SANDBOX};
use crate::published::{ActiveVersion, NotActive, Published};
use crate::secret::Secrets;
use crate::store::{Store, StoreError, TriggerRecord};
use crate::tool::Toolbox;

/// Triggers of one owner, at most: every list has an end.
const MOST: usize = 100;
/// What a rate may be.
const PER_MINUTE: std::ops::RangeInclusive<u32> = 1..=100_000;
const BURST: std::ops::RangeInclusive<u32> = 1..=10_000;

/// What webhooks are made of.
#[derive(Clone)]
pub(crate) struct WebhooksOf {
    pub(crate) store: Store,
    pub(crate) published: Published,
    pub(crate) runs: Runs,
    pub(crate) toolbox: Toolbox,
    pub(crate) secrets: Secrets,
    pub(crate) clock: Clock,
    /// Whether peers on other machines are answered (`webhooks.allowRemote`).
    pub(crate) allow_remote: bool,
}

/// The webhooks of this worker. A clone is the same webhooks.
#[derive(Clone)]
pub(crate) struct Webhooks(Arc<Inner>);

pub(super) struct Inner {
    pub(super) of: WebhooksOf,
    pub(super) limits: Limits,
    pub(super) in_flight: InFlight,
    pub(super) nobody: Nobody,
}

/// Why a trigger is not made, shown or changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TriggerError {
    #[error("there is no webhook trigger `{0}`")]
    Unknown(String),
    #[error(transparent)]
    NotActive(#[from] NotActive),
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error("the default inputs do not fit the flow")]
    Inputs(Vec<Fault>),
    #[error("`signature`: {0}")]
    Signature(#[from] BadRule),
    #[error(
        "this machine has no secret `{name}`; put it into secrets.toml or WEIR_SECRET_{name} and start the worker again"
    )]
    NoSecret { name: String },
    #[error("{0}")]
    Malformed(&'static str),
    #[error("this owner has {MOST} webhook triggers; remove one that is no longer used")]
    TooMany,
    #[error("no random bytes for a secret: {0}")]
    Random(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Webhooks {
    pub(crate) fn new(of: WebhooksOf) -> Self {
        let (limits, in_flight, nobody) = (Limits::new(), InFlight::default(), Nobody::new());
        Self(Arc::new(Inner { of, limits, in_flight, nobody }))
    }

    /// Whether peers on other machines are answered.
    pub(crate) fn allow_remote(&self) -> bool {
        self.0.of.allow_remote
    }

    /// Makes a trigger for this owner, and its secret unless only signatures are asked for.
    pub(crate) async fn create(
        &self,
        asked: CreateTrigger,
        owner: Owner,
    ) -> Result<(Trigger, Option<WebhookSecret>), TriggerError> {
        let CreateTrigger { workflow_id, name, default_inputs, permission_mode, signature, require_secret, rate_limit } =
            asked;
        let of = &self.0.of;
        let active = of.published.active(&workflow_id)?;
        refused::check(&active, &of.toolbox.catalog(), permission_mode)?;
        check_defaults(&active, &default_inputs)?;
        let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        if name.as_ref().is_some_and(|name| name.chars().count() > NAME_CHARS) {
            return Err(TriggerError::Malformed("`name` has more than 160 characters"));
        }
        if let Some(rule) = &signature {
            Scheme::of(rule)?;
            if !of.secrets.values().contains_key(&rule.secret) {
                return Err(TriggerError::NoSecret { name: rule.secret.clone() });
            }
        }
        let needs_secret = require_secret.unwrap_or(signature.is_none());
        if !needs_secret && signature.is_none() {
            return Err(TriggerError::Malformed("without a secret a `signature` is needed: anybody could call it"));
        }
        let rate_limit = rate_limit.limit();
        check_rate(rate_limit)?;
        if self.0.of.store.triggers()?.iter().filter(|trigger| trigger.owner == owner).count() >= MOST {
            return Err(TriggerError::TooMany);
        }
        let secret = if needs_secret { Some(new_secret()?) } else { None };
        let record = TriggerRecord {
            id: TriggerId::from_bytes(uuid::Uuid::now_v7().into_bytes()),
            flow: workflow_id,
            name,
            owner,
            default_inputs,
            permission_mode,
            sandbox: SANDBOX,
            secret: secret.as_ref().map(WebhookSecret::digest),
            generation: 0,
            signature,
            rate_limit,
            created_at: of.clock.now(),
            rotated_at: None,
        };
        of.store.put_trigger(record.clone()).await?;
        Ok((self.shown(record)?, secret))
    }

    /// The triggers of this owner, or of all, newest first.
    pub(crate) fn list(&self, owner: Option<&Owner>) -> Result<Vec<Trigger>, TriggerError> {
        let triggers = self.0.of.store.triggers()?.into_iter().rev();
        triggers
            .filter(|trigger| owner.is_none_or(|owner| trigger.owner == *owner))
            .map(|trigger| self.shown(trigger))
            .collect()
    }

    /// Removes a trigger. Runs that it started go on.
    pub(crate) async fn remove(&self, id: &str, owner: Option<&Owner>) -> Result<(), TriggerError> {
        let trigger = self.visible(id, owner)?;
        if !self.0.of.store.remove_trigger(trigger.id.clone()).await? {
            return Err(TriggerError::Unknown(id.to_owned()));
        }
        self.0.limits.forget(&trigger.id);
        Ok(())
    }

    /// Gives a trigger another secret; the old one opens nothing any more.
    pub(crate) async fn rotate(
        &self,
        id: &str,
        owner: Option<&Owner>,
    ) -> Result<(Trigger, WebhookSecret), TriggerError> {
        let trigger = self.visible(id, owner)?;
        if trigger.secret.is_none() {
            return Err(TriggerError::Malformed(
                "this trigger has no secret of its own: its calls are signed, with a secret of this machine",
            ));
        }
        let secret = new_secret()?;
        let replaced = self.0.of.store.replace_secret(trigger.id, secret.digest(), self.0.of.clock.now()).await?;
        let replaced = replaced.ok_or_else(|| TriggerError::Unknown(id.to_owned()))?;
        Ok((self.shown(replaced)?, secret))
    }

    /// The newest deliveries of a trigger, newest first.
    pub(crate) fn deliveries(
        &self,
        id: &str,
        (owner, limit): (Option<&Owner>, usize),
    ) -> Result<Vec<Delivery>, TriggerError> {
        let trigger = self.visible(id, owner)?;
        Ok(self.0.of.store.deliveries(&trigger.id, limit)?)
    }

    /// The trigger of this id, if this owner sees it. Another's looks like it does not exist.
    fn visible(&self, id: &str, owner: Option<&Owner>) -> Result<TriggerRecord, TriggerError> {
        let unknown = || TriggerError::Unknown(id.to_owned());
        let trigger = self.0.of.store.trigger(&id.parse().map_err(|_| unknown())?)?.ok_or_else(unknown)?;
        if owner.is_none_or(|owner| trigger.owner == *owner) { Ok(trigger) } else { Err(unknown()) }
    }

    fn shown(&self, trigger: TriggerRecord) -> Result<Trigger, TriggerError> {
        let paused_reason = self.paused(&trigger)?;
        let last_delivery = self.0.of.store.deliveries(&trigger.id, 1)?.pop();
        Ok(Trigger {
            path: path_of(&trigger.id),
            secret_header: trigger.secret.is_some().then(|| SECRET_HEADER.to_owned()),
            event_id_header: event_id_header(&trigger).to_owned(),
            trigger_id: trigger.id,
            workflow_id: trigger.flow,
            name: trigger.name,
            owner: trigger.owner,
            signature: trigger.signature,
            rate_limit: trigger.rate_limit,
            default_inputs: trigger.default_inputs,
            permission_mode: trigger.permission_mode,
            sandbox_profile: trigger.sandbox,
            state: if paused_reason.is_some() { TriggerState::Paused } else { TriggerState::Active },
            paused_reason,
            created_at: trigger.created_at,
            rotated_at: trigger.rotated_at,
            last_delivery,
        })
    }

    fn paused(&self, trigger: &TriggerRecord) -> Result<Option<PausedReason>, StoreError> {
        Ok(match self.0.of.published.active(&trigger.flow) {
            Err(NotActive::Store(error)) => return Err(error),
            Err(NotActive::Unknown(_)) => Some(PausedReason::FlowMissing),
            Err(
                NotActive::NotPublished(_)
                | NotActive::OutOfService(_)
                | NotActive::Unaccepted { .. }
                | NotActive::NotAccepted { .. },
            ) => Some(PausedReason::NotPublished),
            Err(NotActive::Findings { .. }) => Some(PausedReason::FlowInvalid),
            Ok(_) if trigger.sandbox > SANDBOX => Some(PausedReason::SandboxWeakened),
            Ok(active) => self.refuse_unfit(&active, trigger).err().map(|_| PausedReason::NeedsPerson),
        })
    }

    /// Looked at for every call, since another version may have been published since the trigger was made.
    pub(super) fn refuse_unfit(&self, active: &ActiveVersion, trigger: &TriggerRecord) -> Result<(), Unfit> {
        refused::check(active, &self.0.of.toolbox.catalog(), trigger.permission_mode)
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.0
    }
}

/// Where deliveries of a trigger are posted to.
fn path_of(trigger: &TriggerId) -> String {
    format!("/api/workflow-hooks/{trigger}")
}

/// The header in which the sender names its events.
pub(super) fn event_id_header(trigger: &TriggerRecord) -> &'static str {
    match trigger.signature.as_ref().and_then(|rule| rule.preset) {
        Some(SignaturePreset::GitHub) => "X-GitHub-Delivery",
        Some(SignaturePreset::Stripe | SignaturePreset::Slack) | None => EVENT_ID_HEADER,
    }
}

fn new_secret() -> Result<WebhookSecret, TriggerError> {
    let mut random = [0; SECRET_BYTES];
    getrandom::fill(&mut random).map_err(|error| TriggerError::Random(error.to_string()))?;
    Ok(WebhookSecret::of(&random))
}

/// Defaults may leave to a delivery what is required, and may not be wrong.
fn check_defaults(active: &ActiveVersion, defaults: &Map<String, Value>) -> Result<(), TriggerError> {
    let Err(mut faults) = bind(active.flow.inputs.as_ref(), defaults) else { return Ok(()) };
    faults.retain(|fault| fault.code != "required");
    if faults.is_empty() { Ok(()) } else { Err(TriggerError::Inputs(faults)) }
}

fn check_rate(limit: Option<RateLimit>) -> Result<(), TriggerError> {
    match limit {
        Some(limit) if !PER_MINUTE.contains(&limit.per_minute) => {
            Err(TriggerError::Malformed("`rateLimit.perMinute` should be from 1 to 100000; null is no limit"))
        }
        Some(limit) if !BURST.contains(&limit.burst) => {
            Err(TriggerError::Malformed("`rateLimit.burst` should be from 1 to 10000"))
        }
        Some(_) | None => Ok(()),
    }
}
