//! Links: up, down, MTU, carrier.

use nix::errno::Errno;

use super::addresses;
use super::machine::{Event, Machine};
use super::refusal::{explain, known, need_net_admin, refuse, text};
use super::{ports, rdma, routes};
use crate::facts::{Address, Seen};
use crate::host::ActError;
use crate::values::{IpPrefix, Mtu};

/// Below it the kernel stops IPv6 on an interface (`IPV6_MIN_MTU`).
pub(super) const IPV6_MINIMUM: u32 = Mtu::IPV6_MINIMUM;

const LINK_SCOPE: u8 = 253;

pub(super) fn set_link(machine: &mut Machine, netdev: &str, up: bool) -> Result<(), ActError> {
    let call = format!("set {netdev} {}", if up { "up" } else { "down" });
    need_net_admin(machine, &call)?;
    let links = known(&call, &mut machine.facts.state.links)?;
    let link = links.get(netdev).ok_or_else(|| refuse(&call, Errno::ENODEV))?;
    if link.up == up {
        return Ok(());
    }
    if !up {
        // vlan_device_event: VLANs go down with the device below them.
        for vlan in machine.vlans_of(netdev) {
            down(machine, &vlan);
        }
        down(machine, netdev);
        return Ok(());
    }
    let parent = machine.netdev(netdev).and_then(|netdev| netdev.parent.clone());
    if parent.is_some_and(|parent| machine.link(&parent).is_some_and(|link| !link.up)) {
        return Err(refuse(call, Errno::ENETDOWN));
    }
    bring_up(machine, netdev);
    for vlan in machine.vlans_of(netdev) {
        bring_up(machine, &vlan);
    }
    Ok(())
}

fn bring_up(machine: &mut Machine, netdev: &str) {
    if let Some(link) = machine.link_mut(netdev) {
        link.up = true;
    }
    no_carrier(machine, netdev);
    if machine.has_cable(netdev) {
        machine.happen_after(machine.carrier_after, Event::Carrier(netdev.to_owned()));
    } else {
        ports::follow(machine, netdev);
    }
}

/// addrconf_ifdown drops every IPv6 address, fib_disable_ip and rt6_disable_ip every route.
fn down(machine: &mut Machine, netdev: &str) {
    machine.cancel(&Event::Carrier(netdev.to_owned()));
    if let Some(link) = machine.link_mut(netdev) {
        link.up = false;
        link.addresses.retain(|address| address.prefix.ip().is_ipv4());
    }
    if let Some(netdev) = machine.netdev_mut(netdev)
        && !netdev.carrier.is_not_asked()
    {
        netdev.carrier = Seen::unknown(text(Errno::EINVAL), source(&netdev.carrier));
    }
    routes::drop_of(machine, netdev, |_| true);
    ports::follow(machine, netdev);
}

/// The carrier comes, if the cable is in and the link still up.
pub(super) fn carrier(machine: &mut Machine, netdev: &str) {
    if machine.has_cable(netdev) && machine.link(netdev).is_some_and(|link| link.up) {
        if let Some(netdev) = machine.netdev_mut(netdev) {
            netdev.carrier = Seen::known(true, source(&netdev.carrier));
        }
        link_local(machine, netdev);
        ports::follow(machine, netdev);
    }
}

/// A cable was plugged in or pulled.
pub(super) fn follow_cable(machine: &mut Machine, netdev: &str) {
    if machine.link(netdev).is_some_and(|link| link.up) {
        no_carrier(machine, netdev);
        carrier(machine, netdev);
        ports::follow(machine, netdev);
    }
}

fn no_carrier(machine: &mut Machine, netdev: &str) {
    if let Some(netdev) = machine.netdev_mut(netdev) {
        netdev.carrier = Seen::known(false, source(&netdev.carrier));
    }
}

fn source(carrier: &Seen<bool>) -> String {
    match carrier {
        Seen::NotAsked => "carrier".to_owned(),
        seen => seen.source().to_owned(),
    }
}

/// addrconf_dev_config: the EUI-64 link-local address of a running interface.
fn link_local(machine: &mut Machine, netdev: &str) {
    if machine.link(netdev).is_none_or(|link| !link.up || link.mtu < IPV6_MINIMUM) {
        return;
    }
    let Some(mac) = machine.netdev(netdev).and_then(|netdev| netdev.mac) else {
        return;
    };
    let Ok(prefix) = IpPrefix::new(ports::eui64(mac).into(), 64) else {
        return;
    };
    let address = Address { scope: LINK_SCOPE, ..Address::plain(prefix) };
    if let Some(link) = machine.link_mut(netdev) {
        link.addresses.insert(address);
    }
}

pub(super) fn set_mtu(machine: &mut Machine, netdev: &str, mtu: u32) -> Result<(), ActError> {
    let call = format!("set {netdev} MTU {mtu}");
    need_net_admin(machine, &call)?;
    let links = known(&call, &mut machine.facts.state.links)?;
    let old = links.get(netdev).ok_or_else(|| refuse(&call, Errno::ENODEV))?.mtu;
    if old == mtu {
        return Ok(());
    }
    // dev_validate_mtu.
    if mtu < 68 {
        return Err(explain(call, Errno::EINVAL, "mtu less than device minimum"));
    }
    if mtu > largest_mtu(machine, netdev) {
        return Err(explain(call, Errno::EINVAL, "mtu greater than device maximum"));
    }
    let parent = machine.netdev(netdev).and_then(|netdev| netdev.parent.clone());
    if parent.is_some_and(|parent| machine.link(&parent).is_some_and(|link| link.mtu < mtu)) {
        // vlan_dev_change_mtu.
        return Err(refuse(call, Errno::ERANGE));
    }
    apply_mtu(machine, netdev, mtu);
    for vlan in machine.vlans_of(netdev) {
        if machine.link(&vlan).is_some_and(|link| link.mtu > mtu) {
            apply_mtu(machine, &vlan, mtu);
        }
    }
    Ok(())
}

fn apply_mtu(machine: &mut Machine, netdev: &str, mtu: u32) {
    let Some(link) = machine.link_mut(netdev) else {
        return;
    };
    link.mtu = mtu;
    if mtu < IPV6_MINIMUM {
        link.addresses.retain(|address| address.prefix.ip().is_ipv4());
        routes::drop_of(machine, netdev, |route| route.destination.ip().is_ipv6());
    } else if machine.is_running(netdev) {
        link_local(machine, netdev);
    }
    addresses::changed(machine, netdev);
}

/// `max_mtu` as the drivers set it.
fn largest_mtu(machine: &Machine, netdev: &str) -> u32 {
    match machine.netdev(netdev).and_then(|netdev| netdev.driver.as_deref()) {
        Some("ice" | "i40e") => 9702,
        Some("mlx5_core") => 9978,
        Some("e1000e") => 9216,
        _ => 65535,
    }
}

/// A network driver that goes takes its interfaces, with their addresses and routes, along.
pub(super) fn lose(machine: &mut Machine, netdev: &str) {
    for vlan in machine.vlans_of(netdev) {
        lose(machine, &vlan);
    }
    rdma::unplug(machine, netdev);
    let facts = &mut machine.facts;
    if let Some(links) = facts.state.links.get_mut() {
        links.remove(netdev);
    }
    if let Some(routes) = facts.state.routes.get_mut() {
        routes.retain(|route| route.netdev != netdev);
    }
    let port = facts.identity.netdevs.get_mut().and_then(|netdevs| netdevs.remove(netdev));
    if let Some(bdf) = port.and_then(|port| port.bdf) {
        facts.state.devlink.remove(&format!("pci/{bdf}"));
    }
    facts.evidence.drivers.remove(netdev);
    machine.order.retain(|(on, _)| on != netdev);
}
