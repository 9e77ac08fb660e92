//! Flows that leave their id, deleted or renamed, with their versions and all that depends on them.
//!
//! The store changes first, in one transaction that leaves a tombstone; the files follow; then the tombstone goes. What a
//! crash cuts off is finished at the next start.

use std::sync::Arc;

use weir_shared::ids::{FlowId, Revision};
use weir_shared::wire::FlowDeleted;

use super::{PublishError, Published};
use crate::library::{Entry, Library, SaveError};
use crate::store::Tombstone;

impl Published {
    /// Removes a flow with its versions, and cancels what depends on it.
    pub(crate) async fn delete(&self, id: &FlowId, expected: Option<&Revision>) -> Result<FlowDeleted, PublishError> {
        let _turn = self.0.turn.lock().await;
        let revision = self.at_revision(id, expected).await?.revision.clone();
        let tombstone = Tombstone::Deleted { revision };
        let cancelled = self.0.store.forget_flow(id.clone(), tombstone.clone()).await?;
        self.finish(id, &tombstone).await?;
        if let Some(current) = self.0.library.get(id) {
            // Written anew in this moment, so it stays; what depended on it is gone.
            return Err(SaveError::Conflict { current }.into());
        }
        Ok(FlowDeleted {
            ok: true,
            cancelled_schedules: cancelled.schedules,
            cancelled_webhook_triggers: cancelled.webhook_triggers,
        })
    }

    /// Gives a flow, its versions and what depends on it another id.
    pub(crate) async fn rename(
        &self,
        from: &FlowId,
        to: &FlowId,
        expected: &Revision,
    ) -> Result<Arc<Entry>, PublishError> {
        let _turn = self.0.turn.lock().await;
        self.at_revision(from, Some(expected)).await?;
        let taken = to.clone();
        // Versions that a flow of this id has left behind are nobody else's, and would be mixed up with these.
        let is_taken =
            move |library: &Library| Ok::<_, SaveError>(library.is_taken(&taken)? || library.has_versions(&taken));
        if self.in_library(is_taken).await?? {
            return Err(SaveError::Exists { id: to.clone() }.into());
        }
        self.0.store.rename_flow(from.clone(), to.clone()).await?;
        self.finish(from, &Tombstone::Renamed { to: to.clone() }).await?;
        self.0.library.get(to).ok_or_else(|| SaveError::Unknown { id: to.clone() }.into())
    }

    /// Does with the files what the store has recorded, and records that it is done.
    pub(super) async fn finish(&self, id: &FlowId, tombstone: &Tombstone) -> Result<(), PublishError> {
        let (flow, begun) = (id.clone(), tombstone.clone());
        let done = self
            .in_library(move |library| match begun {
                Tombstone::Deleted { revision } => match library.delete(&flow, Some(&revision)) {
                    // Written anew since: that is another flow.
                    Err(SaveError::Conflict { .. }) => Ok(()),
                    Ok(()) | Err(SaveError::Unknown { .. }) => library.remove_versions(&flow),
                    Err(error) => Err(error),
                },
                Tombstone::Renamed { to } => library.rename(&flow, &to),
            })
            .await?;
        done?;
        Ok(self.0.store.settle_flow(id.clone()).await?)
    }
}
