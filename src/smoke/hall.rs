//! The state of a rendezvous under way: the own call, and the peers' calls that came in. The rule
//! it follows is told in [`super::rendezvous`].

use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, poll};

use super::call::{Call, CallError, Step, Welcome};
use super::caller::{Caller, Standing};
use super::outcome::{Progress, Role};
use super::protocol::{Hello, Message};
use super::rendezvous::{Kept, Meeting};
use super::wire::timeout;

/// Pause between two calls.
const PAUSE: Duration = Duration::from_millis(300);
/// How long a welcome of the peer's `serve` gives way to the peer's own run.
const SERVE_GRACE: Duration = Duration::from_secs(1);
/// How long a start may take to be sent.
const SEND: Duration = Duration::from_secs(1);
/// Connections held at once; more than one from the same peer are its earlier, abandoned calls.
const MAX_CALLERS: usize = 16;

/// The own call.
enum Calling {
    Idle { until: Instant },
    Under(Call),
    Welcomed { welcome: Welcome, until: Instant },
}

/// A rendezvous under way.
pub(crate) struct Hall<'a> {
    meeting: &'a Meeting,
    listener: Option<TcpListener>,
    callers: Vec<Caller>,
    call: Calling,
    last_error: Option<CallError>,
    /// When the last call began.
    last_call: Option<Instant>,
}

impl<'a> Hall<'a> {
    /// A rendezvous of which nothing has happened yet.
    pub(crate) fn open(meeting: &'a Meeting, listener: Option<TcpListener>) -> Self {
        Self {
            meeting,
            listener,
            callers: Vec::new(),
            call: Calling::Idle { until: Instant::now() },
            last_error: None,
            last_call: None,
        }
    }

    /// How the last call failed.
    pub(crate) fn into_last_error(self) -> Option<CallError> {
        self.last_error
    }

    /// Whether one side has bound itself already, so that the end of the wait must not part them.
    pub(crate) fn decided(&self) -> bool {
        matches!(self.call, Calling::Welcomed { .. }) || self.welcomed()
    }

    fn welcomed(&self) -> bool {
        self.callers.iter().any(|caller| *caller.standing() == Standing::Welcomed)
    }

    /// One round without waits.
    pub(crate) fn step(&mut self, progress: &mut dyn FnMut(Progress)) -> Option<Kept> {
        self.accept();
        for caller in &mut self.callers {
            caller.step();
            if *caller.standing() == Standing::Waiting {
                // Held until the own call is decided, which may take longer than a caller's
                // patience.
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
        let idle = matches!(self.call, Calling::Idle { .. });
        let call_failed_since = |since: Instant| {
            let taken = !matches!(
                self.last_error,
                None | Some(CallError::Connect(_) | CallError::NoAnswer)
            );
            idle && self.last_call.is_some_and(|began| began > since || taken)
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
    pub(crate) fn wait(&self, longest: Duration) {
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        if let Some(listener) = &self.listener {
            fds.push(PollFd::new(listener.as_fd(), PollFlags::POLLIN));
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
pub(crate) fn start(welcome: Welcome, hello: &Hello) -> Result<Kept, CallError> {
    let Welcome { mut wire, peer, .. } = welcome;
    wire.send(&Message::Start, Instant::now() + SEND).map_err(CallError::Wire)?;
    Ok(Kept { wire, role: Role::Initiator, peer, hello: hello.clone() })
}

/// Gives a link-local address the scope of another.
pub(crate) fn with_scope_of(mut address: SocketAddr, other: SocketAddr) -> SocketAddr {
    if let (SocketAddr::V6(address), SocketAddr::V6(other)) = (&mut address, other) {
        address.set_scope_id(other.scope_id());
    }
    address
}
