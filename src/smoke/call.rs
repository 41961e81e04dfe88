//! Calling the peer: a TCP connection from the port's own address, up to the peer's welcome. A
//! state machine without waits, so that a rendezvous can call and listen in one thread.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, bind, connect, getsockopt, socket, sockopt,
};

use super::protocol::{Hello, Identity, Message};
use super::wire::{Wire, WireError};

/// How long a connection attempt may stay unanswered: longer than the kernel's three tries to find
/// a neighbour (3 s), so that an absent neighbour and a silent firewall can be told apart.
const CONNECT: Duration = Duration::from_secs(4);
/// How long a connected peer may take to answer a hello.
const WELCOME: Duration = Duration::from_secs(5);

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallError {
    /// The TCP connection failed.
    Connect(Errno),
    /// Nothing answered the TCP connection.
    NoAnswer,
    /// The peer gave a reason.
    Refused(String),
    /// The conversation failed.
    Wire(WireError),
    /// The peer sent something else.
    Unexpected(&'static str),
}

/// Where a call stands.
enum State {
    Connecting { socket: OwnedFd, until: Instant },
    Asked { wire: Wire, until: Instant },
}

/// What a step of a call led to.
pub(crate) enum Step {
    /// Nothing yet.
    Pending(Call),
    /// The peer is busy; the number of tests before this one.
    Queued(Call, u32),
    /// The peer is ready for `Start`.
    Welcome(Welcome),
    /// It came to nothing.
    Failed(CallError),
}

/// A welcomed call.
#[derive(Debug)]
pub(crate) struct Welcome {
    pub(crate) wire: Wire,
    pub(crate) peer: Identity,
    /// The peer's `serve` answered.
    pub(crate) serving: bool,
}

/// A call under way.
pub(crate) struct Call {
    hello: Hello,
    state: State,
}

impl Call {
    /// Begins a call from `local` to `peer`.
    pub(crate) fn begin(
        local: SocketAddr,
        peer: SocketAddr,
        hello: Hello,
    ) -> Result<Self, CallError> {
        let family = if peer.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let socket = socket(family, SockType::Stream, flags, None).map_err(CallError::Connect)?;
        let raw = std::os::fd::AsRawFd::as_raw_fd(&socket);
        bind(raw, &SockaddrStorage::from(local)).map_err(CallError::Connect)?;
        match connect(raw, &SockaddrStorage::from(peer)) {
            Ok(()) | Err(Errno::EINPROGRESS) => {}
            Err(errno) => return Err(CallError::Connect(errno)),
        }
        Ok(Self { hello, state: State::Connecting { socket, until: Instant::now() + CONNECT } })
    }

    /// The descriptor and events that a wait for the next step polls.
    pub(crate) fn interest(&self) -> (BorrowedFd<'_>, PollFlags) {
        match &self.state {
            State::Connecting { socket, .. } => (socket.as_fd(), PollFlags::POLLOUT),
            State::Asked { wire, .. } => (wire.as_fd(), PollFlags::POLLIN),
        }
    }

    /// When the present state is given up.
    pub(crate) fn until(&self) -> Instant {
        match &self.state {
            State::Connecting { until, .. } | State::Asked { until, .. } => *until,
        }
    }

    /// Goes on as far as possible without waiting.
    pub(crate) fn step(self) -> Step {
        let Self { hello, state } = self;
        match state {
            State::Connecting { socket, until } => match connected(&socket) {
                Ok(false) if Instant::now() >= until => Step::Failed(CallError::NoAnswer),
                Ok(false) => {
                    Step::Pending(Self { hello, state: State::Connecting { socket, until } })
                }
                Ok(true) => match ask(socket, &hello) {
                    Ok(wire) => {
                        let until = Instant::now() + WELCOME;
                        Step::Pending(Self { hello, state: State::Asked { wire, until } })
                    }
                    Err(error) => Step::Failed(CallError::Wire(error)),
                },
                Err(Errno::ETIMEDOUT) => Step::Failed(CallError::NoAnswer),
                Err(errno) => Step::Failed(CallError::Connect(errno)),
            },
            State::Asked { mut wire, until } => match wire.try_receive() {
                Ok(None) if Instant::now() >= until => {
                    Step::Failed(CallError::Wire(WireError::Deadline))
                }
                Ok(None) => Step::Pending(Self { hello, state: State::Asked { wire, until } }),
                Ok(Some(Message::Welcome { identity, serving })) => {
                    Step::Welcome(Welcome { wire, peer: identity, serving })
                }
                Ok(Some(Message::Queued { place })) => {
                    // A queued caller hears from the server again and again; it is silence that
                    // ends the wait.
                    let until = Instant::now() + WELCOME;
                    Step::Queued(Self { hello, state: State::Asked { wire, until } }, place)
                }
                Ok(Some(Message::Refused { why })) => Step::Failed(CallError::Refused(why)),
                Ok(Some(other)) => Step::Failed(CallError::Unexpected(other.name())),
                Err(error) => Step::Failed(CallError::Wire(error)),
            },
        }
    }
}

/// Whether the socket is connected; its error if it failed.
fn connected(socket: &OwnedFd) -> Result<bool, Errno> {
    let mut fds = [nix::poll::PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
    match nix::poll::poll(&mut fds, nix::poll::PollTimeout::ZERO) {
        Ok(0) | Err(Errno::EINTR) => Ok(false),
        Err(errno) => Err(errno),
        Ok(_) => match getsockopt(socket, sockopt::SocketError)? {
            0 => Ok(true),
            errno => Err(Errno::from_raw(errno)),
        },
    }
}

fn ask(socket: OwnedFd, hello: &Hello) -> Result<Wire, WireError> {
    let mut wire = Wire::new(socket)?;
    wire.send(&Message::Hello(hello.clone()), Instant::now() + WELCOME)?;
    Ok(wire)
}
