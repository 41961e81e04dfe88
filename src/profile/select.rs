//! The part of a profile that is meant for one host.

use std::net::IpAddr;

use super::schema::{Address, Document, Interface, PeerRule, Rdma, Smoke};
use super::wishes::{HostProfile, InterfaceWish, Peer, RdmaWish, SmokeLink, SmokeWish};
use crate::values::IpPrefix;

/// Why a name has no position in `hosts`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoPosition {
    /// No entry fits.
    Absent,
    /// More than one entry fits by its short name.
    Ambiguous(Vec<String>),
}

/// Position of a host in `hosts`. Case does not matter. The full name decides; else the part
/// before the first dot, if the profile or the host has only that.
pub(super) fn position(hosts: &[String], host: &str) -> Result<usize, NoPosition> {
    let host = host.trim_end_matches('.');
    if let Some(position) = hosts.iter().position(|entry| entry.eq_ignore_ascii_case(host)) {
        return Ok(position);
    }
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_short = |name: &str| !name.contains('.');
    let wanted = short(host);
    let fitting: Vec<usize> = hosts
        .iter()
        .enumerate()
        .filter(|(_, entry)| (is_short(entry) || is_short(host)) && short(entry) == wanted)
        .map(|(position, _)| position)
        .collect();
    match fitting.as_slice() {
        [] => Err(NoPosition::Absent),
        [position] => Ok(*position),
        several => Err(NoPosition::Ambiguous(
            several.iter().map(|position| hosts[*position].clone()).collect(),
        )),
    }
}

/// The profile of the host at a position; position 0 of a profile without `hosts`.
pub(super) fn select(document: &Document, position: Option<usize>) -> HostProfile {
    let hosts = document.hosts.as_ref().map_or(&[][..], |hosts| &hosts.names);
    let index = position.unwrap_or(0);
    HostProfile {
        name: document.name.clone(),
        host: position.and_then(|position| hosts.get(position).cloned()),
        position,
        hosts: hosts.to_vec(),
        modules: document.modules.clone(),
        interfaces: document
            .interfaces
            .iter()
            .filter_map(|interface| select_interface(interface, index))
            .collect(),
        smoke: document.smoke.as_ref().map(|smoke| select_smoke(document, smoke, hosts, index)),
    }
}

fn select_interface(interface: &Interface, index: usize) -> Option<InterfaceWish> {
    Some(InterfaceWish {
        selector: interface.selector.at(index)?.clone(),
        state: interface.state.map(|state| state.value),
        mtu: interface.mtu.map(|mtu| mtu.value),
        ipv4: prefixes(&interface.ipv4, index),
        ipv6: prefixes(&interface.ipv6, index),
        other_ipv4: interface.other_ipv4,
        other_ipv6: interface.other_ipv6,
        rdma: interface.rdma.as_ref().map(select_rdma),
        line: interface.line,
    })
}

fn prefixes(addresses: &[Address], index: usize) -> Vec<IpPrefix> {
    addresses.iter().filter_map(|address| address.prefix.at(index).copied()).collect()
}

fn select_rdma(rdma: &Rdma) -> RdmaWish {
    RdmaWish {
        mode: rdma.mode.value,
        path_mtu: rdma.path_mtu.map(|path_mtu| path_mtu.value),
        software: rdma.software.map(|software| software.value),
        name: rdma.name.as_ref().map(|name| name.value.clone()),
    }
}

fn select_smoke(document: &Document, smoke: &Smoke, hosts: &[String], index: usize) -> SmokeWish {
    let links = document
        .interfaces
        .iter()
        .enumerate()
        .filter(|(_, interface)| interface.rdma.is_some())
        .map(|(number, interface)| {
            let host = |position: usize| at_host(interface, hosts, position);
            let count = hosts.len();
            let (peer, caller) = match &smoke.peer.value {
                PeerRule::Loopback => (Some(Peer::Loopback), None),
                PeerRule::Pair => (host(index ^ 1), None),
                PeerRule::Ring if count == 2 => (host(index ^ 1), None),
                PeerRule::Ring => (
                    host((index + 1) % count.max(1)),
                    host((index + count.saturating_sub(1)) % count.max(1)),
                ),
                PeerRule::Host(position) if *position == index => (None, None),
                PeerRule::Host(position) => (host(*position), None),
                PeerRule::Address(address) => {
                    (at_address(document, interface, *address, index), None)
                }
            };
            SmokeLink { interface: number, peer, caller }
        })
        .collect();
    SmokeWish {
        port: smoke.port,
        links,
        tests: smoke.tests.clone(),
        sizes: smoke.sizes.clone(),
        wait: smoke.wait,
        linger: smoke.linger,
        expect: smoke.expect.clone(),
    }
}

/// Another host of the profile, by its addresses on the same interface.
fn at_host(interface: &Interface, hosts: &[String], position: usize) -> Option<Peer> {
    let addresses: Vec<IpAddr> = interface
        .addresses()
        .filter_map(|address| Some(address.prefix.at(position)?.ip()))
        .filter(|ip| !matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local()))
        .collect();
    let name = hosts.get(position)?.clone();
    (!addresses.is_empty()).then_some(Peer::Host { name, addresses })
}

/// An address that the profile gives is reached by the interface in whose subnet it is; with a
/// single RDMA interface also through a router. The host that has the address is its own peer
/// nowhere: the others come to it.
fn at_address(
    document: &Document,
    interface: &Interface,
    address: IpAddr,
    index: usize,
) -> Option<Peer> {
    let ports = document.interfaces.iter().filter(|other| other.rdma.is_some());
    let only = ports.count() == 1;
    let own = |interface: &Interface, fits: &dyn Fn(IpPrefix) -> bool| {
        interface.addresses().filter_map(|own| own.prefix.at(index).copied()).any(fits)
    };
    if document.interfaces.iter().any(|interface| own(interface, &|prefix| prefix.ip() == address))
    {
        return None;
    }
    let near = own(interface, &|prefix| prefix.contains(address));
    (near || only).then_some(Peer::Address(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_host_is_found_by_its_short_or_full_name_in_any_case() {
        let hosts = names(&["server1", "server2.cluster.site", "server3.a", "server3.b"]);
        for (host, found) in [
            ("server1", Ok(0)),
            ("SERVER1", Ok(0)),
            ("server1.cluster.site", Ok(0)),
            ("server1.cluster.site.", Ok(0)),
            ("server2", Ok(1)),
            ("Server2.Cluster.Site", Ok(1)),
            ("server2.elsewhere", Err(NoPosition::Absent)),
            ("server3.b", Ok(3)),
            ("server3", Err(NoPosition::Ambiguous(names(&["server3.a", "server3.b"])))),
            ("server4", Err(NoPosition::Absent)),
            ("", Err(NoPosition::Absent)),
        ] {
            assert_eq!(position(&hosts, host), found, "{host}");
        }
    }
}
