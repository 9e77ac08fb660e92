//! A connection that is closed while its client still sends: the client gets to read the answer.
//!
//! A socket that is closed with something unread tells its other end that the connection is broken, and the other end
//! then may throw away the answer that says why (a body was too large). So what is still coming is read and dropped
//! before the close, within bounds. A client that sends nothing is not waited for.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// The longest that a client is read from after its answer, and how many bytes are.
const LONGEST: Duration = Duration::from_secs(1);
const MOST: usize = 16 * 1024 * 1024;
/// Bytes that are dropped at a time.
const PIECE: usize = 16 * 1024;

/// A connection whose end is polite.
pub(super) struct Lingering {
    stream: TcpStream,
    end: End,
    /// Bytes that may still be dropped.
    left: usize,
}

/// How far the end of a connection has come.
enum End {
    NotYet,
    /// The client has been told that nothing more comes, and was still sending.
    Dropping(Pin<Box<Sleep>>),
    Done,
}

impl Lingering {
    /// This connection, with a polite end.
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, end: End::NotYet, left: MOST }
    }

    /// Reads and drops what has come. Pending after the first of it, until the client has ended too.
    fn poll_drop(&mut self, context: &mut Context<'_>) -> Poll<Dropped> {
        let mut buffer = [0; PIECE];
        let mut dropped = false;
        loop {
            let mut piece = ReadBuf::new(&mut buffer);
            match Pin::new(&mut self.stream).poll_read(context, &mut piece) {
                Poll::Pending if !dropped => return Poll::Ready(Dropped::Nothing),
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !piece.filled().is_empty() && self.left > 0 => {
                    dropped = true;
                    self.left = self.left.saturating_sub(piece.filled().len());
                }
                // An error is an end too, and so is the end of patience.
                Poll::Ready(Ok(()) | Err(_)) => return Poll::Ready(Dropped::ToTheEnd),
            }
        }
    }
}

/// What came of reading from a client that is not listened to any more.
enum Dropped {
    /// It sends nothing now.
    Nothing,
    ToTheEnd,
}

impl AsyncRead for Lingering {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, into)
    }
}

impl AsyncWrite for Lingering {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            match &mut this.end {
                End::NotYet => {
                    ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
                    this.end = match this.poll_drop(context) {
                        Poll::Ready(Dropped::Nothing | Dropped::ToTheEnd) => End::Done,
                        Poll::Pending => End::Dropping(Box::pin(sleep(LONGEST))),
                    };
                }
                End::Dropping(patience) => {
                    if patience.as_mut().poll(context).is_ready() {
                        this.end = End::Done;
                        continue;
                    }
                    match this.poll_drop(context) {
                        Poll::Ready(Dropped::ToTheEnd) => this.end = End::Done,
                        Poll::Ready(Dropped::Nothing) | Poll::Pending => return Poll::Pending,
                    }
                }
                End::Done => return Poll::Ready(Ok(())),
            }
        }
    }
}
