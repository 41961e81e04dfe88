//! The way to the peer, in words: why a job is no test of a link, and what it means when the peer
//! is not met.

use nix::errno::Errno;

use super::address::{Neighbour, holders, neighbour};
use super::call::CallError;
use super::job::{Job, Peer};
use super::outcome::{SmokeRung, Stage};
use super::rendezvous::NotMet;
use super::spec::refuse_plan;
use super::wire::WireError;

/// Why this job is no test of a link, or none at all.
pub(crate) fn refusal(job: &Job) -> Option<String> {
    if let Some(why) = refuse_plan(&job.tests) {
        return Some(why);
    }
    let local = job.endpoint.local;
    let netdev = &job.endpoint.netdev;
    if !holders(local).iter().any(|holder| holder == netdev) {
        return Some(format!(
            "{netdev} does not hold the address {local}, so traffic cannot be bound to it"
        ));
    }
    let peer = job.peer_address();
    if job.peer == Peer::Loopback {
        return None;
    }
    if local.is_ipv4() != peer.is_ipv4() {
        return Some(format!(
            "the peer's address {peer} and the own address {local} are of different families"
        ));
    }
    if peer == local {
        return Some(format!(
            "the peer's address {peer} is the own one: that is loopback, which proves the device and the library, not the cable"
        ));
    }
    let holders = holders(peer);
    if holders.is_empty() {
        return None;
    }
    Some(format!(
        "the peer's address {peer} is held by this host's {}: such traffic goes through the host and not over the cable (move one port into a network namespace of its own, or test against another host)",
        holders.join(" and ")
    ))
}

/// What the ARP table says of the peer. None where it is silent (IPv6, a router between).
pub(crate) fn neighbour_stage(job: &Job) -> Option<Stage> {
    let table = std::fs::read_to_string("/proc/net/arp").ok()?;
    let peer = job.peer_address();
    let wanted = &job.endpoint.netdev;
    Some(match neighbour(&table, peer)? {
        Neighbour::Known { mac, netdev } if netdev == *wanted => {
            Stage::met(SmokeRung::Neighbour, format!("{peer} is {mac} on {netdev} (/proc/net/arp)"))
        }
        Neighbour::Known { mac, netdev } => Stage::unknown(
            SmokeRung::Neighbour,
            format!("{peer} is {mac} on {netdev}, not on {wanted} (/proc/net/arp)"),
        )
        .because(
            "two interfaces reach the peer's subnet",
            "give each interface a subnet of its own",
        ),
        Neighbour::Unanswered { netdev } => Stage::unmet(
            SmokeRung::Neighbour,
            format!("nobody on {netdev} answers for {peer} (/proc/net/arp)"),
        )
        .because(
            "the peer is down, has another address, or is not on this cable or VLAN",
            "check the peer's link and address: `roce-setup check` there",
        ),
    })
}

/// Whether the failed call reached a peer of this kind, which then did come.
pub(crate) fn answered(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Refused(_)
            | CallError::Unexpected(_)
            | CallError::Wire(WireError::NotAMessage(_) | WireError::TooLong(_))
    )
}

/// A failed call in a few words.
pub(crate) fn sentence(error: &CallError) -> String {
    match error {
        CallError::Connect(Errno::ECONNREFUSED) => "connection refused".to_owned(),
        CallError::Connect(errno) => errno.to_string(),
        CallError::NoAnswer => "no answer".to_owned(),
        CallError::Refused(why) => format!("the peer refused: {why}"),
        CallError::Wire(error) => error.to_string(),
        CallError::Unexpected(name) => format!("the peer sent `{name}` out of turn"),
    }
}

/// The unmet control stage of a peer that was not met.
pub(crate) fn control_stage(job: &Job, not_met: NotMet) -> Stage {
    let target = format!("{} port {}", job.peer_address(), job.port);
    let error = match not_met {
        NotMet::Listen(error) => {
            return Stage::unmet(
                SmokeRung::Control,
                format!("listening on {} port {}: {error}", job.endpoint.local, job.port),
            );
        }
        NotMet::Call(error) | NotMet::NeverCame(Some(error)) => error,
        NotMet::NeverCame(None) => CallError::NoAnswer,
    };
    let stage =
        Stage::unmet(SmokeRung::Control, format!("connecting to {target}: {}", sentence(&error)));
    match error {
        CallError::Connect(Errno::ECONNREFUSED) => stage.because(
            "the peer is reachable, but no smoke server listens there, or a firewall rejects the port",
            &format!("start it on the peer: `roce-setup serve` (port {}), and open the port there", job.port),
        ),
        CallError::Connect(Errno::EHOSTUNREACH | Errno::EACCES | Errno::EPERM) => stage.because(
            "a firewall rejects the port, or nobody answers for the address on this subnet",
            &format!("open TCP port {} on the peer; compare `ip neigh`", job.port),
        ),
        CallError::Connect(Errno::ENETUNREACH) => stage.because(
            "no route leads to the peer from this address",
            "check the prefix lengths of both ends",
        ),
        CallError::NoAnswer => stage.because(
            "the peer is off, the link is broken, or a firewall drops the port silently",
            &format!("check the peer's link and address; open TCP port {} on the peer", job.port),
        ),
        CallError::Refused(_) => stage,
        CallError::Wire(WireError::Deadline) => stage.because(
            "the peer's program is stopped or held by its kernel, or another program has the port",
            "look at the peer: the state of its roce-setup process, and `ss -ltnp`",
        ),
        CallError::Wire(_) | CallError::Unexpected(_) => stage.because(
            "another program, or another version of this one, has the port",
            "install the same version on both ends, or choose another `smoke.port`",
        ),
        CallError::Connect(_) => stage,
    }
}
