//! The accept loop: connections with bounds, and an end that does not wait for ever.
//!
//! It is our own because warp's has no time limit for a request's head, no cap on connections, and an end that waits
//! for every open stream.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tower_service::Service;
use warp::http::Request;
use warp::reply::Response;

use super::linger::Lingering;

/// Connections at once. More wait in the system's backlog until one ends.
const MOST_CONNECTIONS: usize = 2048;
/// How long the head of a request may take, the first or the next on a connection.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// Bytes of a request's head, and of what hyper reads ahead.
const READ_BUFFER_BYTES: usize = 64 * 1024;
/// How long open requests are waited for at the end. Streams end by themselves well before.
const END_TIME: Duration = Duration::from_secs(2);
/// A pause after `accept` failed (no free descriptors, say), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Who is at the other end of a request's connection: an extension of every request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

/// The service as one connection sees it: each request says whose it is.
#[derive(Clone)]
struct OfPeer<S> {
    service: S,
    peer: Peer,
}

impl<S, B> Service<Request<B>> for OfPeer<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        request.extensions_mut().insert(self.peer);
        self.service.call(request)
    }
}

/// Serves until `stop` is ready, then lets open requests finish within a bound. Returns with every connection closed.
pub(crate) async fn serve<S>(listener: TcpListener, service: S, stop: impl Future<Output = ()>)
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let mut connections = JoinSet::new();
    let graceful = GracefulShutdown::new();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept(), if connections.len() < MOST_CONNECTIONS => match accepted {
                Ok((stream, peer)) => {
                    let service = OfPeer { service: service.clone(), peer: Peer(peer) };
                    connections.spawn(connection(stream, service, graceful.watcher()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(ended) = connections.join_next() => report(ended),
        }
    }
    drop(listener);
    // Late ones are cut off below.
    let _all_or_late = tokio::time::timeout(END_TIME, graceful.shutdown()).await;
    connections.shutdown().await;
}

async fn connection<S>(stream: TcpStream, service: S, watcher: Watcher)
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    // Events are small and must not wait for each other.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection has no TCP_NODELAY");
    }
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(READ_BUFFER_BYTES)
        .serve_connection(TokioIo::new(Lingering::new(stream)), TowerToHyperService::new(service));
    if let Err(error) = watcher.watch(served).await {
        tracing::debug!(%error, "a connection ended early");
    }
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "answering a request panicked");
    }
}
