//! Which ports a test is about: those of the profile, or without one those that the host has.

use std::net::IpAddr;
use std::time::Duration;

use super::args::{Global, ProfileArg};
use super::error::{CliError, Kind};
use super::source;
use crate::claims::Port;
use crate::facts::{Facts, GidScan, Scope};
use crate::host::Look;
use crate::profile::{
    HostProfile, InterfaceWish, OtherAddresses, RdmaWish, Selector, SmokeLink, SmokeWish,
};
use crate::values::IpPrefix;

/// The profile; where none is named and there is no default one, the ports as they are.
///
/// # Errors
/// A profile that cannot be used, or no port to be found.
pub(super) fn profile(
    arg: &ProfileArg,
    look: &dyn Look,
    global: &Global,
) -> Result<HostProfile, CliError> {
    if let Some(profile) = source::profile_if_any(arg, look, global)? {
        return Ok(profile);
    }
    let scope = Scope { gids: GidScan::All, ..Scope::default() };
    let facts = look.look(&scope).map_err(|error| source::unseen(&error))?;
    let interfaces = as_they_are(&facts);
    if interfaces.is_empty() {
        let why = match facts.identity.rdma.get() {
            Some(_) => "no interface of this host has an RDMA device in a known mode".to_owned(),
            None => format!("the RDMA devices are unknown: {}", facts.identity.rdma.why_not()),
        };
        return Err(CliError::new(Kind::Start, format!("no port can be tested: {why}"))
            .with_fix("`roce-setup check` tells what is missing"));
    }
    Ok(HostProfile {
        name: None,
        host: None,
        position: None,
        hosts: Vec::new(),
        modules: Vec::new(),
        interfaces,
        smoke: None,
    })
}

/// Every interface with an RDMA device, as a wish that it be as it is.
fn as_they_are(facts: &Facts) -> Vec<InterfaceWish> {
    let mut wishes = Vec::new();
    for name in facts.identity.netdevs.get().into_iter().flat_map(|all| all.keys()) {
        let Some((_, device, port)) = facts.rdma_of(name, None).into_iter().next() else {
            continue;
        };
        let (Some(mode), Ok(selector)) = (device.mode(port).get().copied(), name.parse()) else {
            continue;
        };
        let link = facts.link(name).ok().flatten();
        let addresses: Vec<IpPrefix> = link
            .into_iter()
            .flat_map(|link| &link.addresses)
            .filter(|address| !address.is_link_local())
            .map(|address| address.prefix)
            .collect();
        let (ipv4, ipv6) = addresses.into_iter().partition(|address| address.ip().is_ipv4());
        wishes.push(InterfaceWish {
            selector: Selector::Name(selector),
            state: None,
            mtu: None,
            ipv4,
            ipv6,
            other_ipv4: OtherAddresses::Keep,
            other_ipv6: OtherAddresses::Keep,
            rdma: Some(RdmaWish { mode, path_mtu: None, software: device.software, name: None }),
            line: 0,
        });
    }
    wishes
}

/// The smoke test of a profile that describes none: every RDMA port, the usual tests.
pub(super) fn usual_smoke(profile: &HostProfile) -> SmokeWish {
    let links = profile.interfaces.iter().enumerate().filter(|(_, wish)| wish.rdma.is_some());
    SmokeWish {
        port: SmokeWish::PORT,
        links: links
            .map(|(interface, _)| SmokeLink { interface, peer: None, caller: None })
            .collect(),
        tests: Vec::new(),
        sizes: Vec::new(),
        wait: Duration::from_secs(60),
        linger: None,
        expect: Vec::new(),
    }
}

/// The profile's interfaces with an RDMA side that this name stands for.
///
/// # Errors
/// There is none; the message has those that there are.
pub(super) fn named<'a>(
    profile: &'a HostProfile,
    facts: &Facts,
    name: &str,
) -> Result<&'a InterfaceWish, CliError> {
    let with_rdma = || profile.interfaces.iter().filter(|wish| wish.rdma.is_some());
    let is_it = |wish: &&InterfaceWish| {
        let port = Port { wish: (*wish).clone() };
        port.selector().to_string() == name
            || port.netdev(facts).is_ok_and(|(netdev, _)| netdev == name)
    };
    with_rdma().find(is_it).ok_or_else(|| {
        let known: Vec<String> = with_rdma().map(|wish| wish.selector.to_string()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        CliError::new(Kind::Usage, format!("{name} is not an RDMA interface of the profile"))
            .with_fix(format!("its RDMA interfaces: {known}"))
    })
}

/// The interface through which a peer is reached: the one whose subnet has the address.
///
/// # Errors
/// There is none, and more than one interface to choose from.
pub(super) fn towards(profile: &HostProfile, peer: IpAddr) -> Result<&InterfaceWish, CliError> {
    let with_rdma: Vec<&InterfaceWish> =
        profile.interfaces.iter().filter(|wish| wish.rdma.is_some()).collect();
    let near = |wish: &&&InterfaceWish| wish.addresses().any(|prefix| prefix.contains(peer));
    match (with_rdma.iter().find(near), with_rdma.as_slice()) {
        (Some(wish), _) | (None, [wish]) => Ok(wish),
        (None, _) => Err(CliError::new(
            Kind::Usage,
            format!("no RDMA interface has an address in the subnet of {peer}"),
        )
        .with_fix("name the interface with --interface NAME")),
    }
}
