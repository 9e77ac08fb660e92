//! The composition root: what the worker is made of, in the order it starts and ends.
//!
//! Start: secrets, state lock, token, store, library, listener, recovery, announcement, door, retention. End, on
//! SIGTERM, SIGINT or a vital task's death: stop admitting, let runs finish for the grace, stop them, close the door,
//! close the store. A second signal skips what is left of the grace. Every other module gets what it needs from here
//! and starts nothing by itself.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use weir_shared::wire::PluginEffects;

use crate::access::code::Codes;
use crate::access::session::SessionCookie;
use crate::access::token::{SECRET_BYTES, Token};
use crate::api::{Access, Api, Door, Sessions, WorkerFacts, routes, serve};
use crate::assets::Page;
use crate::config::{Config, Key};
use crate::engine::Runs;
use crate::intake::schedule::{self, Schedules, SchedulesOf};
use crate::intake::webhook::{Webhooks, WebhooksOf};
use crate::live::Live;
use crate::parts::{Parts, PartsError, assemble};
use crate::process::confine_worker;
use crate::reload::{self, Reload};
use crate::retention::Retention;
use crate::secret::{SecretError, hide_in_log};
use crate::service::{Heart, activated, manager};
use crate::shutdown::{Shutdown, Stage};
use crate::signals::{Asked, Signals};
use crate::state_dir::{StateDirectory, StateError, WorkerCard};
use crate::store::{OpenError, Store};
use crate::task::{Alarm, spawn_vital};
use crate::token_file::TokenFileError;
use crate::tool::plugin::{PluginError, Plugins};

/// Threads that run tasks. The work is waiting: for children, the disk and clients.
const WORKER_THREADS: usize = 2;
/// Threads for calls that block, such as reading output files.
const BLOCKING_THREADS: usize = 8;
/// Bytes of a thread's stack. Nesting in what is read is bounded at 128 levels, which fits well.
const STACK_BYTES: usize = 1024 * 1024;

/// How long stopped runs may take to end, above the grace that a step has by default.
const STOP_TIME: Duration = Duration::from_secs(10);
/// How long killed runs may take to be recorded.
const FORCED_TIME: Duration = Duration::from_secs(5);

/// Why the worker did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Store(#[from] OpenError),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Secrets(#[from] SecretError),
    #[error(transparent)]
    Tokens(#[from] TokenFileError),
    #[error(transparent)]
    Parts(#[from] PartsError),
    #[error(transparent)]
    Schedules(#[from] schedule::OpenError),
    #[error(transparent)]
    Trust(#[from] PluginError),
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// How the worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// As it was asked to.
    Asked,
    /// A part of it died.
    Broken,
}

/// What the worker is started with.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) config: Config,
    /// Settings that were given as flags, and win over whatever is read later.
    pub(crate) flags: Vec<(Key, String)>,
    /// Plugins whose folders are to be trusted as they are now.
    pub(crate) trusted: Vec<String>,
}

/// Runs the worker until it is asked to end.
pub(crate) fn run(start: Start) -> Result<Ended, StartError> {
    // Before there are threads: it holds for all of them, and for every child.
    confine_worker()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_stack_size(STACK_BYTES)
        .thread_name("weir")
        .enable_all()
        .build()?;
    let ended = runtime.block_on(work(start));
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended
}

async fn work(start: Start) -> Result<Ended, StartError> {
    let Start { config, flags, trusted } = start;
    // Before anything that could be left half done.
    let mut signals = Signals::listen()?;
    let secrets = config.secrets.read()?;
    hide_in_log(secrets.masker());
    let state = StateDirectory::at(config.state.clone());
    let _lock = state.take()?;
    let token = state.token_or_new(&random()?)?;
    let (shutdown, watch) = Shutdown::new();
    let (alarm, mut alarms) = Alarm::new();
    let store = Store::open(&config.state.join("weir.redb"))?;
    let listener = match activated()? {
        Some(listener) => TcpListener::from_std(listener)?,
        None => listen(config.listen).await?,
    };
    let address = listener.local_addr()?;
    let flows = std::path::absolute(&config.flows)?;
    let worker = WorkerFacts { id: store.worker_id().to_string(), flows: flows.clone() };

    let Parts { clock, toolbox, plugins, library, published, runs } =
        assemble(&config, &flows, (&store, &secrets), watch.clone()).await?;
    for id in &trusted {
        trust(&plugins, id).await?;
    }
    for refused in library.refused() {
        tracing::warn!(file = %refused.name, finding = %refused.finding.message, "a file is not taken as a flow");
    }

    let rules = Live::new(reload::rules(&config, address)?);
    let access = Arc::new(Access {
        rules: rules.clone(),
        cookie: SessionCookie::of(&worker.id),
        token: token.clone(),
        codes: Codes::default(),
        sessions: Sessions::in_store(store.clone(), clock.clone()),
    });
    let card =
        WorkerCard { pid: std::process::id(), address: address.to_string(), worker_id: worker.id.clone(), flows };
    let webhooks = Webhooks::new(WebhooksOf {
        store: store.clone(),
        published: published.clone(),
        runs: runs.clone(),
        toolbox: toolbox.clone(),
        secrets: secrets.clone(),
        clock: clock.clone(),
        allow_remote: config.remote_webhooks,
    });
    let (schedules, keeping) = Schedules::open(SchedulesOf {
        store: store.clone(),
        library: library.clone(),
        published: published.clone(),
        runs: runs.clone(),
        toolbox: toolbox.clone(),
        clock: clock.clone(),
        shutdown: watch.clone(),
    })?;
    let api = Api {
        access: access.clone(),
        page: Arc::new(Page::locate(config.page.as_deref())),
        worker: Arc::new(worker),
        store: store.clone(),
        library,
        published,
        runs: runs.clone(),
        toolbox,
        plugins: plugins.clone(),
        webhooks: webhooks.clone(),
        schedules,
        limits: config.limits,
        secrets,
        state: config.state.clone(),
        shutdown: watch.clone(),
    };
    let heart = Heart { store: store.clone(), library: api.library.clone(), runs: runs.clone() };
    let door = Door::new(access, webhooks, warp::service(routes(&api)));
    let (close_door, door_closes) = oneshot::channel::<()>();
    let kept = Live::new(config.retention);
    let retention = Retention::new(store.clone(), config.state.clone(), clock, kept.clone());
    let grace = config.shutdown_grace;
    let reload = Reload { config, flags, address, plugins, rules, retention: kept };
    let retaining = spawn_vital("retention", alarm.clone(), retention.work(watch));
    let beating = spawn_vital("heartbeat", alarm.clone(), heart.clone().beat());
    let keeping = spawn_vital("schedules", alarm.clone(), keeping);
    let serving = spawn_vital(
        "serve",
        alarm,
        serve::serve(listener, door, async move {
            // Dropped is as good as told.
            let _told = door_closes.await;
        }),
    );
    if let Err(error) = state.announce(&card) {
        tracing::error!(%error, "other commands do not find this worker");
    }
    say_where(address, &token);
    manager::ready(&heart);

    let ended = wait_for_the_end((&mut signals, &mut alarms), &reload, &heart).await;
    manager::stopping();
    state.withdraw();
    drain(&runs, &shutdown, grace, &mut signals).await;
    drop(close_door);
    serving.ended().await;
    retaining.ended().await;
    drop(beating);
    keeping.ended().await;
    store.close().await;
    Ok(ended)
}

/// Trusts a plugin because whoever started the worker says so, and says so.
async fn trust(plugins: &Plugins, id: &str) -> Result<(), PluginError> {
    let unknown = || PluginError::Unknown { id: id.to_owned() };
    let plugin = plugins.list().into_iter().find(|plugin| plugin.id == id).ok_or_else(unknown)?;
    let digest = plugin.digest.unwrap_or_default();
    plugins.trust(id, &digest, PluginEffects::Command).await?;
    tracing::info!(plugin = id, digest, folder = plugin.folder, "trusted, as --trust says");
    Ok(())
}

/// Lets runs finish for the grace, then stops them, then kills what is left. A signal on the way skips to the end.
async fn drain(runs: &Runs, shutdown: &Shutdown, grace: Duration, signals: &mut Signals) {
    for (stage, patience) in [(Stage::Draining, grace), (Stage::Stopping, STOP_TIME)] {
        shutdown.advance(stage);
        tokio::select! {
            () = runs.drained() => return,
            () = tokio::time::sleep(patience) => {}
            signal = signals.next() => {
                tracing::warn!(signal, "ending at once");
                break;
            }
        }
    }
    shutdown.advance(Stage::Forced);
    if tokio::time::timeout(FORCED_TIME, runs.drained()).await.is_err() {
        tracing::error!(runs = runs.driven(), "some runs did not end; the next start marks them interrupted");
    }
}

/// Waits for a signal to end or the death of a vital task; reads again what can change whenever it is asked to.
async fn wait_for_the_end(
    (signals, alarms): (&mut Signals, &mut mpsc::Receiver<&'static str>),
    reload: &Reload,
    heart: &Heart,
) -> Ended {
    loop {
        tokio::select! {
            signal = signals.any() => match signal {
                Asked::End(name) => {
                    tracing::info!(signal = name, "ending");
                    return Ended::Asked;
                }
                Asked::Reload => {
                    manager::reloading();
                    read_again(reload).await;
                    manager::ready(heart);
                }
            },
            task = alarms.recv() => {
                tracing::error!(task, "a vital task died; ending");
                return Ended::Broken;
            }
        }
    }
}

async fn read_again(reload: &Reload) {
    match reload.run().await {
        Ok(waiting) if waiting.is_empty() => tracing::info!("configuration, tokens and plugins are read again"),
        Ok(waiting) => {
            tracing::warn!(settings = waiting.join(", "), "read again; these settings hold from the next start on");
        }
        Err(error) => tracing::error!(%error, "nothing is changed: it cannot be read again"),
    }
}

fn random() -> Result<[u8; SECRET_BYTES], StartError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes)
}

async fn listen(address: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).await.map_err(|source| StartError::Listen { address, source })
}

/// The one line on standard output. It holds the token on a terminal only: elsewhere it would stay in a log.
fn say_where(address: SocketAddr, token: &Token) {
    let mut stdout = std::io::stdout().lock();
    let line = if stdout.is_terminal() {
        format!("http://{address}/#token={}\n", token.reveal())
    } else {
        format!("http://{address}/\n")
    };
    // Nobody reading is no reason not to work.
    let _nobody_reads = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush());
}
