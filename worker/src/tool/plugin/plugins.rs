//! [`Plugins`]: the plugins of this worker, what was decided about them, and who is told when either changes.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weir_shared::wire::{PluginEffects, PluginView};

use super::load::{self, Folder, Homes, Plugin, PluginTool};
use super::manifest::{Ground, ProcessLimits};
use super::watch::Watch;
use crate::store::{Store, StoreError};
use crate::trust::PluginRecord;

/// Gets every tool that plugins have, whenever that may have changed.
pub(crate) type Offer = dyn Fn(Vec<PluginTool>) + Send + Sync;

/// The plugins. A clone is the same; the last one ends the watching.
#[derive(Debug, Clone)]
pub(crate) struct Plugins {
    shared: Arc<Shared>,
    _watch: Arc<Watch>,
}

pub(super) struct Shared {
    pub(super) homes: Homes,
    ground: Ground,
    store: Store,
    offer: Box<Offer>,
    /// Held over a whole look and the offer that follows, so that a later look is not overtaken by an earlier one.
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    folders: Vec<Folder>,
    plugins: Vec<Plugin>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("homes", &self.homes).finish_non_exhaustive()
    }
}

/// Why nothing was decided about a plugin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PluginError {
    #[error("there is no plugin `{id}`")]
    Unknown { id: String },
    #[error("the folder of `{id}` is not the one that was looked at: its digest is {}", digest.as_deref().unwrap_or("none"))]
    Changed { id: String, digest: Option<String> },
    #[error("two plugins have the id `{id}`; remove one of them first")]
    Ambiguous { id: String },
    #[error("the plugins could not be looked at: {reason}")]
    Broken { reason: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Plugins {
    /// Looks at the homes, makes the first offer, and goes on watching.
    pub(crate) fn open(
        homes: Homes,
        process_limits: ProcessLimits,
        store: Store,
        offer: Box<Offer>,
    ) -> Result<Self, StoreError> {
        let ground = Ground { is_reserved: crate::tool::is_builtin, process_limits };
        let shared = Arc::new(Shared { homes, ground, store, offer, seen: Mutex::default() });
        // Watched before it is looked at, so that nothing falls between.
        let watch = Watch::start(&shared);
        shared.look()?;
        Ok(Self { shared, _watch: Arc::new(watch) })
    }

    /// Every plugin, by source and id.
    pub(crate) fn list(&self) -> Vec<PluginView> {
        self.shared.seen().plugins.iter().map(Plugin::view).collect()
    }

    /// Trusts a plugin whose folder has this digest now.
    pub(crate) async fn trust(
        &self,
        id: &str,
        digest: &str,
        effects: PluginEffects,
    ) -> Result<PluginView, PluginError> {
        self.decide(id, |plugin| {
            if plugin.folder.digest.as_deref() != Some(digest) {
                let digest = plugin.folder.digest.clone();
                return Err(PluginError::Changed { id: id.to_owned(), digest });
            }
            Ok(PluginRecord { trusted: Some(digest.to_owned()), effects, enabled: plugin.record.enabled })
        })
        .await
    }

    /// Lets a plugin offer its tools, or not. What is running runs on.
    pub(crate) async fn set_enabled(&self, id: &str, enabled: bool) -> Result<PluginView, PluginError> {
        self.decide(id, |plugin| Ok(PluginRecord { enabled, ..plugin.record.clone() })).await
    }

    /// Decides about the folder as it is now. When it answers, flows are judged by the decision.
    async fn decide(
        &self,
        id: &str,
        decide: impl FnOnce(&Plugin) -> Result<PluginRecord, PluginError>,
    ) -> Result<PluginView, PluginError> {
        self.look().await?;
        let record = decide(&self.shared.one(id)?)?;
        self.shared.store.put_plugin(id.to_owned(), record).await?;
        self.look().await?;
        Ok(self.shared.one(id)?.view())
    }

    /// Reads what has changed, where that keeps nobody waiting.
    pub(crate) async fn look(&self) -> Result<(), PluginError> {
        let shared = Arc::clone(&self.shared);
        let looked = tokio::task::spawn_blocking(move || shared.look()).await;
        looked.map_err(|error| PluginError::Broken { reason: error.to_string() })??;
        Ok(())
    }
}

/// Whether a look saw everything as it will stay until something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    Yes,
    Not,
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        // What a panicking look left behind is at worst old, and the next look mends it.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the homes and the decisions, and offers what follows from them.
    pub(super) fn look(&self) -> Result<Settled, StoreError> {
        let records = self.store.plugins()?;
        let mut seen = self.seen();
        seen.folders = load::folders(&self.homes, &seen.folders, self.ground);
        let plugins = load::plugins(&seen.folders, &records);
        let same = plugins.len() == seen.plugins.len()
            && plugins.iter().zip(&seen.plugins).all(|(now, before)| now.view() == before.view());
        seen.plugins = plugins;
        if !same {
            (self.offer)(seen.plugins.iter().flat_map(Plugin::tools).collect());
        }
        Ok(if load::are_settled(&seen.folders) { Settled::Yes } else { Settled::Not })
    }

    fn one(&self, id: &str) -> Result<Plugin, PluginError> {
        let seen = self.seen();
        let mut named = seen.plugins.iter().filter(|plugin| plugin.folder.id == id);
        match (named.next(), named.next()) {
            (Some(plugin), None) => Ok(plugin.clone()),
            (Some(_), Some(_)) => Err(PluginError::Ambiguous { id: id.to_owned() }),
            (None, _) => Err(PluginError::Unknown { id: id.to_owned() }),
        }
    }
}
