//! A server for one test.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::access::origin::Names;
use crate::access::scope::Caller;
use crate::access::session::{SessionCookie, SessionSecret};
use crate::access::token::{SECRET_BYTES, Token};
use crate::api::{Access, Api, Door, SessionBook, routes, serve};
use crate::assets::Page;

/// A running server. Dropping it does not end it; the runtime of the test does.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) token: String,
    /// A `Cookie` that the server knows.
    pub(super) cookie: String,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

/// One session that is always known.
struct OneSession([u8; 32]);

impl SessionBook for OneSession {
    fn caller(&self, digest: &[u8; 32]) -> Option<Caller> {
        (self.0 == *digest).then(Caller::local)
    }
}

impl Server {
    /// A server without a page, on a free port.
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let token = Token::of(&[3; SECRET_BYTES]);
        let session = SessionSecret::of(&[4; SECRET_BYTES]);
        let cookie = SessionCookie::of("test");
        let sent = cookie.open(&session).split(';').next().unwrap().to_owned();
        let access = Arc::new(Access {
            names: Names::of(address, &[], &["https://ally.example".to_owned()]),
            cookie,
            token: token.clone(),
            sessions: Box::new(OneSession(session.digest())),
        });
        let api = Api { access: access.clone(), page: Arc::new(Page::Absent) };
        let door = Door::new(access, warp::service(routes(&api)));
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(serve::serve(listener, door, async move {
            let _told_or_dropped = stopped.await;
        }));
        Self { address, token: token.reveal().to_owned(), cookie: sent, stop, serving }
    }

    /// Ends it and waits until every connection is closed.
    pub(super) async fn end(self) {
        drop(self.stop);
        self.serving.await.unwrap();
    }
}
