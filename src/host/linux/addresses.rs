//! Links, addresses and routes: from changes to the messages of rtnetlink.

use std::net::IpAddr;

use rtnetlink::packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use rtnetlink::packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use rtnetlink::packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use rtnetlink::packet_route::route::{RouteAttribute, RouteFlags, RouteMessage, RouteType};
use rtnetlink::packet_route::{AddressFamily, RouteNetlinkMessage};

use super::netlink::Refusal;
use super::rtnetlink::{change, index};
use crate::facts::{Address, Route};

pub(crate) fn set_link(netdev: &str, up: bool) -> Result<(), Refusal> {
    let mut message = link(netdev)?;
    message.header.change_mask = LinkFlags::Up;
    if up {
        message.header.flags = LinkFlags::Up;
    }
    change(RouteNetlinkMessage::SetLink(message), 0)
}

pub(crate) fn set_mtu(netdev: &str, mtu: u32) -> Result<(), Refusal> {
    let mut message = link(netdev)?;
    message.attributes.push(LinkAttribute::Mtu(mtu));
    change(RouteNetlinkMessage::SetLink(message), 0)
}

fn link(netdev: &str) -> Result<LinkMessage, Refusal> {
    let mut message = LinkMessage::default();
    message.header.index = index(netdev)?;
    Ok(message)
}

/// Adds an address; one that is there already is refused (EEXIST).
pub(crate) fn add_address(netdev: &str, address: &Address) -> Result<(), Refusal> {
    let message = address_message(index(netdev)?, netdev, address, true);
    change(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
}

pub(crate) fn remove_address(netdev: &str, address: &Address) -> Result<(), Refusal> {
    let message = address_message(index(netdev)?, netdev, address, false);
    change(RouteNetlinkMessage::DelAddress(message), 0)
}

fn address_message(index: u32, netdev: &str, address: &Address, adding: bool) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.family = family(address.prefix.ip());
    message.header.prefix_len = address.prefix.length();
    message.header.scope = address.scope.into();
    message.header.index = index;
    let own = address.prefix.ip();
    // IPv6 has IFA_LOCAL only beside a peer.
    if own.is_ipv4() || address.peer.is_some() {
        message.attributes.push(AddressAttribute::Local(own));
    }
    message.attributes.push(AddressAttribute::Address(address.peer.unwrap_or(own)));
    if !adding {
        // The kernel compares a label that is given, and nothing else beyond the address.
        message.attributes.extend(address.label.clone().map(AddressAttribute::Label));
        return message;
    }
    if own.is_ipv4() {
        let label = address.label.clone().unwrap_or_else(|| netdev.to_owned());
        message.attributes.push(AddressAttribute::Label(label));
        message.attributes.extend(address.broadcast.map(AddressAttribute::Broadcast));
    }
    if address.no_prefix_route {
        // Beyond the eight bits of the header.
        message.attributes.push(AddressAttribute::Flags(AddressFlags::Noprefixroute));
    }
    message
}

/// Adds a route; one with the same destination, table and metric is refused (EEXIST).
pub(crate) fn add_route(route: &Route) -> Result<(), Refusal> {
    let mut message = route_message(index(&route.netdev)?, route);
    // A gateway outside every subnet of the interface can only have been set with `onlink`.
    let flags = NLM_F_CREATE | NLM_F_EXCL;
    match change(RouteNetlinkMessage::NewRoute(message.clone()), flags) {
        Err(Refusal {
            errno: Some(libc::ENETUNREACH | libc::EHOSTUNREACH | libc::EINVAL), ..
        }) if route.gateway.is_some() => {
            message.header.flags |= RouteFlags::Onlink;
            change(RouteNetlinkMessage::NewRoute(message), flags)
        }
        answer => answer,
    }
}

pub(crate) fn remove_route(route: &Route) -> Result<(), Refusal> {
    change(RouteNetlinkMessage::DelRoute(route_message(index(&route.netdev)?, route)), 0)
}

fn route_message(index: u32, route: &Route) -> RouteMessage {
    let mut message = RouteMessage::default();
    let header = &mut message.header;
    header.address_family = family(route.destination.ip());
    header.destination_prefix_length = route.destination.length();
    // Tables above 255 are only in the attribute; 252 is what the kernel then writes (RT_TABLE_COMPAT).
    header.table = u8::try_from(route.table).unwrap_or(252);
    header.protocol = route.protocol.into();
    header.scope = route.scope.into();
    header.kind = RouteType::Unicast;
    if route.destination.length() > 0 {
        message
            .attributes
            .push(RouteAttribute::Destination(route.destination.network().ip().into()));
    }
    message.attributes.push(RouteAttribute::Oif(index));
    message.attributes.push(RouteAttribute::Table(route.table));
    if let Some(gateway) = route.gateway {
        message.attributes.push(RouteAttribute::Gateway(gateway.into()));
    }
    if let Some(source) = route.source {
        message.attributes.push(RouteAttribute::PrefSource(source.into()));
    }
    if route.metric != 0 {
        message.attributes.push(RouteAttribute::Priority(route.metric));
    }
    message
}

fn family(ip: IpAddr) -> AddressFamily {
    if ip.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

#[cfg(test)]
#[path = "addresses_tests.rs"]
mod tests;
