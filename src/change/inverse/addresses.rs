//! Removing an address takes other addresses and routes along.

use std::net::IpAddr;

use super::links::routes;
use crate::change::Change;
use crate::change::holds::{find_address, link};
use crate::facts::{Address, Facts, Route};
use crate::values::IpPrefix;

pub(super) fn remove(netdev: &str, address: &Address, before: &Facts) -> Vec<Change> {
    let Some(own) = link(before, netdev) else {
        return Vec::new();
    };
    // The attributes it really has, not those that the change was written with.
    let Some(address) = find_address(own, address) else {
        return Vec::new();
    };
    let mut lost = vec![address];
    if address.prefix.ip().is_ipv4() {
        lost.extend(own.addresses.iter().filter(|a| *a != address && same_subnet(a, address)));
    }
    let mut changes: Vec<Change> = lost
        .iter()
        // Dynamic ones are kept by whoever gave them; made permanent here they would never expire.
        .filter(|a| **a == address || !a.dynamic)
        .map(|a| Change::AddAddress { netdev: netdev.to_owned(), address: (*a).clone() })
        .collect();

    if address.prefix.ip().is_ipv4() {
        let last = own.addresses.iter().all(|a| a.prefix.ip().is_ipv6() || lost.contains(&a));
        changes.extend(routes(before, |route| {
            let here = route.netdev == netdev && route.destination.ip().is_ipv4();
            prefers(route, &lost) || here && (last || reached_through(route, address))
        }));
    } else {
        // rt6_remove_prefsrc looks at the routes of this interface alone.
        let prefer = |route: &Route| route.netdev == netdev && prefers(route, &lost);
        let stripped = before.state.routes.get().into_iter().flatten().filter(|r| prefer(r));
        changes.extend(
            stripped.map(|route| Change::RemoveRoute {
                route: Route { source: None, ..route.clone() },
            }),
        );
        changes.extend(routes(before, |route| {
            prefer(route) || route.netdev == netdev && reached_through(route, address)
        }));
    }
    changes
}

fn prefers(route: &Route, lost: &[&Address]) -> bool {
    route.source.is_some_and(|source| lost.iter().any(|address| address.prefix.ip() == source))
}

fn reached_through(route: &Route, address: &Address) -> bool {
    route.gateway.is_some_and(|gateway| in_subnet(gateway, address))
}

/// Same mask and same subnet, as `inet_ifa_match` compares: on a point-to-point link it is the
/// peer's subnet that counts.
pub(crate) fn same_subnet(one: &Address, other: &Address) -> bool {
    one.prefix.length() == other.prefix.length() && in_subnet(far_end(one), other)
}

/// Whether an address lies in the subnet of this interface address.
pub(crate) fn in_subnet(ip: IpAddr, address: &Address) -> bool {
    let subnet = IpPrefix::new(far_end(address), address.prefix.length());
    subnet.is_ok_and(|subnet| subnet.contains(ip))
}

fn far_end(address: &Address) -> IpAddr {
    address.peer.unwrap_or(address.prefix.ip())
}
