//! Links, addresses and routes: from the messages of rtnetlink to facts.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use rtnetlink::packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use rtnetlink::packet_route::link::{
    LinkAttribute, LinkFlags, LinkInfo, LinkLayerType, LinkMessage,
};
use rtnetlink::packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteMessage, RouteProtocol, RouteType,
};

use super::rtnetlink::Tables;
use crate::facts::{Address, LinkState, Netdev, NetdevKind, Route, Seen};
use crate::values::{IpPrefix, MacAddr};

/// Where links, addresses and routes are known from.
pub(crate) const SOURCE: &str = "rtnetlink";
const LOCAL_TABLE: u32 = 255;
/// RTNETLINK kinds whose lower device (IFLA_LINK) is in the same host; a veth's is its peer.
const STACKED: [&str; 5] = ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"];

/// Links, addresses and routes as facts.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) netdevs: BTreeMap<String, Netdev>,
    pub(crate) states: BTreeMap<String, LinkState>,
    pub(crate) routes: Option<BTreeSet<Route>>,
    /// Where packets go, for finding the interface that carries something.
    pub(crate) paths: Vec<Path>,
}

/// One way out of the host; a route with several next hops is several paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) netdev: String,
    pub(crate) destination: IpPrefix,
}

/// Decodes the tables.
pub(crate) fn decode(tables: &Tables) -> Links {
    let mut links = Links::default();
    let names: BTreeMap<u32, String> =
        tables.links.iter().filter_map(|link| Some((link.header.index, name(link)?))).collect();
    for message in &tables.links {
        let Some(name) = name(message) else { continue };
        let (netdev, state) = link(message, &names);
        links.netdevs.insert(name.clone(), netdev);
        links.states.insert(name, state);
    }
    for message in &tables.addresses {
        let Some(name) = names.get(&message.header.index) else {
            continue;
        };
        if let (Some(address), Some(state)) = (address(message, name), links.states.get_mut(name)) {
            state.addresses.insert(address);
        }
    }
    links.routes = tables.routes.as_ref().map(|messages| {
        links.paths = messages.iter().flat_map(|message| paths(message, &names)).collect();
        messages.iter().filter_map(|message| route(message, &names)).collect()
    });
    links
}

fn name(link: &LinkMessage) -> Option<String> {
    link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name.clone()),
        _ => None,
    })
}

fn link(message: &LinkMessage, names: &BTreeMap<u32, String>) -> (Netdev, LinkState) {
    let up = message.header.flags.contains(LinkFlags::Up);
    let mut netdev = Netdev {
        index: message.header.index,
        permanent_mac: Seen::unknown(
            "this link has none, or the kernel does not report it",
            "rtnetlink IFLA_PERM_ADDRESS",
        ),
        carrier: Seen::unknown("the kernel did not report it", "rtnetlink IFLA_CARRIER"),
        ..Netdev::default()
    };
    let mut state = LinkState { up, ..LinkState::default() };
    let mut below = None;
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::Mtu(mtu) => state.mtu = *mtu,
            LinkAttribute::Address(bytes) => netdev.mac = mac(bytes),
            LinkAttribute::PermAddress(bytes) => {
                if let Some(mac) = mac(bytes) {
                    netdev.permanent_mac = Seen::known(mac, "rtnetlink IFLA_PERM_ADDRESS");
                }
            }
            // The kernel's 0 for a link that is down says nothing about the cable.
            LinkAttribute::Carrier(_) if !up => {
                netdev.carrier =
                    Seen::unknown("the link is down by administration", "rtnetlink IFLA_CARRIER");
            }
            LinkAttribute::Carrier(carrier) => {
                netdev.carrier = Seen::known(*carrier != 0, "rtnetlink IFLA_CARRIER");
            }
            LinkAttribute::Controller(index) => netdev.master = names.get(index).cloned(),
            LinkAttribute::Link(index) => below = names.get(index).cloned(),
            LinkAttribute::LinkInfo(infos) => {
                for info in infos {
                    if let LinkInfo::Kind(kind) = info {
                        netdev.kind = NetdevKind::Virtual(kind.to_string());
                    }
                }
            }
            _ => {}
        }
    }
    match message.header.link_layer_type {
        LinkLayerType::Loopback => netdev.kind = NetdevKind::Loopback,
        LinkLayerType::Infiniband => netdev.kind = NetdevKind::Ipoib,
        _ => {}
    }
    if matches!(&netdev.kind, NetdevKind::Virtual(kind) if STACKED.contains(&kind.as_str())) {
        netdev.parent = below;
    }
    (netdev, state)
}

fn mac(bytes: &[u8]) -> Option<MacAddr> {
    <[u8; 6]>::try_from(bytes).ok().map(MacAddr)
}

fn address(message: &AddressMessage, netdev: &str) -> Option<Address> {
    let (mut first, mut local, mut broadcast, mut label) = (None, None, None, None);
    let mut flags = AddressFlags::from_bits_retain(message.header.flags.bits().into());
    for attribute in &message.attributes {
        match attribute {
            AddressAttribute::Address(ip) => first = Some(*ip),
            AddressAttribute::Local(ip) => local = Some(*ip),
            AddressAttribute::Broadcast(ip) => broadcast = Some(*ip),
            AddressAttribute::Label(text) if text != netdev => label = Some(text.clone()),
            // All 32 flags; the header holds only the first eight.
            AddressAttribute::Flags(all) => flags = *all,
            _ => {}
        }
    }
    // IFA_ADDRESS is the peer's address where IFA_LOCAL differs from it, else the address itself.
    let own = local.or(first)?;
    Some(Address {
        prefix: IpPrefix::new(own, message.header.prefix_len).ok()?,
        dynamic: !flags.contains(AddressFlags::Permanent),
        peer: first.filter(|first| *first != own),
        broadcast,
        label,
        scope: message.header.scope.into(),
        no_prefix_route: flags.contains(AddressFlags::Noprefixroute),
    })
}

/// A route that an address or a link takes along and that a change can put back: unicast, one next
/// hop, not made by the kernel, outside the local table.
fn route(message: &RouteMessage, names: &BTreeMap<u32, String>) -> Option<Route> {
    let header = &message.header;
    if header.kind != RouteType::Unicast
        || header.protocol == RouteProtocol::Kernel
        || header.flags.contains(RouteFlags::Cloned)
    {
        return None;
    }
    let mut route = Route {
        netdev: String::new(),
        destination: destination(message)?,
        gateway: None,
        source: None,
        table: header.table.into(),
        metric: 0,
        protocol: header.protocol.into(),
        scope: header.scope.into(),
    };
    for attribute in &message.attributes {
        match attribute {
            RouteAttribute::Oif(index) => route.netdev = names.get(index)?.clone(),
            RouteAttribute::Gateway(gateway) => route.gateway = ip(gateway),
            RouteAttribute::PrefSource(source) => route.source = ip(source),
            RouteAttribute::Table(table) => route.table = *table,
            RouteAttribute::Priority(metric) => route.metric = *metric,
            _ => {}
        }
    }
    (!route.netdev.is_empty() && route.table != LOCAL_TABLE).then_some(route)
}

fn paths(message: &RouteMessage, names: &BTreeMap<u32, String>) -> Vec<Path> {
    if message.header.kind != RouteType::Unicast || u32::from(message.header.table) == LOCAL_TABLE {
        return Vec::new();
    }
    let Some(destination) = destination(message) else {
        return Vec::new();
    };
    let mut indices = Vec::new();
    for attribute in &message.attributes {
        match attribute {
            RouteAttribute::Oif(index) => indices.push(*index),
            RouteAttribute::MultiPath(hops) => {
                indices.extend(hops.iter().map(|hop| hop.interface_index))
            }
            _ => {}
        }
    }
    indices
        .iter()
        .filter_map(|index| Some(Path { netdev: names.get(index)?.clone(), destination }))
        .collect()
}

fn destination(message: &RouteMessage) -> Option<IpPrefix> {
    let length = message.header.destination_prefix_length;
    let given = message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Destination(address) => ip(address),
        _ => None,
    });
    let family: u8 = message.header.address_family.into();
    let any: IpAddr =
        if i32::from(family) == libc::AF_INET6 { [0u16; 8].into() } else { [0u8; 4].into() };
    IpPrefix::new(given.unwrap_or(any), length).ok()
}

fn ip(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(ip) => Some((*ip).into()),
        RouteAddress::Inet6(ip) => Some((*ip).into()),
        _ => None,
    }
}
