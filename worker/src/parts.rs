//! What runs flows, put together: the same for the worker and for a run without one.
//!
//! It opens no port and listens to no signal; who does, does it around this.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::clock::Clock;
use crate::config::Config;
use crate::engine::{ReadError, Runs, Settings};
use crate::library::Library;
use crate::process::{Controller, NoCgroups, Supervisor, end_leftovers};
use crate::published::Published;
use crate::secret::Secrets;
use crate::shutdown::ShutdownWatch;
use crate::store::{Store, StoreError};
use crate::tool::plugin::{Homes, Plugins, ProcessLimits};
use crate::tool::{Network, ToolSettings, Toolbox, UnusableSchema};

/// Store, tools, plugins, flows and runs, ready to be used.
pub(crate) struct Parts {
    pub(crate) clock: Clock,
    pub(crate) toolbox: Toolbox,
    pub(crate) plugins: Plugins,
    pub(crate) library: Library,
    pub(crate) published: Published,
    pub(crate) runs: Runs,
}

/// Why they could not be put together.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PartsError {
    #[error("the built-in tools cannot be used: {0}")]
    Tools(#[from] UnusableSchema),
    #[error("earlier runs cannot be read: {0}")]
    Recovery(#[from] ReadError),
    #[error(transparent)]
    Cgroups(#[from] NoCgroups),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Puts them together on this store, whose state directory the caller holds, and settles what an earlier process left
/// unfinished there.
pub(crate) async fn assemble(
    config: &Config,
    flows: &Path,
    (store, secrets): (&Store, &Secrets),
    shutdown: ShutdownWatch,
) -> Result<Parts, PartsError> {
    let clock = Clock::system();
    let worker = store.worker_id().to_string();
    let ended = end_leftovers(&config.state, &worker);
    if ended.killed > 0 {
        tracing::warn!(killed = ended.killed, remaining = ended.remaining, "ended what an earlier worker left running");
    }
    let tools = ToolSettings {
        output_file_bytes: config.output_max_bytes,
        file_roots: config.file_roots.clone().into(),
        flows: Some(flows.to_owned()),
        network: Network::public_only(config.public_only),
        secrets: secrets.clone(),
    };
    let supervisor = Supervisor::start(&worker, &config.cgroups)?;
    let process_limits =
        if supervisor.holds(Controller::Processes) { ProcessLimits::Held } else { ProcessLimits::NotHeld };
    let toolbox = Toolbox::new(supervisor, clock.clone(), tools)?;
    // Plugins come first, so that flows are judged with their tools from the beginning; later offers reach the
    // library through the slot.
    let slot: Arc<OnceLock<Library>> = Arc::default();
    let (offered, listening) = (toolbox.clone(), Arc::clone(&slot));
    let offer = move |tools| {
        offered.offer_plugins(tools);
        if let Some(library) = listening.get() {
            library.judge_by(offered.catalog());
        }
    };
    let homes = Homes::of(flows, config.user_plugins.as_deref());
    let plugins = Plugins::open(homes, process_limits, store.clone(), Box::new(offer))?;
    let library = slot
        .get_or_init(|| Library::open(flows.to_owned(), toolbox.catalog(), config.limits, Some(secrets.clone())))
        .clone();
    // For an offer between the two lines above.
    library.judge_by(toolbox.catalog());
    let published = Published::open(library.clone(), store.clone(), clock.clone()).await?;
    let settings = Settings {
        parallel: config.run_parallel,
        gate_expiry: Duration::from_hours(24 * u64::from(config.gate_expires_days)),
        ..Settings::default()
    };
    let runs = Runs::new(store.clone(), toolbox.clone(), (clock.clone(), shutdown), config.state.clone(), settings);
    let recovered = runs.recover().await?;
    tracing::info!(?recovered, flows = library.list().len(), plugins = plugins.list().len(), "ready");
    Ok(Parts { clock, toolbox, plugins, library, published, runs })
}
