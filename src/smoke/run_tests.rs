//! Runs that end before any traffic, on a host without RDMA.

use std::net::{IpAddr, TcpListener};

use super::super::job::Limits;
use super::*;

fn job(local: [u8; 4], peer: Peer, port: u16) -> Job {
    let endpoint = Endpoint {
        netdev: "lo".to_owned(),
        device: "none".to_owned(),
        local: IpAddr::from(local),
        mode: None,
    };
    Job { endpoint, peer, port, tests: Job::default_tests(), limits: Limits::default() }
}

fn serving(peer: [u8; 4]) -> Peer {
    Peer::Serving { address: IpAddr::from(peer) }
}

fn free_port() -> u16 {
    TcpListener::bind("0.0.0.0:0").and_then(|free| free.local_addr()).expect("a port").port()
}

fn stage(outcome: &SmokeOutcome, rung: SmokeRung) -> &Stage {
    outcome.stages.iter().find(|stage| stage.rung == rung).expect("the stage")
}

#[test]
fn a_peer_that_does_not_serve_is_named_with_its_port_at_once() {
    let port = free_port();
    let begin = Instant::now();
    let outcome = run(&job([127, 0, 0, 1], serving([127, 0, 0, 9]), port), &mut |_| {});
    assert!(begin.elapsed() < Duration::from_secs(2), "took {:?}", begin.elapsed());
    let control = stage(&outcome, SmokeRung::Control);
    assert_eq!(control.verdict, Verdict::Unmet);
    assert_eq!(
        control.observed,
        format!("connecting to 127.0.0.9 port {port}: connection refused")
    );
    assert_eq!(
        control.fix,
        Some(format!(
            "start it on the peer: `roce-setup serve` (port {port}), and open the port there"
        ))
    );
    assert_eq!(outcome.ending, Ending::Failed);
    let data = stage(&outcome, SmokeRung::Data);
    assert_eq!((data.verdict, data.observed.as_str()), (Verdict::Skipped, "needs smoke.control"));
}

#[test]
fn another_program_on_the_port_is_told_from_a_missing_server() {
    let other = TcpListener::bind("127.0.0.9:0").expect("a listener");
    let port = other.local_addr().expect("its address").port();
    let ssh = thread::spawn(move || {
        use std::io::Write;
        let (mut client, _) = other.accept().expect("a client");
        client.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").expect("a banner");
        thread::sleep(Duration::from_millis(300));
    });
    let outcome = run(&job([127, 0, 0, 1], serving([127, 0, 0, 9]), port), &mut |_| {});
    ssh.join().expect("the other program");
    let control = stage(&outcome, SmokeRung::Control);
    assert_eq!(
        control.observed,
        format!(
            "connecting to 127.0.0.9 port {port}: the peer announced a message of 1397966893 bytes, 65536 at most are possible: it is not a roce-setup smoke peer"
        )
    );
    assert_eq!(
        control.cause.as_deref(),
        Some("another program, or another version of this one, has the port")
    );
}

#[test]
fn a_peer_that_never_comes_leaves_the_link_untested_and_says_what_tests_it_later() {
    let port = free_port();
    let peer = Peer::Rendezvous {
        address: IpAddr::from([127, 0, 0, 9]),
        wait: Duration::from_millis(700),
    };
    let outcome = run(&job([127, 0, 0, 1], peer, port), &mut |_| {});
    assert_eq!(outcome.ending, Ending::PeerNeverCame);
    let missing = stage(&outcome, SmokeRung::Peer);
    assert_eq!(
        missing.observed,
        "127.0.0.9 did not come within the wait; the last call: connection refused"
    );
    let later = format!(
        "test the link later: `roce-setup serve` on the peer, then `roce-setup smoke` here (port {port})"
    );
    assert_eq!(missing.fix, Some(later));
}

#[test]
fn what_is_no_test_of_a_link_is_refused_with_the_reason() {
    let why = |job: Job| match run(&job, &mut |_| {}).ending {
        Ending::Refused { why } => why,
        other => panic!("{other:?}"),
    };
    let own = [127, 0, 0, 1];
    assert_eq!(
        why(job(own, serving(own), 1)),
        "the peer's address 127.0.0.1 is the own one: that is loopback, which proves the device and the library, not the cable"
    );
    assert_eq!(
        why(job([192, 0, 2, 1], serving(own), 1)),
        "lo does not hold the address 192.0.2.1, so traffic cannot be bound to it"
    );
    let v6 = Peer::Serving { address: "2001:db8::1".parse().expect("an address") };
    assert_eq!(
        why(job(own, v6, 1)),
        "the peer's address 2001:db8::1 and the own address 127.0.0.1 are of different families"
    );
    let mut empty = job(own, Peer::Loopback, 1);
    empty.tests.clear();
    assert_eq!(why(empty), "0 tests were asked for; 1 to 512 are possible");
    // Another address of this host, wherever there is one.
    let other = nix::ifaddrs::getifaddrs().expect("addresses").find_map(|entry| {
        let ip = entry.address?.as_sockaddr_in()?.ip();
        (!ip.is_loopback()).then_some((entry.interface_name, ip))
    });
    if let Some((name, ip)) = other {
        let text = why(job(own, Peer::Serving { address: IpAddr::V4(ip) }, 1));
        let begin = format!(
            "the peer's address {ip} is held by this host's {name}: such traffic goes through the host and not over the cable"
        );
        assert!(text.starts_with(&begin), "{text}");
    }
}

#[test]
fn an_outcome_survives_json() {
    let outcome = run(&job([127, 0, 0, 1], serving([127, 0, 0, 9]), free_port()), &mut |_| {});
    let text = serde_json::to_string(&outcome).expect("JSON");
    assert_eq!(serde_json::from_str::<SmokeOutcome>(&text).expect("an outcome"), outcome);
}
