//! Both ends of a rendezvous on loopback addresses: one connection is kept, and both ends mean the
//! same one.

use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use super::super::call::CallError;
use super::super::job::{Endpoint, Job};
use super::super::outcome::Role;
use super::super::protocol::{Hello, Identity, Message};
use super::*;

fn hello(local: SocketAddr) -> Hello {
    let endpoint = Endpoint {
        netdev: "lo".to_owned(),
        device: "none".to_owned(),
        local: local.ip(),
        mode: None,
    };
    let identity = Identity { host: local.to_string(), endpoint, netdev_mtu_bytes: None };
    Hello::new(identity, Job::default_tests())
}

/// A port that was free a moment ago on every loopback address.
fn free_port() -> u16 {
    TcpListener::bind("0.0.0.0:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port()
}

fn meeting(local: (u8, u16), peer: (u8, u16)) -> Meeting {
    let address = |(host, port): (u8, u16)| SocketAddr::from(([127, 0, 0, host], port));
    Meeting { local: address(local), peer: address(peer), hello: hello(address(local)) }
}

/// Lets both ends meet after their delays; the results in the order of the ends.
fn both(a: (Meeting, u64), b: (Meeting, u64)) -> (Result<Kept, NotMet>, Result<Kept, NotMet>) {
    let end = |(meeting, delay_ms): (Meeting, u64)| {
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(delay_ms));
            meet(&meeting, Instant::now() + Duration::from_secs(10), &mut |_| {})
        })
    };
    let (a, b) = (end(a), end(b));
    (a.join().expect("end a"), b.join().expect("end b"))
}

/// Asserts that the two kept connections are one, and returns the role of the first end.
fn one_connection((a, b): (Result<Kept, NotMet>, Result<Kept, NotMet>)) -> Role {
    let (mut a, mut b) = (a.expect("end a met"), b.expect("end b met"));
    assert_eq!(a.role, b.role.other());
    let soon = Instant::now() + Duration::from_secs(2);
    let word = |from: &str| Message::Failed { why: from.to_owned() };
    a.wire.send(&word("a"), soon).expect("a says");
    b.wire.send(&word("b"), soon).expect("b says");
    assert_eq!(b.wire.receive(soon), Ok(word("a")));
    assert_eq!(a.wire.receive(soon), Ok(word("b")));
    assert_ne!(a.peer.host, b.peer.host);
    a.role
}

#[test]
fn ends_that_start_at_once_keep_the_lower_ends_call() {
    for _ in 0..20 {
        let port = free_port();
        let role = one_connection(both(
            (meeting((1, port), (2, port)), 0),
            (meeting((2, port), (1, port)), 0),
        ));
        assert_eq!(role, Role::Initiator);
    }
}

#[test]
fn ends_that_start_apart_keep_one_connection_whoever_is_late() {
    for delay in [0, 1, 3, 10, 40, 350, 900] {
        for (a, b) in [(0, delay), (delay, 0)] {
            let port = free_port();
            one_connection(both(
                (meeting((1, port), (2, port)), a),
                (meeting((2, port), (1, port)), b),
            ));
        }
    }
}

#[test]
fn a_lower_end_whose_calls_fail_welcomes_the_higher_ends() {
    let (port, dead) = (free_port(), free_port());
    let role = one_connection(both(
        (meeting((1, port), (2, dead)), 0),
        (meeting((2, port), (1, port)), 0),
    ));
    assert_eq!(role, Role::Responder);
}

#[test]
fn a_higher_end_whose_calls_fail_is_called() {
    let (port, dead) = (free_port(), free_port());
    let role = one_connection(both(
        (meeting((1, port), (2, port)), 0),
        (meeting((2, port), (1, dead)), 0),
    ));
    assert_eq!(role, Role::Initiator);
}

#[test]
fn an_end_whose_port_is_taken_calls_and_is_the_initiator() {
    for (caller, host) in [(1, 2), (2, 1)] {
        let port = free_port();
        let _taken =
            TcpListener::bind(SocketAddr::from(([127, 0, 0, caller], port))).expect("a listener");
        let ends = both(
            (meeting((caller, port), (host, port)), 0),
            (meeting((host, port), (caller, port)), 0),
        );
        assert_eq!(one_connection(ends), Role::Initiator, "{caller} calls {host}");
    }
}

#[test]
fn a_peer_that_never_comes_is_known_at_the_end_of_the_wait() {
    let port = free_port();
    let begin = Instant::now();
    let mut waited = Vec::new();
    let deadline = begin + Duration::from_millis(1500);
    let result =
        meet(&meeting((1, port), (2, port)), deadline, &mut |progress| waited.push(progress));
    assert!(
        matches!(
            result,
            Err(NotMet::NeverCame(Some(CallError::Connect(nix::errno::Errno::ECONNREFUSED))))
        ),
        "{result:?}"
    );
    assert!(begin.elapsed() < Duration::from_secs(2), "took {:?}", begin.elapsed());
    let peer = std::net::IpAddr::from([127, 0, 0, 2]);
    assert_eq!(waited.first(), Some(&Progress::WaitingForPeer { peer, port, remaining_s: 1 }));
}

#[test]
fn a_stranger_is_sent_away_with_the_reason() {
    let port = free_port();
    let host = thread::spawn(move || {
        meet(&meeting((1, port), (2, port)), Instant::now() + Duration::from_secs(2), &mut |_| {})
    });
    thread::sleep(Duration::from_millis(200));
    let result =
        call(&meeting((3, port), (1, port)), Instant::now() + Duration::from_secs(1), &mut |_| {});
    let Err(NotMet::Call(error)) = result else { panic!("{result:?}") };
    assert_eq!(
        error,
        CallError::Refused("this end waits for 127.0.0.2, not for 127.0.0.3".to_owned())
    );
    assert!(matches!(host.join().expect("the host"), Err(NotMet::NeverCame(_))));
}
