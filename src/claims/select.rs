//! Which claims a profile makes about a host, in the order of the ladder.

use super::verbs::{Library, Listed, Node, Provider};
use super::{Claim, Port, address, device, driver, gid, link, mode, module, smoke};
use crate::facts::Facts;
use crate::profile::{HostProfile, InterfaceWish, OtherAddresses, RdmaWish, Selector};
use crate::smoke::Kind;
use crate::values::{IpPrefix, LinkState, Mode};

/// How deep the claims go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What costs milliseconds: nothing is opened or run.
    Cheap,
    /// The verbs library is opened too.
    Full,
}

/// The claims of a profile for one host.
pub fn for_host(profile: &HostProfile, depth: Depth) -> Vec<Box<dyn Claim>> {
    let mut claims: Vec<Box<dyn Claim>> = Vec::new();
    for wish in &profile.modules {
        claims.push(Box::new(module::Loaded(wish.clone())));
        if let Some(version) = &wish.version {
            claims.push(Box::new(module::Version(wish.clone(), version.clone())));
        }
        for (parameter, value) in &wish.parameters {
            claims.push(Box::new(module::Parameter {
                module: wish.name.to_string(),
                parameter: parameter.clone(),
                value: value.clone(),
            }));
        }
    }
    for wish in &profile.interfaces {
        let others = profile.interfaces.iter().map(|other| &other.selector);
        let others = others.filter(|other| **other != wish.selector).cloned().collect();
        claims.push(Box::new(device::Present { port: port(wish), others }));
        of_interface(wish, &mut claims);
    }
    if profile.interfaces.iter().any(|wish| wish.rdma.is_some()) {
        claims.push(Box::new(Library));
    }
    for port in profile.interfaces.iter().filter(|wish| wish.rdma.is_some()).map(port) {
        of_verbs(&port, depth, &mut claims);
    }
    in_ladder_order(claims)
}

/// What can be said of any host without a profile: every interface with an RDMA device has carrier,
/// an active RDMA port and its userspace half.
pub fn general(facts: &Facts, depth: Depth) -> Vec<Box<dyn Claim>> {
    let mut claims: Vec<Box<dyn Claim>> = vec![Box::new(Library)];
    let names = facts.identity.netdevs.get().into_iter().flat_map(|all| all.keys());
    for name in names.filter(|name| !facts.rdma_of(name, None).is_empty()) {
        let Ok(name) = name.parse() else { continue };
        let port = Port { wish: bare(Selector::Name(name)) };
        claims.push(Box::new(device::Present { port: port.clone(), others: Vec::new() }));
        claims.push(Box::new(device::RdmaDevice(port.clone(), None)));
        claims.push(Box::new(link::Admin(port.clone(), true)));
        claims.push(Box::new(link::Carrier(port.clone())));
        claims.push(Box::new(mode::Active(port.clone())));
        of_verbs(&port, depth, &mut claims);
    }
    in_ladder_order(claims)
}

/// The claims about a port's smoke test, to be judged after the others. Where the peer `serves` it
/// was promised to be there, so that its absence is an error and not the warning of a rendezvous.
pub fn of_smoke(port: &Port, kind: Kind, serves: bool) -> Vec<Box<dyn Claim>> {
    in_ladder_order(smoke::of_port(port, kind, serves))
}

/// A wish for nothing but that the interface is there.
fn bare(selector: Selector) -> InterfaceWish {
    InterfaceWish {
        selector,
        state: None,
        mtu: None,
        ipv4: Vec::new(),
        ipv6: Vec::new(),
        other_ipv4: OtherAddresses::Keep,
        other_ipv6: OtherAddresses::Keep,
        rdma: None,
        line: 0,
    }
}

fn port(wish: &InterfaceWish) -> Port {
    Port { wish: wish.clone() }
}

fn of_interface(wish: &InterfaceWish, claims: &mut Vec<Box<dyn Claim>>) {
    let port = port(wish);
    let up = wish.state == Some(LinkState::Up) || (wish.state.is_none() && wish.rdma.is_some());
    if up {
        claims.push(Box::new(link::Admin(port.clone(), true)));
        claims.push(Box::new(link::Carrier(port.clone())));
    } else if wish.state == Some(LinkState::Down) {
        claims.push(Box::new(link::Admin(port.clone(), false)));
    }
    if let Some(mtu) = wish.mtu {
        claims.push(Box::new(link::Mtu {
            port: port.clone(),
            wanted: mtu.bytes(),
            at_least: false,
        }));
    } else if let Some(path) = wish.rdma.as_ref().and_then(|rdma| rdma.path_mtu) {
        let wanted = path.netdev_mtu();
        claims.push(Box::new(link::Mtu { port: port.clone(), wanted, at_least: true }));
    }
    let addresses: Vec<IpPrefix> = wish.ipv4.iter().chain(&wish.ipv6).copied().collect();
    for address in &addresses {
        claims.push(Box::new(address::Present(port.clone(), *address)));
    }
    for (policy, ipv4) in [(wish.other_ipv4, true), (wish.other_ipv6, false)] {
        if policy == OtherAddresses::Remove {
            let wanted = addresses.clone();
            claims.push(Box::new(address::NoOthers { port: port.clone(), wanted, ipv4 }));
        }
    }
    if let Some(rdma) = &wish.rdma {
        of_rdma(&port, rdma, &addresses, up, claims);
    }
}

fn of_rdma(
    port: &Port,
    rdma: &RdmaWish,
    addresses: &[IpPrefix],
    up: bool,
    claims: &mut Vec<Box<dyn Claim>>,
) {
    claims.push(Box::new(driver::RdmaDriver(port.clone())));
    if let Some(kind) = rdma.software {
        claims.push(Box::new(device::SoftwareDevice(port.clone(), kind)));
    }
    claims.push(Box::new(device::RdmaDevice(port.clone(), Some(rdma.mode))));
    claims.push(Box::new(mode::InMode(port.clone(), rdma.mode)));
    if !up {
        return;
    }
    claims.push(Box::new(mode::Active(port.clone())));
    // iWARP and InfiniBand do not address by GIDs made from IP addresses.
    if matches!(rdma.mode, Mode::RoceV2 | Mode::RoceV1) {
        for address in addresses {
            claims.push(Box::new(gid::Present(port.clone(), *address, rdma.mode)));
        }
    }
}

fn of_verbs(port: &Port, depth: Depth, claims: &mut Vec<Box<dyn Claim>>) {
    claims.push(Box::new(Provider(port.clone())));
    claims.push(Box::new(Node(port.clone())));
    if depth == Depth::Full {
        claims.push(Box::new(Listed(port.clone())));
    }
}

/// Stable: claims of one rung stay in the order of the profile.
fn in_ladder_order(mut claims: Vec<Box<dyn Claim>>) -> Vec<Box<dyn Claim>> {
    claims.sort_by_key(|claim| claim.entry().rung);
    claims
}
