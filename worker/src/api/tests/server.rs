//! A worker's API for one test: everything is real, in a directory of its own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use weir_shared::limits::Limits;

use super::client::Ask;
use crate::access::code::Codes;
use crate::access::named::NamedTokens;
use crate::access::origin::Names;
use crate::access::session::SessionCookie;
use crate::access::token::{SECRET_BYTES, Token};
use crate::api::{Access, Api, Door, Rules, Sessions, WorkerFacts, routes, serve};
use crate::assets::Page;
use crate::clock::Clock;
use crate::engine::{Runs, Settings};
use crate::intake::schedule::{Schedules, SchedulesOf};
use crate::intake::webhook::{Webhooks, WebhooksOf};
use crate::library::Library;
use crate::live::Live;
use crate::process::{CgroupSettings, Supervisor};
use crate::published::Published;
use crate::secret::SecretSources;
use crate::shutdown::{Shutdown, Stage};
use crate::store::Store;
use crate::tool::plugin::{Homes, Plugins, ProcessLimits};
use crate::tool::{ToolSettings, Toolbox};

/// A running server. Dropping it does not end it; the runtime of the test does.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) token: String,
    pub(super) store: Store,
    pub(super) webhooks: Webhooks,
    directory: TempDir,
    shutdown: Shutdown,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Server {
    /// A server without a page, on a free port.
    pub(super) async fn start() -> Self {
        Self::with(Settings::default(), &[]).await
    }

    /// A server with these settings of its engine and these secrets.
    pub(super) async fn with(settings: Settings, secrets: &[(&str, &str)]) -> Self {
        let variables = secrets.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let secrets = SecretSources { variables, ..SecretSources::default() }.read().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let token = Token::of(&[3; SECRET_BYTES]);
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().to_owned();
        let flows = state.join("flows");
        let store = Store::open(&state.join("weir.redb")).unwrap();
        let worker = WorkerFacts { id: store.worker_id().to_string(), flows: flows.clone() };
        let names = Names::of(address, &[], &["https://ally.example".to_owned()]);
        let rules = Live::new(Rules { names, tokens: NamedTokens::default() });
        let access = Arc::new(Access {
            rules: rules.clone(),
            cookie: SessionCookie::of(&worker.id),
            token: token.clone(),
            codes: Codes::default(),
            sessions: Sessions::in_store(store.clone(), Clock::system()),
        });
        let (shutdown, watch) = Shutdown::new();
        let supervisor = Supervisor::start(&worker.id, &CgroupSettings::none()).unwrap();
        let toolbox = Toolbox::new(supervisor, Clock::system(), ToolSettings::default()).unwrap();
        let library = Library::open(flows.clone(), toolbox.catalog(), Limits::default(), Some(secrets.clone()));
        let (tools, judge) = (toolbox.clone(), library.clone());
        let offer = move |offered| {
            tools.offer_plugins(offered);
            judge.judge_by(tools.catalog());
        };
        let plugins =
            Plugins::open(Homes::of(&flows, None), ProcessLimits::NotHeld, store.clone(), Box::new(offer)).unwrap();
        let times = (Clock::system(), watch.clone());
        let runs = Runs::new(store.clone(), toolbox.clone(), times, state.clone(), settings);
        let published = Published::open(library.clone(), store.clone(), Clock::system()).await.unwrap();
        let webhooks = Webhooks::new(WebhooksOf {
            store: store.clone(),
            published: published.clone(),
            runs: runs.clone(),
            toolbox: toolbox.clone(),
            secrets: secrets.clone(),
            clock: Clock::system(),
            allow_remote: false,
        });
        let (schedules, keeping) = Schedules::open(SchedulesOf {
            store: store.clone(),
            library: library.clone(),
            published: published.clone(),
            runs: runs.clone(),
            toolbox: toolbox.clone(),
            clock: Clock::system(),
            shutdown: watch.clone(),
        })
        .unwrap();
        tokio::spawn(keeping);
        let api = Api {
            published,
            access: access.clone(),
            page: Arc::new(Page::Absent),
            worker: Arc::new(worker),
            library,
            runs,
            store: store.clone(),
            toolbox,
            plugins,
            webhooks: webhooks.clone(),
            schedules,
            limits: Limits::default(),
            secrets,
            state,
            shutdown: watch,
        };
        let door = Door::new(access, webhooks.clone(), warp::service(routes(&api)));
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(serve::serve(listener, door, async move {
            let _told_or_dropped = stopped.await;
        }));
        Self { address, token: token.reveal().to_owned(), store, webhooks, directory, shutdown, stop, serving }
    }

    /// A request with the token.
    pub(super) fn ask(&self, method: &str, path: &str) -> Ask {
        Ask::new(method, path).header("X-Weir-Token", self.token.as_str())
    }

    /// The flow directory.
    pub(super) fn flows(&self) -> PathBuf {
        self.directory.path().join("flows")
    }

    /// Ends it and waits until every connection is closed.
    pub(super) async fn end(self) {
        self.shutdown.advance(Stage::Draining);
        drop(self.stop);
        self.serving.await.unwrap();
    }
}
