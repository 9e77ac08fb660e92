//! A server for one test.

use std::net::SocketAddr;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::access::origin::Names;
use crate::access::session::SessionCookie;
use crate::access::token::{SECRET_BYTES, Token};
use crate::api::{Access, Api, Door, Sessions, WorkerFacts, routes, serve};
use crate::assets::Page;
use crate::clock::Clock;
use crate::store::Store;

/// A running server. Dropping it does not end it; the runtime of the test does.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) token: String,
    _state: TempDir,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Server {
    /// A server without a page, on a free port.
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let token = Token::of(&[3; SECRET_BYTES]);
        let state = tempfile::tempdir().unwrap();
        let store = Store::open(&state.path().join("weir.redb")).unwrap();
        let worker = WorkerFacts { id: store.worker_id().to_string(), flows: state.path().join("flows") };
        let access = Arc::new(Access {
            names: Names::of(address, &[], &["https://ally.example".to_owned()]),
            cookie: SessionCookie::of(&worker.id),
            token: token.clone(),
            sessions: Sessions::in_store(store, Clock::system()),
        });
        let api = Api { access: access.clone(), page: Arc::new(Page::Absent), worker: Arc::new(worker) };
        let door = Door::new(access, warp::service(routes(&api)));
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(serve::serve(listener, door, async move {
            let _told_or_dropped = stopped.await;
        }));
        Self { address, token: token.reveal().to_owned(), _state: state, stop, serving }
    }

    /// Ends it and waits until every connection is closed.
    pub(super) async fn end(self) {
        drop(self.stop);
        self.serving.await.unwrap();
    }
}
