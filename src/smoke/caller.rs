//! Being called: an accepted TCP connection, up to its `Start`. The other side of [`super::call`],
//! for a rendezvous and for `serve`.

use std::io;
use std::net::{IpAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use super::protocol::{Hello, Identity, Message};
use super::wire::{Wire, WireError};

/// How long a caller may take for its hello, and for its start once welcomed.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long an answer may take to be sent; it fits the socket's buffer, so only a broken peer needs
/// any of it.
const SEND: Duration = Duration::from_millis(200);
/// How often a waiting caller hears that it still waits.
const REMINDER: Duration = Duration::from_secs(2);

/// Where a caller stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Its hello has not come yet.
    Silent,
    /// It said hello and waits to be welcomed.
    Waiting,
    /// It was welcomed and may start.
    Welcomed,
    /// It started.
    Started,
    /// It is gone, or must go: why.
    Gone(String),
}

/// One accepted connection.
pub(crate) struct Caller {
    pub(crate) from: IpAddr,
    wire: Wire,
    standing: Standing,
    hello: Option<Hello>,
    until: Instant,
    /// When it became waiting.
    pub(crate) since: Instant,
    told: Option<(u32, Instant)>,
}

impl Caller {
    /// Takes the next connection off a non-blocking listener. None when there is none, or it failed
    /// before it was looked at.
    pub(crate) fn accept(listener: &TcpListener) -> Option<Self> {
        let (stream, from) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            // ECONNABORTED and the like concern that one connection.
            Err(_) => return None,
        };
        let wire = Wire::new(OwnedFd::from(stream)).ok()?;
        let now = Instant::now();
        Some(Self {
            from: from.ip().to_canonical(),
            wire,
            standing: Standing::Silent,
            hello: None,
            until: now + PATIENCE,
            since: now,
            told: None,
        })
    }

    pub(crate) fn standing(&self) -> &Standing {
        &self.standing
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.wire.as_fd()
    }

    /// Goes on as far as possible without waiting.
    pub(crate) fn step(&mut self) {
        let late = Instant::now() >= self.until;
        match (&self.standing, self.wire.try_receive()) {
            (Standing::Silent, Ok(Some(Message::Hello(hello)))) => match hello.refusal() {
                Some(why) => self.refuse(why),
                None => {
                    self.hello = Some(hello);
                    self.since = Instant::now();
                    self.standing = Standing::Waiting;
                }
            },
            (Standing::Welcomed, Ok(Some(Message::Start))) => self.standing = Standing::Started,
            (Standing::Silent, Ok(None)) if late => self.refuse("no hello came in time".to_owned()),
            (Standing::Welcomed, Ok(None)) if late => {
                self.gone("it was welcomed and did not start".to_owned())
            }
            (_, Ok(None)) => {}
            (_, Ok(Some(message))) => self.refuse(format!("`{}` came out of turn", message.name())),
            (_, Err(WireError::Closed)) => self.gone("it closed the connection".to_owned()),
            (_, Err(error)) => self.refuse(error.to_string()),
        }
    }

    /// Welcomes a waiting caller.
    pub(crate) fn welcome(&mut self, identity: &Identity, serving: bool) {
        self.until = Instant::now() + PATIENCE;
        self.standing = Standing::Welcomed;
        self.say(&Message::Welcome { identity: identity.clone(), serving });
    }

    /// Tells a waiting caller its place, when it is new or was told some time ago.
    pub(crate) fn queue(&mut self, place: u32) {
        if self.told.is_none_or(|(told, at)| told != place || at.elapsed() >= REMINDER) {
            self.told = Some((place, Instant::now()));
            self.say(&Message::Queued { place });
        }
    }

    /// Sends a caller away with a reason.
    pub(crate) fn refuse(&mut self, why: String) {
        self.say(&Message::Refused { why: why.clone() });
        self.gone(why);
    }

    /// The parts of a started caller.
    pub(crate) fn into_parts(self) -> Option<(Wire, Hello)> {
        let Self { wire, hello, .. } = self;
        hello.map(|hello| (wire, hello))
    }

    fn gone(&mut self, why: String) {
        self.standing = Standing::Gone(why);
    }

    fn say(&mut self, message: &Message) {
        if let Err(error) = self.wire.send(message, Instant::now() + SEND) {
            self.gone(error.to_string());
        }
    }
}
