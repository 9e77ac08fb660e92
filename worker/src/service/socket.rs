//! A listener that the service manager opened before the worker was there (`weir.socket`).

use std::io;
use std::net::TcpListener;
use std::os::fd::{FromRawFd, OwnedFd};

/// The manager's listener; none when the worker opens its own.
///
/// Call it once: it takes the descriptor over.
pub(crate) fn activated() -> io::Result<Option<TcpListener>> {
    let mut descriptors = sd_notify::listen_fds()?;
    let Some(descriptor) = descriptors.next() else { return Ok(None) };
    if descriptors.next().is_some() {
        return Err(io::Error::other("weir.socket gives several sockets; give one ListenStream="));
    }
    // SAFETY: the manager put an open descriptor there for this process, which `LISTEN_PID` names, and nothing else
    // here takes it.
    #[expect(unsafe_code, reason = "a descriptor by its number is how sockets are handed over")]
    let listener = TcpListener::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
    listener.set_nonblocking(true)?;
    // Also the question whether it is a socket of the network at all.
    listener.local_addr()?;
    Ok(Some(listener))
}
