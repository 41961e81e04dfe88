//! Links: up and down, MTU, and all that goes with IPv6 and the routes.

use std::collections::BTreeSet;

use crate::change::Change;
use crate::change::holds::link;
use crate::facts::{Facts, NetdevKind, Route};
use crate::values::Mtu;

/// The smallest MTU with IPv6 (`IPV6_MIN_MTU`).
const IPV6_MINIMUM: u32 = Mtu::IPV6_MINIMUM;

pub(super) fn set_link(netdev: &str, up: bool, before: &Facts) -> Vec<Change> {
    if link(before, netdev).is_none() {
        return Vec::new();
    }
    let mut changes = vec![Change::SetLink { netdev: netdev.to_owned(), up: !up }];
    let mut family = vec![netdev.to_owned()];
    if !up {
        for vlan in vlans_of(netdev, before) {
            if link(before, &vlan).is_some_and(|link| link.up) {
                changes.push(Change::SetLink { netdev: vlan.clone(), up: true });
            }
            family.push(vlan);
        }
    }
    // An interface that was down can have had IPv6 addresses too: the way back down drops them.
    for netdev in &family {
        changes.extend(ipv6_addresses(netdev, before));
    }
    changes.extend(routes(before, |route| family.contains(&route.netdev)));
    changes
}

pub(super) fn set_mtu(netdev: &str, mtu: u32, before: &Facts) -> Vec<Change> {
    let Some(old) = link(before, netdev).map(|link| link.mtu) else {
        return Vec::new();
    };
    let mut changes = vec![Change::SetMtu { netdev: netdev.to_owned(), mtu: old }];
    let mut without_ipv6 = BTreeSet::new();
    if mtu < IPV6_MINIMUM && old >= IPV6_MINIMUM {
        without_ipv6.insert(netdev.to_owned());
    }
    for vlan in vlans_of(netdev, before) {
        let Some(own) = link(before, &vlan).map(|link| link.mtu).filter(|own| *own > mtu) else {
            continue;
        };
        changes.push(Change::SetMtu { netdev: vlan.clone(), mtu: own });
        if mtu < IPV6_MINIMUM && own >= IPV6_MINIMUM {
            without_ipv6.insert(vlan);
        }
    }
    for netdev in &without_ipv6 {
        changes.extend(ipv6_addresses(netdev, before));
    }
    changes.extend(routes(before, |route| {
        route.destination.ip().is_ipv6() && without_ipv6.contains(&route.netdev)
    }));
    changes
}

/// Puts routes back: those without a gateway first, since the others are reached through them.
/// Routes of router advertisements (protocol 9) and redirects (1) have a lifetime and come by
/// themselves.
pub(super) fn routes(before: &Facts, goes: impl Fn(&Route) -> bool) -> Vec<Change> {
    let mut lost: Vec<&Route> = before
        .state
        .routes
        .get()
        .into_iter()
        .flatten()
        .filter(|route| !matches!(route.protocol, 1 | 9) && goes(route))
        .collect();
    lost.sort_by_key(|route| route.gateway.is_some());
    lost.into_iter().map(|route| Change::AddRoute { route: route.clone() }).collect()
}

/// Puts IPv6 addresses back, but not those that come by themselves.
fn ipv6_addresses(netdev: &str, before: &Facts) -> Vec<Change> {
    let addresses = link(before, netdev).map(|link| &link.addresses);
    addresses
        .into_iter()
        .flatten()
        .filter(|a| a.prefix.ip().is_ipv6() && !a.dynamic && !a.is_link_local())
        .map(|a| Change::AddAddress { netdev: netdev.to_owned(), address: a.clone() })
        .collect()
}

fn vlans_of(netdev: &str, before: &Facts) -> Vec<String> {
    let netdevs = before.identity.netdevs.get().into_iter().flatten();
    netdevs
        .filter(|(_, other)| {
            other.parent.as_deref() == Some(netdev)
                && other.kind == NetdevKind::Virtual("vlan".to_owned())
        })
        .map(|(name, _)| name.clone())
        .collect()
}
