//! How two ends find each other over TCP, and which of their connections is kept.
//!
//! Both ends of a [`rendezvous`](meet) listen and call. Exactly one connection must be left, and
//! both ends must mean the same one:
//!
//! - A connection is kept when the accepting end has welcomed it and the calling end has started
//!   it. The caller decides last, so an end that has started a call is bound to it, and an end that
//!   has welcomed one waits for its start or its end before it starts a call of its own.
//! - The end with the **lower** address prefers its own call: it welcomes the peer's only once a
//!   call of its own has failed that would have reached the peer: one made since the peer's hello
//!   came, or one that somebody had already taken. While its welcome is out it does not call.
//! - The end with the higher address welcomes the peer's call at once.
//!
//! So when both calls get through, the lower end's is kept; when only one gets through (a firewall,
//! a late peer), that one is. A `serve` on the other side welcomes everyone; a rendezvous that it
//! welcomed gives the peer's own run a moment to call first.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, poll};

use super::call::{Call, CallError, Step};
use super::hall::{Hall, start, with_scope_of};
use super::outcome::{Progress, Role};
use super::protocol::{Hello, Identity};
use super::wire::{Wire, timeout};

/// Who meets whom.
pub(crate) struct Meeting {
    /// This end's address and the control port.
    pub(crate) local: SocketAddr,
    /// The peer's address and the control port.
    pub(crate) peer: SocketAddr,
    /// What this end says when it calls.
    pub(crate) hello: Hello,
}

/// The kept connection.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) wire: Wire,
    pub(crate) role: Role,
    pub(crate) peer: Identity,
    /// The initiator's hello, which holds the tests to run.
    pub(crate) hello: Hello,
}

/// Why there is none.
#[derive(Debug)]
pub(crate) enum NotMet {
    /// The one call of [`call`] failed.
    Call(CallError),
    /// Nobody came until the wait was over; how the last call failed.
    NeverCame(Option<CallError>),
    /// This end could not listen.
    Listen(io::Error),
}

/// Calls a peer that is known to serve, once.
pub(crate) fn call(
    meeting: &Meeting,
    deadline: Instant,
    progress: &mut dyn FnMut(Progress),
) -> Result<Kept, NotMet> {
    let from = SocketAddr::new(meeting.local.ip(), 0);
    let from = with_scope_of(from, meeting.local);
    let mut call = Call::begin(from, meeting.peer, meeting.hello.clone()).map_err(NotMet::Call)?;
    loop {
        call = match call.step() {
            Step::Pending(call) => call,
            Step::Queued(call, place) => {
                progress(Progress::Queued { place });
                call
            }
            Step::Welcome(welcome) => return start(welcome, &meeting.hello).map_err(NotMet::Call),
            Step::Failed(error) => return Err(NotMet::Call(error)),
        };
        let now = Instant::now();
        if now >= deadline {
            return Err(NotMet::Call(CallError::NoAnswer));
        }
        let (fd, events) = call.interest();
        let mut fds = [PollFd::new(fd, events)];
        let _ = poll(&mut fds, timeout(call.until().min(deadline).saturating_duration_since(now)));
    }
}

/// Meets a peer that does the same at some time before `deadline`.
pub(crate) fn meet(
    meeting: &Meeting,
    deadline: Instant,
    progress: &mut dyn FnMut(Progress),
) -> Result<Kept, NotMet> {
    let listener = listen(meeting.local).map_err(NotMet::Listen)?;
    let mut hall = Hall::open(meeting, listener);
    let mut told = None;
    loop {
        if let Some(kept) = hall.step(progress) {
            return Ok(kept);
        }
        let now = Instant::now();
        if now >= deadline && !hall.decided() {
            return Err(NotMet::NeverCame(hall.into_last_error()));
        }
        let remaining_s = deadline.saturating_duration_since(now).as_secs();
        if told != Some(remaining_s) {
            told = Some(remaining_s);
            progress(Progress::WaitingForPeer {
                peer: meeting.peer.ip(),
                port: meeting.peer.port(),
                remaining_s,
            });
        }
        hall.wait(Duration::from_millis(100));
    }
}

/// A listener on the port's address; none where this host's `serve` has it already.
fn listen(address: SocketAddr) -> io::Result<Option<TcpListener>> {
    match TcpListener::bind(address) {
        Ok(listener) => listener.set_nonblocking(true).map(|()| Some(listener)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[path = "rendezvous_tests.rs"]
mod tests;
