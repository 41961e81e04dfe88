//! The server: stands on the profile's ports and answers every peer's test, one at a time, until it
//! is told to stop.

use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use super::job::{Endpoint, Limits};
use super::outcome::Progress;
use super::server::{Door, Server};

/// Where and how long to serve.
#[derive(Debug, Clone, PartialEq)]
pub struct ServeOptions {
    /// The ports of this host to stand on; connections arrive on their addresses only.
    pub endpoints: Vec<Endpoint>,
    /// TCP port of the control connections.
    pub port: u16,
    /// Time limits; the test budget is the client's.
    pub limits: Limits,
    /// Stop after this many tests; none: only by signal.
    pub most_tests: Option<u64>,
    /// Stop after this time, when no test runs; none: only by signal.
    pub stay: Option<Duration>,
}

/// Why the server could not begin, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No port to stand on.
    #[error("nothing to serve: no interface with an RDMA device and an address was given")]
    NoEndpoint,
    /// An address could not be listened on.
    #[error("listening on {address} port {port} of {netdev}: {error}")]
    Listen {
        /// The interface.
        netdev: String,
        /// Its address.
        address: IpAddr,
        /// The control port.
        port: u16,
        /// The kernel's answer.
        error: io::Error,
    },
    /// SIGTERM and SIGINT could not be received.
    #[error("receiving SIGTERM and SIGINT: {0}")]
    Signals(Errno),
}

/// Serves until SIGTERM or SIGINT; returns the number of tests answered.
///
/// The calling thread's signal mask keeps both signals blocked afterwards.
///
/// # Errors
/// When it could not begin; a client's failure is never the server's.
pub fn serve(
    options: &ServeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64, ServeError> {
    if options.endpoints.is_empty() {
        return Err(ServeError::NoEndpoint);
    }
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTERM);
    signals.add(Signal::SIGINT);
    signals.thread_block().map_err(ServeError::Signals)?;
    let signals = SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
        .map_err(ServeError::Signals)?;
    let doors = options
        .endpoints
        .iter()
        .map(|endpoint| Door::open(endpoint, options.port))
        .collect::<Result<Vec<_>, _>>()?;
    let mut server = Server::new(options, doors);
    let end = options.stay.and_then(|stay| Instant::now().checked_add(stay));
    loop {
        server.step(progress);
        let told_to_stop = matches!(signals.read_signal(), Ok(Some(_)));
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let is_over = !server.is_testing() && left.is_some_and(|left| left.is_zero());
        if told_to_stop || is_over || options.most_tests.is_some_and(|most| server.served() >= most)
        {
            server.stop(progress);
            return Ok(server.served());
        }
        server.wait(&signals, left);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::thread;

    use super::super::job::Job;
    use super::super::protocol::Hello;
    use super::super::rendezvous::{Meeting, call};
    use super::super::run::identity;
    use super::*;

    fn endpoint(host: u8) -> Endpoint {
        let local = IpAddr::from([127, 0, 0, host]);
        Endpoint { netdev: "lo".to_owned(), device: "none".to_owned(), local, mode: None }
    }

    /// A server for `most` tests on 127.0.0.1; its port and its thread, which returns what it told
    /// of its clients.
    fn server(most: u64) -> (u16, thread::JoinHandle<(u64, Vec<String>)>) {
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|free| free.local_addr())
            .expect("a port")
            .port();
        let options = ServeOptions {
            endpoints: vec![endpoint(1)],
            port,
            limits: Limits::default(),
            most_tests: Some(most),
            stay: None,
        };
        let thread = thread::spawn(move || {
            let mut told = Vec::new();
            let served = serve(&options, &mut |progress| {
                if let Progress::Client { peer, what } = progress {
                    told.push(format!("{peer} {what}"));
                }
            });
            (served.expect("a server"), told)
        });
        thread::sleep(Duration::from_millis(200));
        (port, thread)
    }

    fn meeting(host: u8, port: u16) -> Meeting {
        let hello = Hello::new(identity(&endpoint(host)), Job::default_tests());
        Meeting {
            local: SocketAddr::from(([127, 0, 0, host], port)),
            peer: SocketAddr::from(([127, 0, 0, 1], port)),
            hello,
        }
    }

    #[test]
    fn garbage_and_half_open_clients_cost_a_real_one_nothing() {
        let (port, server) = server(1);
        let mut half_open = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        half_open.write_all(&[0, 0]).expect("half a header");
        let mut garbage = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        garbage.write_all(b"\x16\x03\x01\x02\x00").expect("a TLS hello");
        let begin = Instant::now();
        let kept = call(&meeting(2, port), begin + Duration::from_secs(5), &mut |_| {})
            .expect("a welcome");
        assert!(begin.elapsed() < Duration::from_secs(2), "took {:?}", begin.elapsed());
        assert_eq!(kept.peer.endpoint, endpoint(1));
        let mut answer = Vec::new();
        let _ = garbage.read_to_end(&mut answer);
        assert!(
            answer.is_empty()
                || String::from_utf8_lossy(&answer).contains("it is not a roce-setup smoke peer")
        );
        drop(kept);
        let (served, told) = server.join().expect("the server");
        assert_eq!(served, 1);
        let found = |what: &str| told.iter().any(|line| line.contains(what));
        assert!(
            found("127.0.0.1 was not tested: the peer announced a message of 369295618 bytes"),
            "{told:?}"
        );
        assert!(found("127.0.0.2 is tested on lo (lo of "), "{told:?}");
        // The test program knows no traffic subcommand, so its child ends without a word.
        assert!(
            found("127.0.0.2 failed at smoke.connect: the traffic process ended by itself"),
            "{told:?}"
        );
    }

    #[test]
    fn clients_are_served_in_turn_and_told_their_place() {
        let (port, server) = server(3);
        let clients: Vec<_> = (2..5)
            .map(|host| {
                thread::sleep(Duration::from_millis(50));
                thread::spawn(move || {
                    let mut places = Vec::new();
                    let kept = call(
                        &meeting(host, port),
                        Instant::now() + Duration::from_secs(20),
                        &mut |progress| {
                            if let Progress::Queued { place } = progress {
                                places.push(place);
                            }
                        },
                    );
                    // Welcomed clients hold their turn for a moment, as a test would.
                    thread::sleep(Duration::from_millis(500));
                    kept.map(|_| places).expect("a welcome")
                })
            })
            .collect();
        let places: Vec<Vec<u32>> =
            clients.into_iter().map(|client| client.join().expect("a client")).collect();
        assert!(places.iter().flatten().all(|place| (1..=2).contains(place)), "{places:?}");
        let (served, told) = server.join().expect("the server");
        assert_eq!(served, 3);
        let tested: Vec<&str> = told
            .iter()
            .filter(|line| line.contains("is tested"))
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert_eq!(tested, ["127.0.0.2", "127.0.0.3", "127.0.0.4"]);
    }

    #[test]
    fn a_taken_port_is_named_with_its_address() {
        let taken = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let port = taken.local_addr().expect("its address").port();
        let options = ServeOptions {
            endpoints: vec![endpoint(1)],
            port,
            limits: Limits::default(),
            most_tests: None,
            stay: None,
        };
        let error = serve(&options, &mut |_| {}).expect_err("a taken port");
        assert_eq!(
            error.to_string(),
            format!(
                "listening on 127.0.0.1 port {port} of lo: Address already in use (os error 98)"
            )
        );
        let options = ServeOptions { endpoints: Vec::new(), ..options };
        assert!(matches!(serve(&options, &mut |_| {}), Err(ServeError::NoEndpoint)));
    }

    #[test]
    fn a_server_ends_by_itself_when_its_time_is_over() {
        let (options, begin) = (
            ServeOptions {
                endpoints: vec![endpoint(7)],
                port: 0,
                limits: Limits::default(),
                most_tests: None,
                stay: Some(Duration::from_millis(300)),
            },
            Instant::now(),
        );
        let served = serve(&options, &mut |_| {}).map_err(|error| error.to_string());
        assert_eq!(served, Ok(0));
        assert!(begin.elapsed() >= Duration::from_millis(300));
    }
}
