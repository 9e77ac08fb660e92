//! Names to addresses, each checked before anything connects to it.
//!
//! It is asked again for every connection, so for every redirect too, and a connection goes to an address of its
//! answer and to no other: a name whose answer changes between a check and the use has nothing to change.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, mpsc};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use super::address;

/// Addresses of one name that are tried.
const MOST_ADDRESSES: usize = 16;

/// Looks names up.
pub(crate) trait Names: fmt::Debug + Send + Sync {
    /// Every address of a host. Blocks.
    fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// As the system does.
#[derive(Debug)]
pub(super) struct SystemNames;

impl Names for SystemNames {
    fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok((host, port).to_socket_addrs()?.collect())
    }
}

/// Where calls may go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reach {
    Anywhere,
    /// Only to addresses that this allows; a name with any other is refused as a whole.
    Only(fn(IpAddr) -> bool),
}

impl Reach {
    /// Only to the public Internet.
    pub(crate) const PUBLIC: Self = Self::Only(address::is_public);
}

/// Why a name is not connected to.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(
        "{host} is {address}, which is no public address; the setting `network.publicOnly` decides whether it may be \
         called"
    )]
    NotPublic { host: String, address: IpAddr },
    #[error("{host} cannot be looked up: {source}")]
    LookUp { host: String, source: io::Error },
}

/// The resolver of one call.
#[derive(Debug)]
pub(super) struct CheckedResolver {
    pub(super) names: Arc<dyn Names>,
    pub(super) reach: Reach,
}

impl Resolver for CheckedResolver {
    fn resolve(&self, uri: &Uri, _: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let (Some(host), Some(scheme)) = (uri.host(), uri.scheme_str()) else {
            return Err(ureq::Error::BadUri(uri.to_string()));
        };
        let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let found = match host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => self.look_up(host, port, timeout)?,
        };
        if let Reach::Only(allowed) = self.reach
            && let Some(address) = found.iter().map(SocketAddr::ip).find(|address| !allowed(*address))
        {
            return Err(refused(Refusal::NotPublic { host: host.to_owned(), address }));
        }
        let mut addresses = self.empty();
        for address in found.into_iter().take(MOST_ADDRESSES) {
            addresses.push(address);
        }
        if addresses.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(addresses) }
    }
}

impl CheckedResolver {
    /// Looks a name up on a thread of its own: the system's call cannot be stopped, and may take longer than a call
    /// has time for. Its thread is left behind then, until the system gives up.
    fn look_up(&self, host: &str, port: u16, timeout: NextTimeout) -> Result<Vec<SocketAddr>, ureq::Error> {
        let (tell, told) = mpsc::sync_channel(1);
        let (names, asked) = (Arc::clone(&self.names), host.to_owned());
        let lookup = move || {
            // Nobody listens any more once the time is up.
            let _late = tell.send(names.look_up(&asked, port));
        };
        std::thread::Builder::new().name("weir-names".to_owned()).spawn(lookup)?;
        match told.recv_timeout(*timeout.after) {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(source)) => Err(refused(Refusal::LookUp { host: host.to_owned(), source })),
            Err(mpsc::RecvTimeoutError::Timeout) => Err(ureq::Error::Timeout(timeout.reason)),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(ureq::Error::HostNotFound),
        }
    }
}

fn refused(refusal: Refusal) -> ureq::Error {
    ureq::Error::Other(Box::new(refusal))
}
