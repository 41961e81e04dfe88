//! Addresses, and what goes with them.

use nix::errno::Errno;

use super::links::IPV6_MINIMUM;
use super::machine::Machine;
use super::refusal::{known, need_net_admin, refuse};
use super::{ports, routes};
use crate::change::same_subnet;
use crate::facts::{Address, Route};
use crate::host::ActError;

pub(super) fn add(machine: &mut Machine, netdev: &str, address: &Address) -> Result<(), ActError> {
    let call = format!("add {} to {netdev}", address.prefix);
    need_net_admin(machine, &call)?;
    let links = known(&call, &mut machine.facts.state.links)?;
    let link = links.get_mut(netdev).ok_or_else(|| refuse(&call, Errno::ENODEV))?;
    let ip = address.prefix.ip();
    let same = |other: &Address| {
        other.prefix.ip() == ip
            // ipv6_add_addr compares the address, __inet_insert_ifa the mask and the subnet too.
            && (ip.is_ipv6() || same_subnet(other, address))
    };
    if link.addresses.iter().any(same) {
        return Err(refuse(call, Errno::EEXIST));
    }
    if ip.is_ipv6() && link.mtu < IPV6_MINIMUM {
        // ipv6_add_dev.
        return Err(refuse(call, Errno::EINVAL));
    }
    link.addresses.insert(address.clone());
    if ip.is_ipv4() {
        machine.order.push((netdev.to_owned(), address.clone()));
    }
    changed(machine, netdev);
    Ok(())
}

pub(super) fn remove(
    machine: &mut Machine,
    netdev: &str,
    address: &Address,
) -> Result<(), ActError> {
    let call = format!("remove {} from {netdev}", address.prefix);
    need_net_admin(machine, &call)?;
    let links = known(&call, &mut machine.facts.state.links)?;
    let link = links.get_mut(netdev).ok_or_else(|| refuse(&call, Errno::ENODEV))?;
    let found = link
        .addresses
        .iter()
        .find(|other| other.prefix == address.prefix && other.peer == address.peer)
        .cloned()
        .ok_or_else(|| refuse(&call, Errno::EADDRNOTAVAIL))?;
    link.addresses.remove(&found);
    if found.prefix.ip().is_ipv6() {
        // rt6_remove_prefsrc: the routes stay and forget the address.
        let ip = Some(found.prefix.ip());
        let stripped = routes::drop_of(machine, netdev, |route| route.source == ip);
        let kept = machine.facts.state.routes.get_mut().into_iter();
        kept.for_each(|kept| {
            kept.extend(stripped.iter().map(|route| Route { source: None, ..route.clone() }));
        });
    } else {
        for gone in with_secondaries(machine, netdev, &found) {
            forget_ipv4(machine, netdev, &gone);
        }
        let left = machine.link(netdev).into_iter().flat_map(|link| &link.addresses);
        if !left.into_iter().any(|address| address.prefix.ip().is_ipv4()) {
            // fib_inetaddr_event: "Last address was deleted from this interface. Disable IP."
            routes::drop_of(machine, netdev, |route| route.destination.ip().is_ipv4());
        }
    }
    changed(machine, netdev);
    Ok(())
}

/// __inet_del_ifa: a primary takes the secondaries of its subnet along.
fn with_secondaries(machine: &Machine, netdev: &str, address: &Address) -> Vec<Address> {
    let mut subnet = machine
        .order
        .iter()
        .filter(|(on, other)| on == netdev && same_subnet(other, address))
        .map(|(_, other)| other.clone())
        .peekable();
    if subnet.peek() == Some(address) && !machine.promote_secondaries {
        return subnet.collect();
    }
    vec![address.clone()]
}

fn forget_ipv4(machine: &mut Machine, netdev: &str, address: &Address) {
    if let Some(link) = machine.link_mut(netdev) {
        link.addresses.remove(address);
    }
    machine.order.retain(|(on, other)| on != netdev || other != address);
    let ip = address.prefix.ip();
    let elsewhere = machine.order.iter().any(|(_, other)| other.prefix.ip() == ip);
    if !elsewhere && let Some(routes) = machine.facts.state.routes.get_mut() {
        // fib_sync_down_addr.
        routes.retain(|route| route.source != Some(ip));
    }
}

/// After the addresses of an interface changed.
pub(super) fn changed(machine: &mut Machine, netdev: &str) {
    ports::follow(machine, netdev);
}
