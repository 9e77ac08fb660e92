//! What this machine decided about plugins, for commands that may or may not find a worker: the worker is asked when
//! one runs, and its store is opened when none does.

use std::collections::BTreeMap;
use std::path::Path;

use tokio::runtime::{Builder, Runtime};
use weir_shared::tool::Catalog;
use weir_shared::wire::{PluginView, TrustPlugin};

use super::connect::Worker;
use super::exit::Stop;
use super::output;
use crate::config::Config;
use crate::state_dir::{StateDirectory, StateError, StateLock};
use crate::store::Store;
use crate::tool::builtin_declarations;
use crate::tool::plugin::{Homes, as_they_stand};
use crate::trust::PluginRecord;

/// Decisions about plugins, by id.
pub(super) type Records = BTreeMap<String, PluginRecord>;

/// Every decision. Nothing is made where there is nothing: a machine that never ran Weir has decided nothing.
pub(super) fn records(config: &Config) -> Result<Records, Stop> {
    if let Some(worker) = Worker::running(config)? {
        let plugins: Vec<PluginView> = worker.get("/api/plugins")?;
        return Ok(plugins.into_iter().map(record_of).collect());
    }
    if !config.state.join("weir.redb").exists() {
        return Ok(Records::new());
    }
    match Decisions::open(config) {
        Ok(decisions) => decisions.records(),
        Err(Closed::Held(error)) => {
            output::tell(&format!("{error}; no plugin counts as trusted"));
            Ok(Records::new())
        }
        Err(Closed::Other(stop)) => Err(stop),
    }
}

fn record_of(plugin: PluginView) -> (String, PluginRecord) {
    let trusted = plugin.digest.filter(|_| plugin.trusted);
    (plugin.id, PluginRecord { trusted, effects: plugin.effects.unwrap_or_default(), enabled: plugin.enabled })
}

/// The tools that flows of this directory can name.
pub(super) fn catalog(flows: &Path, config: &Config, records: &Records) -> Catalog {
    let homes = Homes::of(flows, config.user_plugins.as_deref());
    let (_, tools) = as_they_stand(&homes, records);
    // The built-in ones last: of two with one name the later stays.
    Catalog::new(tools.into_iter().map(|tool| tool.declaration).chain(builtin_declarations()))
}

/// The store of this machine's decisions, held while no worker runs.
pub(super) struct Decisions {
    store: Store,
    runtime: Runtime,
    _lock: StateLock,
}

/// Why it is not held.
pub(super) enum Closed {
    /// Somebody else has it.
    Held(StateError),
    Other(Stop),
}

impl From<Closed> for Stop {
    fn from(closed: Closed) -> Self {
        match closed {
            Closed::Held(error) => Stop::usage(&error),
            Closed::Other(stop) => stop,
        }
    }
}

impl Decisions {
    /// Takes the state directory and opens its store, both made when they are missing.
    pub(super) fn open(config: &Config) -> Result<Self, Closed> {
        let lock = StateDirectory::at(config.state.clone()).take().map_err(|error| match error {
            error @ (StateError::Held { .. } | StateError::HeldByUnknown { .. }) => Closed::Held(error),
            error => Closed::Other(Stop::usage(&error)),
        })?;
        let store = Store::open(&config.state.join("weir.redb")).map_err(|error| Closed::Other(Stop::usage(&error)))?;
        let runtime = Builder::new_current_thread().build().map_err(|error| Closed::Other(Stop::failed(&error)))?;
        Ok(Self { store, runtime, _lock: lock })
    }

    pub(super) fn records(&self) -> Result<Records, Stop> {
        self.store.plugins().map_err(|error| Stop::failed(&error))
    }

    /// Trusts a plugin as it was looked at.
    pub(super) fn trust(&self, id: &str, asked: TrustPlugin) -> Result<(), Stop> {
        let enabled = self.records()?.get(id).is_none_or(|record| record.enabled);
        let record = PluginRecord { trusted: Some(asked.digest), effects: asked.effects, enabled };
        let put = self.store.put_plugin(id.to_owned(), record);
        self.runtime.block_on(put).map_err(|error| Stop::failed(&error))
    }
}

impl Drop for Decisions {
    fn drop(&mut self) {
        self.runtime.block_on(self.store.close());
    }
}
