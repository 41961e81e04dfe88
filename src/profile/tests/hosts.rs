//! What one profile says to each of its hosts.

use crate::profile::{Peer, Profile};

fn profile(text: &str) -> Profile {
    Profile::parse(text.as_bytes(), "profile.yaml").unwrap_or_else(|error| panic!("{error}"))
}

fn with_peer(hosts: &str, ips: &str, peer: &str) -> Profile {
    profile(&format!(
        "version: 1\nhosts: {hosts}\ninterfaces:\n  - name: ens1f0\n    ipv4:\n      address:\n        - {{ip: \"{ips}\", prefix-length: 24}}\n    rdma: {{mode: rocev2}}\nsmoke:\n  peer: {peer}\n"
    ))
}

/// Peer and caller of a host on the only interface.
fn ends(profile: &Profile, host: &str) -> (Option<Peer>, Option<Peer>) {
    let smoke = profile.for_host(host).unwrap().smoke.unwrap();
    let [link] = smoke.links.as_slice() else {
        panic!("{} links", smoke.links.len());
    };
    assert_eq!(link.interface, 0);
    (link.peer.clone(), link.caller.clone())
}

fn host(name: &str, address: &str) -> Option<Peer> {
    Some(Peer::Host { name: name.into(), addresses: vec![address.parse().unwrap()] })
}

#[test]
fn parallel_lists_give_each_host_its_own_entry() {
    let profile = with_peer("server[1-2]", "100.0.1.[10-11]", "pair");
    for (name, position, address) in
        [("server1", 0, "100.0.1.10/24"), ("SERVER2.cluster.site", 1, "100.0.1.11/24")]
    {
        let chosen = profile.for_host(name).unwrap();
        assert_eq!(chosen.position, Some(position));
        assert_eq!(chosen.host.as_deref(), Some(profile.hosts()[position].as_str()));
        assert_eq!(chosen.interfaces[0].ipv4, [address.parse().unwrap()]);
    }
}

#[test]
fn pairs_are_1_2_and_3_4() {
    let profile = with_peer("n[1-4]", "100.0.1.[1-4]", "pair");
    for (own, other) in [(1, 2), (2, 1), (3, 4), (4, 3)] {
        let wanted = host(&format!("n{other}"), &format!("100.0.1.{other}"));
        assert_eq!(ends(&profile, &format!("n{own}")), (wanted, None));
    }
}

#[test]
fn in_a_ring_each_calls_the_next_and_is_called_by_the_one_before() {
    let profile = with_peer("n[1-3]", "100.0.1.[1-3]", "ring");
    for (own, next, before) in [(1, 2, 3), (2, 3, 1), (3, 1, 2)] {
        let peer = |n: i32| host(&format!("n{n}"), &format!("100.0.1.{n}"));
        assert_eq!(ends(&profile, &format!("n{own}")), (peer(next), peer(before)));
    }
    let two = with_peer("n[1-2]", "100.0.1.[1-2]", "ring");
    assert_eq!(ends(&two, "n2"), (host("n1", "100.0.1.1"), None));
}

#[test]
fn a_named_host_or_address_is_the_peer_of_all_but_itself() {
    let named = with_peer("n[1-3]", "100.0.1.[1-3]", "{host: N2.site}");
    assert_eq!(ends(&named, "n1"), (host("n2", "100.0.1.2"), None));
    assert_eq!(ends(&named, "n2"), (None, None));
    let address = with_peer("n[1-3]", "100.0.1.[1-3]", "100.0.1.3");
    let peer = Peer::Address("100.0.1.3".parse().unwrap());
    assert_eq!(ends(&address, "n1"), (Some(peer), None));
    assert_eq!(ends(&address, "n3"), (None, None));
    // With a single interface the peer may be behind a router.
    let routed = with_peer("n[1-2]", "100.0.1.[1-2]", "10.9.9.9");
    let peer = Peer::Address("10.9.9.9".parse().unwrap());
    assert_eq!(ends(&routed, "n1"), (Some(peer), None));
}

#[test]
fn loopback_is_the_peer_on_every_host() {
    let profile = with_peer("n1", "100.0.1.1", "loopback");
    assert_eq!(ends(&profile, "n1"), (Some(Peer::Loopback), None));
}

#[test]
fn an_address_is_tested_on_the_interface_in_its_subnet() {
    let profile = profile(
        "version: 1\ninterfaces:\n  - name: a\n    ipv4: {address: [{ip: 10.0.1.1, prefix-length: 24}]}\n    rdma: {mode: rocev2}\n  - name: b\n    ipv4: {address: [{ip: 10.0.2.1, prefix-length: 24}]}\n    rdma: {mode: rocev2}\nsmoke: {peer: 10.0.2.2}\n",
    );
    let smoke = profile.for_host("any").unwrap().smoke.unwrap();
    let peers: Vec<_> = smoke.links.iter().map(|link| link.peer.clone()).collect();
    assert_eq!(peers, [None, Some(Peer::Address("10.0.2.2".parse().unwrap()))]);
}

#[test]
fn another_host_is_refused_with_the_hosts_and_the_option() {
    let profile = with_peer("server[1-2]", "100.0.1.[10-11]", "pair");
    assert_eq!(
        profile.for_host("login7").unwrap_err().to_string(),
        "the profile profile.yaml is not for this host: `hosts` has server[1-2], the host's name is login7; if it is one of them, say which with --host NAME"
    );
    let twins = with_peer("s.a,s.b", "100.0.1.[10-11]", "pair");
    assert_eq!(
        twins.for_host("s").unwrap_err().to_string(),
        "the profile profile.yaml does not say which host s is: `hosts` has s.a,s.b; give the full name with --host NAME"
    );
}

#[test]
fn a_profile_without_hosts_fits_every_host() {
    let profile = profile("version: 1\ninterfaces:\n  - name: ens1f0\n    rdma: {mode: iwarp}\n");
    let chosen = profile.for_host("whatever").unwrap();
    assert_eq!((chosen.host, chosen.position, chosen.hosts.len()), (None, None, 0));
    assert_eq!(chosen.interfaces[0].line, 3);
}
