//! [`Store`]'s part about webhooks: triggers, deliveries, and the events that senders named.

use weir_shared::ids::{Timestamp, TriggerId};
use weir_shared::webhook::{Delivery, DeliveryStatus};

use super::claim::EventDigest;
use super::deliveries;
use super::error::StoreError;
use super::event_ids::{self, ClaimedEvent};
use super::handle::Store;
use super::webhooks::{self, SecretDigest, TriggerRecord};
use super::writer::{Change, Outcome};

impl Store {
    /// Stores a new trigger; it takes deliveries once this has returned.
    pub(crate) async fn put_trigger(&self, trigger: TriggerRecord) -> Result<(), StoreError> {
        self.change(Change::PutTrigger { trigger: Box::new(trigger) }).await.map(drop)
    }

    /// Gives a trigger another secret; the old one is dead once this has returned. None: there is no such trigger.
    pub(crate) async fn replace_secret(
        &self,
        trigger: TriggerId,
        secret: SecretDigest,
        now: Timestamp,
    ) -> Result<Option<TriggerRecord>, StoreError> {
        let outcome = self.change(Change::ReplaceSecret { trigger, secret, now }).await?;
        let Outcome::Trigger(trigger) = outcome else { return Ok(None) };
        Ok(trigger.map(|trigger| *trigger))
    }

    /// Removes a trigger and what is kept of its deliveries; false when there is none. It takes no more deliveries once
    /// this has returned.
    pub(crate) async fn remove_trigger(&self, trigger: TriggerId) -> Result<bool, StoreError> {
        Ok(matches!(self.change(Change::RemoveTrigger { trigger }).await?, Outcome::Gone(1..)))
    }

    /// The trigger of this id.
    pub(crate) fn trigger(&self, trigger: &TriggerId) -> Result<Option<TriggerRecord>, StoreError> {
        self.read(|transaction| webhooks::get(transaction, trigger))
    }

    /// Every trigger, oldest first.
    pub(crate) fn triggers(&self) -> Result<Vec<TriggerRecord>, StoreError> {
        self.read(webhooks::all)
    }

    /// The newest deliveries of a trigger, newest first.
    pub(crate) fn deliveries(&self, trigger: &TriggerId, limit: usize) -> Result<Vec<Delivery>, StoreError> {
        self.read(|transaction| deliveries::newest(transaction, trigger, limit))
    }

    /// Counts one more call with this event, if the event has started a run.
    pub(crate) async fn count_duplicate(
        &self,
        trigger: &TriggerId,
        event: EventDigest,
    ) -> Result<Option<ClaimedEvent>, StoreError> {
        if !self.read(|transaction| event_ids::is_claimed(transaction, trigger, &event))? {
            return Ok(None);
        }
        let outcome = self.change(Change::CountDuplicate { trigger: trigger.clone(), event }).await?;
        let Outcome::Counted(claimed) = outcome else { return Ok(None) };
        Ok(claimed)
    }

    /// The status of the delivery that an event started.
    pub(crate) fn delivery_status(&self, event: &ClaimedEvent) -> Result<DeliveryStatus, StoreError> {
        self.read(|transaction| event_ids::status(transaction, event))
    }

    /// Lets events go that are past their time, in small transactions.
    pub(crate) async fn expire_events(&self, now: Timestamp) -> Result<usize, StoreError> {
        let mut gone = 0;
        loop {
            let outcome = self.change(Change::ExpireEvents { now }).await?;
            let Outcome::Gone(some @ 1..) = outcome else { return Ok(gone) };
            gone += some;
        }
    }
}
