//! How two ends find each other over TCP, and which of their connections is kept.
//!
//! Both ends of a [`rendezvous`](meet) listen and call. Exactly one connection must be left, and both ends must mean the same one:
//!
//! - A connection is kept when the accepting end has welcomed it and the calling end has started it. The caller decides last, so an end that
//!   has started a call is bound to it, and an end that has welcomed one waits for its start or its end before it starts a call of its own.
//! - The end with the **lower** address prefers its own call: it welcomes the peer's only once a call of its own, made since the peer's hello
//!   came, has failed. While its welcome is out it does not call.
//! - The end with the higher address welcomes the peer's call at once.
//!
//! So when both calls get through, the lower end's is kept; when only one gets through (a firewall, a late peer), that one is. A `serve` on
//! the other side welcomes everyone; a rendezvous that it welcomed gives the peer's own run a moment to call first.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, poll};

use super::call::{Call, CallError, Step, Welcome};
use super::caller::{Caller, Standing};
use super::outcome::{Progress, Role};
use super::protocol::{Hello, Identity, Message};
use super::wire::{Wire, timeout};

/// Pause between two calls.
const PAUSE: Duration = Duration::from_millis(300);
/// How long a welcome of the peer's `serve` gives way to the peer's own run.
const SERVE_GRACE: Duration = Duration::from_secs(1);
/// How long a start may take to be sent.
const SEND: Duration = Duration::from_secs(1);
/// Connections held at once; more than one from the same peer are its earlier, abandoned calls.
const MAX_CALLERS: usize = 16;

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
    let mut hall = Hall {
        meeting,
        listener,
        callers: Vec::new(),
        call: Calling::Idle { until: Instant::now() },
        last_error: None,
        last_call: None,
    };
    let mut told = None;
    loop {
        if let Some(kept) = hall.step(progress) {
            return Ok(kept);
        }
        let now = Instant::now();
        if now >= deadline && !hall.decided() {
            return Err(NotMet::NeverCame(hall.last_error));
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

/// The own call.
enum Calling {
    Idle { until: Instant },
    Under(Call),
    Welcomed { welcome: Welcome, until: Instant },
}

/// A rendezvous under way.
struct Hall<'a> {
    meeting: &'a Meeting,
    listener: Option<TcpListener>,
    callers: Vec<Caller>,
    call: Calling,
    last_error: Option<CallError>,
    /// When the last call began.
    last_call: Option<Instant>,
}

impl Hall<'_> {
    /// Whether one side has bound itself already, so that the end of the wait must not part them.
    fn decided(&self) -> bool {
        matches!(self.call, Calling::Welcomed { .. }) || self.welcomed()
    }

    fn welcomed(&self) -> bool {
        self.callers.iter().any(|caller| *caller.standing() == Standing::Welcomed)
    }

    /// One round without waits.
    fn step(&mut self, progress: &mut dyn FnMut(Progress)) -> Option<Kept> {
        self.accept();
        for caller in &mut self.callers {
            caller.step();
            if *caller.standing() == Standing::Waiting {
                // Held until the own call is decided, which may take longer than a caller's patience.
                caller.queue(0);
            }
        }
        if let Some(index) =
            self.callers.iter().position(|caller| *caller.standing() == Standing::Started)
        {
            let (wire, hello) = self.callers.swap_remove(index).into_parts()?;
            return Some(Kept { wire, role: Role::Responder, peer: hello.identity.clone(), hello });
        }
        self.callers.retain(|caller| !matches!(caller.standing(), Standing::Gone(_)));
        if let Some(kept) = self.advance_call(progress) {
            return Some(kept);
        }
        self.welcome();
        None
    }

    fn accept(&mut self) {
        let Some(listener) = &self.listener else {
            return;
        };
        while self.callers.len() < MAX_CALLERS {
            let Some(mut caller) = Caller::accept(listener) else {
                return;
            };
            if caller.from == self.meeting.peer.ip() {
                self.callers.push(caller);
            } else {
                caller.refuse(format!(
                    "this end waits for {}, not for {}",
                    self.meeting.peer.ip(),
                    caller.from
                ));
            }
        }
    }

    /// Calls, and starts a welcomed call unless the peer's own call was welcomed here.
    fn advance_call(&mut self, progress: &mut dyn FnMut(Progress)) -> Option<Kept> {
        let now = Instant::now();
        let idle = Calling::Idle { until: now + PAUSE };
        self.call = match std::mem::replace(&mut self.call, idle) {
            Calling::Idle { until } => {
                let hurried =
                    self.callers.iter().any(|caller| *caller.standing() == Standing::Waiting);
                if self.welcomed() || (now < until && !hurried) {
                    Calling::Idle { until }
                } else {
                    self.last_call = Some(now);
                    let from = with_scope_of(
                        SocketAddr::new(self.meeting.local.ip(), 0),
                        self.meeting.local,
                    );
                    match Call::begin(from, self.meeting.peer, self.meeting.hello.clone()) {
                        Ok(call) => Calling::Under(call),
                        Err(error) => self.failed(error),
                    }
                }
            }
            Calling::Under(call) => match call.step() {
                Step::Pending(call) => Calling::Under(call),
                Step::Queued(call, place) => {
                    if place > 0 {
                        progress(Progress::Queued { place });
                    }
                    Calling::Under(call)
                }
                Step::Welcome(welcome) => {
                    let until = if welcome.serving { now + SERVE_GRACE } else { now };
                    Calling::Welcomed { welcome, until }
                }
                Step::Failed(error) => self.failed(error),
            },
            Calling::Welcomed { welcome, until } if now < until || self.welcomed() => {
                Calling::Welcomed { welcome, until }
            }
            Calling::Welcomed { welcome, .. } => match start(welcome, &self.meeting.hello) {
                Ok(kept) => return Some(kept),
                Err(error) => self.failed(error),
            },
        };
        None
    }

    fn failed(&mut self, error: CallError) -> Calling {
        self.last_error = Some(error);
        Calling::Idle { until: Instant::now() + PAUSE }
    }

    /// Welcomes the peer's call where the rule allows it.
    fn welcome(&mut self) {
        if self.welcomed() {
            return;
        }
        let lower = self.meeting.local.ip() < self.meeting.peer.ip();
        let call_failed_since = |since: Instant| {
            matches!(self.call, Calling::Idle { .. })
                && self.last_call.is_some_and(|began| began > since)
        };
        let gives_way = match &self.call {
            Calling::Welcomed { welcome, .. } => welcome.serving,
            _ => false,
        };
        let chosen = self.callers.iter().position(|caller| {
            *caller.standing() == Standing::Waiting
                && (!lower || gives_way || call_failed_since(caller.since))
        });
        let Some(index) = chosen else { return };
        if gives_way {
            self.call = Calling::Idle { until: Instant::now() + PAUSE };
        }
        self.callers[index].welcome(&self.meeting.hello.identity, false);
    }

    /// Waits for something to happen, `longest` at most.
    fn wait(&self, longest: Duration) {
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        if let Some(listener) = &self.listener {
            fds.push(PollFd::new(std::os::fd::AsFd::as_fd(listener), PollFlags::POLLIN));
        }
        fds.extend(self.callers.iter().map(|caller| PollFd::new(caller.fd(), PollFlags::POLLIN)));
        if let Calling::Under(call) = &self.call {
            let (fd, events) = call.interest();
            fds.push(PollFd::new(fd, events));
        }
        let _ = poll(&mut fds, timeout(longest));
    }
}

/// Starts a welcomed call: from here on this end means it.
fn start(welcome: Welcome, hello: &Hello) -> Result<Kept, CallError> {
    let Welcome { mut wire, peer, .. } = welcome;
    wire.send(&Message::Start, Instant::now() + SEND).map_err(CallError::Wire)?;
    Ok(Kept { wire, role: Role::Initiator, peer, hello: hello.clone() })
}

/// Gives a link-local address the scope of another.
fn with_scope_of(mut address: SocketAddr, other: SocketAddr) -> SocketAddr {
    if let (SocketAddr::V6(address), SocketAddr::V6(other)) = (&mut address, other) {
        address.set_scope_id(other.scope_id());
    }
    address
}
