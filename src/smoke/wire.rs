//! The control connection: JSON messages behind a four-byte big-endian length, bounded, every wait
//! with a deadline.
//!
//! Exactly the bytes of one message are taken off the socket at a time, so that the socket can be
//! handed to another process between two messages.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::protocol::Message;

/// The longest message, bytes. The longest real one is far below it.
pub(crate) const MAX_MESSAGE_BYTES: usize = 64 << 10;
/// Bytes of the length before each message.
const HEADER_BYTES: usize = 4;

/// Why a message could not be exchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireError {
    /// The other end closed the connection.
    #[error("the peer closed the control connection")]
    Closed,
    /// Nothing (more) came in time.
    #[error("no answer on the control connection within its deadline")]
    Deadline,
    /// The announced length is impossible.
    #[error(
        "the peer announced a message of {0} bytes, {MAX_MESSAGE_BYTES} at most are possible: it is not a roce-setup smoke peer"
    )]
    TooLong(usize),
    /// Not a message of this protocol.
    #[error("the peer sent something that is not a smoke message: {0}")]
    NotAMessage(String),
    /// The socket failed.
    #[error("the control connection failed: {0}")]
    Socket(Errno),
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
            Errno::ECONNRESET | Errno::EPIPE => Self::Closed,
            errno => Self::Socket(errno),
        }
    }
}

/// One end of a control connection.
#[derive(Debug)]
pub(crate) struct Wire {
    socket: File,
    /// What has arrived of the message under way, header included.
    partial: Vec<u8>,
    /// A message that was looked at and put back.
    put_back: Option<Box<Message>>,
}

impl Wire {
    /// Takes over a connected stream socket.
    ///
    /// # Errors
    /// [`WireError::Socket`] when it cannot be made non-blocking.
    pub(crate) fn new(socket: OwnedFd) -> Result<Self, WireError> {
        let flags = fcntl(&socket, FcntlArg::F_GETFL).map_err(WireError::Socket)?;
        let flags = OFlag::from_bits_truncate(flags) | OFlag::O_NONBLOCK;
        fcntl(&socket, FcntlArg::F_SETFL(flags)).map_err(WireError::Socket)?;
        Ok(Self { socket: File::from(socket), partial: Vec::new(), put_back: None })
    }

    /// The socket, to hand it to another process. Call it only between two messages.
    pub(crate) fn into_socket(self) -> OwnedFd {
        OwnedFd::from(self.socket)
    }

    /// Sends one message before `deadline`.
    ///
    /// # Errors
    /// [`WireError::Closed`], [`WireError::Deadline`] or [`WireError::Socket`].
    pub(crate) fn send(&mut self, message: &Message, deadline: Instant) -> Result<(), WireError> {
        let body = serde_json::to_vec(message)
            .map_err(|error| WireError::NotAMessage(error.to_string()))?;
        let length = u32::try_from(body.len())
            .ok()
            .filter(|_| body.len() <= MAX_MESSAGE_BYTES)
            .ok_or(WireError::TooLong(body.len()))?;
        let mut frame = length.to_be_bytes().to_vec();
        frame.extend_from_slice(&body);
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            match self.socket.write(rest) {
                Ok(0) => return Err(WireError::Closed),
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait(self.socket.as_fd(), PollFlags::POLLOUT, deadline)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The next message if it has arrived completely; never waits.
    ///
    /// # Errors
    /// As [`Wire::receive`], without the deadline.
    pub(crate) fn try_receive(&mut self) -> Result<Option<Message>, WireError> {
        if let Some(message) = self.put_back.take() {
            return Ok(Some(*message));
        }
        loop {
            let wanted = match self.announced()? {
                None => HEADER_BYTES,
                Some(length) => HEADER_BYTES + length,
            };
            let missing = wanted - self.partial.len();
            if missing == 0 && wanted > HEADER_BYTES {
                let frame = std::mem::take(&mut self.partial);
                return Message::parse(&frame[HEADER_BYTES..]).map(Some);
            }
            let mut buffer = [0_u8; 4096];
            match self.socket.read(&mut buffer[..missing.min(4096)]) {
                Ok(0) => return Err(WireError::Closed),
                Ok(count) => self.partial.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Puts a message back: the next receive returns it.
    pub(crate) fn put_back(&mut self, message: Message) {
        self.put_back = Some(Box::new(message));
    }

    /// The length of the message under way, once its header is here.
    fn announced(&self) -> Result<Option<usize>, WireError> {
        let Some(header) = self.partial.first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        match u32::from_be_bytes(*header) as usize {
            0 => Err(WireError::NotAMessage("an empty one".to_owned())),
            length if length > MAX_MESSAGE_BYTES => Err(WireError::TooLong(length)),
            length => Ok(Some(length)),
        }
    }

    /// Waits for the next message until `deadline`.
    ///
    /// # Errors
    /// Why none came.
    pub(crate) fn receive(&mut self, deadline: Instant) -> Result<Message, WireError> {
        loop {
            if let Some(message) = self.try_receive()? {
                return Ok(message);
            }
            wait(self.socket.as_fd(), PollFlags::POLLIN, deadline)?;
        }
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Waits until a descriptor is ready.
fn wait(fd: BorrowedFd<'_>, events: PollFlags, deadline: Instant) -> Result<(), WireError> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(WireError::Deadline);
    }
    let mut fds = [PollFd::new(fd, events)];
    match poll(&mut fds, timeout(left)) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(errno) => Err(WireError::Socket(errno)),
    }
}

/// A duration as poll takes it: rounded up, so that a wait does not spin at its end, and at most a
/// minute.
pub(crate) fn timeout(duration: Duration) -> PollTimeout {
    let ms = duration.as_micros().div_ceil(1000).min(60_000) as u16;
    PollTimeout::from(ms)
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
