//! The server's loop: clients come in, wait their turn, are tested one at a time, and are told what
//! happens.

use std::collections::VecDeque;
use std::net::{IpAddr, TcpListener};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signalfd::SignalFd;

use super::address::socket_address;
use super::caller::{Caller, Standing};
use super::job::{Endpoint, Job, Peer};
use super::outcome::{Ending, Progress, Role, SmokeOutcome};
use super::rendezvous::Kept;
use super::run::{identity, traffic};
use super::serve::{ServeError, ServeOptions};
use super::wire::timeout;

/// Clients held at once, the one under test included. More are turned away with the reason.
const MAX_CLIENTS: usize = 128;
/// How often the loop looks at a running test.
const GLANCE: Duration = Duration::from_millis(100);
/// How long it may sleep with nothing to do; signals and clients wake it.
const IDLE: Duration = Duration::from_secs(60);

/// One address that is listened on.
pub(crate) struct Door {
    endpoint: Endpoint,
    listener: TcpListener,
}

impl Door {
    pub(crate) fn open(endpoint: &Endpoint, port: u16) -> Result<Self, ServeError> {
        let address = socket_address(endpoint.local, port, &endpoint.netdev);
        let listener = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        match listener {
            Ok(listener) => Ok(Self { endpoint: endpoint.clone(), listener }),
            Err(error) => Err(ServeError::Listen {
                netdev: endpoint.netdev.clone(),
                address: endpoint.local,
                port,
                error,
            }),
        }
    }
}

/// A client and the door it came through.
struct Client {
    door: usize,
    caller: Caller,
}

/// The test under way.
struct Running {
    from: IpAddr,
    thread: JoinHandle<SmokeOutcome>,
    stop: Arc<AtomicBool>,
}

/// A server under way.
pub(crate) struct Server<'a> {
    options: &'a ServeOptions,
    doors: Vec<Door>,
    /// In the order of their arrival.
    clients: VecDeque<Client>,
    running: Option<Running>,
    served: u64,
}

impl<'a> Server<'a> {
    /// A server that nobody has come to yet.
    pub(crate) fn new(options: &'a ServeOptions, doors: Vec<Door>) -> Self {
        Self { options, doors, clients: VecDeque::new(), running: None, served: 0 }
    }

    /// Tests answered so far.
    pub(crate) fn served(&self) -> u64 {
        self.served
    }

    /// One round without waits.
    pub(crate) fn step(&mut self, progress: &mut dyn FnMut(Progress)) {
        self.finish_test(progress);
        self.accept();
        for client in &mut self.clients {
            client.caller.step();
        }
        self.clients.retain(|client| match client.caller.standing() {
            Standing::Gone(why) => {
                progress(Progress::Client {
                    peer: client.caller.from,
                    what: format!("was not tested: {why}"),
                });
                false
            }
            _ => true,
        });
        let started =
            self.clients.iter().position(|client| *client.caller.standing() == Standing::Started);
        if let Some(client) = started.and_then(|index| self.clients.remove(index)) {
            self.begin_test(client, progress);
        }
        self.invite();
    }

    fn accept(&mut self) {
        for (index, door) in self.doors.iter().enumerate() {
            while let Some(mut caller) = Caller::accept(&door.listener) {
                if self.clients.len() < MAX_CLIENTS {
                    self.clients.push_back(Client { door: index, caller });
                } else {
                    caller.refuse(format!(
                        "{MAX_CLIENTS} clients are waiting already; try again later"
                    ));
                }
            }
        }
    }

    /// Welcomes the first waiting client when nobody is tested, and tells the others their place.
    fn invite(&mut self) {
        let mut ahead = u32::from(self.running.is_some());
        ahead += u32::from(
            self.clients.iter().any(|client| *client.caller.standing() == Standing::Welcomed),
        );
        let mut waiting: Vec<&mut Client> = self
            .clients
            .iter_mut()
            .filter(|client| *client.caller.standing() == Standing::Waiting)
            .collect();
        waiting.sort_by_key(|client| client.caller.since);
        for client in waiting {
            if ahead == 0 {
                let endpoint = &self.doors[client.door].endpoint;
                client.caller.welcome(&identity(endpoint), true);
            } else {
                client.caller.queue(ahead);
            }
            ahead += 1;
        }
    }

    fn begin_test(&mut self, client: Client, progress: &mut dyn FnMut(Progress)) {
        let from = client.caller.from;
        let endpoint = self.doors[client.door].endpoint.clone();
        let Some((wire, hello)) = client.caller.into_parts() else {
            return;
        };
        let peer = hello.identity.clone();
        progress(Progress::Client {
            peer: from,
            what: format!(
                "is tested on {} ({} of {})",
                endpoint.netdev, peer.endpoint.netdev, peer.host
            ),
        });
        let job = Job {
            endpoint,
            peer: Peer::Serving { address: from },
            port: self.options.port,
            tests: hello.tests.clone(),
            limits: self.options.limits,
        };
        let kept = Kept { wire, role: Role::Responder, peer, hello };
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let own = identity(&job.endpoint);
            let outcome = SmokeOutcome::begin(&job);
            traffic(&job, own, kept, outcome, &flag, &mut |_| {})
        });
        self.running = Some(Running { from, thread, stop });
    }

    fn finish_test(&mut self, progress: &mut dyn FnMut(Progress)) {
        if self.running.as_ref().is_some_and(|running| running.thread.is_finished()) {
            self.conclude(progress);
        }
    }

    /// Waits for the running test's end and tells it.
    fn conclude(&mut self, progress: &mut dyn FnMut(Progress)) {
        let Some(Running { from, thread, .. }) = self.running.take() else {
            return;
        };
        self.served += 1;
        let what = match thread.join() {
            Err(_) => "its test ended in an internal error".to_owned(),
            Ok(outcome) if outcome.ending == Ending::Passed => {
                format!("passed: {} tests on {}", outcome.figures.len(), outcome.netdev)
            }
            Ok(outcome) => match outcome.diagnosis() {
                Some(stage) => format!("failed at {}: {}", stage.rung.claim_id(), stage.observed),
                None => "failed".to_owned(),
            },
        };
        progress(Progress::Client { peer: from, what });
    }

    /// Ends the running test and sends the waiting away.
    pub(crate) fn stop(&mut self, progress: &mut dyn FnMut(Progress)) {
        if let Some(running) = &self.running {
            running.stop.store(true, Ordering::Relaxed);
        }
        for client in &mut self.clients {
            client.caller.refuse("the server is stopping".to_owned());
        }
        self.clients.clear();
        self.conclude(progress);
    }

    /// True while a test runs.
    pub(crate) fn is_testing(&self) -> bool {
        self.running.is_some()
    }

    /// Waits for something to happen, at most until the serving time that is `left` is over.
    pub(crate) fn wait(&self, signals: &SignalFd, left: Option<Duration>) {
        let busy = self.running.is_some();
        // Clients have deadlines of their own, and the waiting hear from here now and then.
        let longest = match (busy, self.clients.is_empty()) {
            (true, _) => GLANCE,
            (false, false) => Duration::from_millis(500),
            (false, true) => IDLE,
        };
        let longest = left.filter(|_| !busy).map_or(longest, |left| left.min(longest));
        let mut fds = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        fds.extend(
            self.doors.iter().map(|door| PollFd::new(door.listener.as_fd(), PollFlags::POLLIN)),
        );
        fds.extend(
            self.clients.iter().map(|client| PollFd::new(client.caller.fd(), PollFlags::POLLIN)),
        );
        let begin = Instant::now();
        if poll(&mut fds, timeout(longest)).is_err() && begin.elapsed() < GLANCE {
            // A failing poll must not become a busy loop.
            thread::sleep(GLANCE);
        }
    }
}
