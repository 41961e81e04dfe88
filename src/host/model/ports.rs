//! Ports follow their interface: state, rate, GIDs.

use std::net::{IpAddr, Ipv6Addr};

use super::devices::is_on;
use super::machine::Machine;
use crate::facts::{Gid, GidType, PortState, Protocol, RdmaDevice, Seen};
use crate::values::MacAddr;

/// After an interface changed: the ports on it, and on the device below it if it is a VLAN.
pub(super) fn follow(machine: &mut Machine, netdev: &str) {
    let below = machine.netdev(netdev).and_then(|netdev| netdev.parent.clone());
    for netdev in [Some(netdev.to_owned()), below].into_iter().flatten() {
        let devices = machine.facts.identity.rdma.get().into_iter().flatten();
        let names: Vec<String> =
            devices.filter(|(_, d)| is_on(d, &netdev)).map(|(name, _)| name.clone()).collect();
        for name in names {
            update(machine, &name, &netdev, false);
        }
    }
}

/// A new device: everything about its port is read for the first time.
pub(super) fn start(machine: &mut Machine, name: &str) {
    let device = machine.facts.identity.rdma.get().and_then(|devices| devices.get(name));
    let netdev = device.and_then(|d| d.ports.values().find_map(|port| port.netdev.get()?.clone()));
    if let Some(netdev) = netdev {
        update(machine, name, &netdev, true);
    }
}

fn update(machine: &mut Machine, name: &str, netdev: &str, new: bool) {
    let running = machine.is_running(netdev);
    let Some(device) = machine.facts.identity.rdma.get().and_then(|devices| devices.get(name))
    else {
        return;
    };
    if device.protocol.get() == Some(&Protocol::Ib) {
        return;
    }
    let gids = gids(machine, device, netdev);
    let speed = machine.netdev(netdev).and_then(|port| port.speed_mbps.get().copied());
    let devices = machine.facts.identity.rdma.get_mut();
    let Some(device) = devices.and_then(|devices| devices.get_mut(name)) else {
        return;
    };
    for (number, port) in &mut device.ports {
        if port.netdev.get().and_then(|n| n.as_deref()) != Some(netdev) {
            continue;
        }
        let at = format!("/sys/class/infiniband/{name}/ports/{number}");
        let (state, physical) = match running {
            true => (PortState::Active, "LinkUp"),
            false => (PortState::Down, "Disabled"),
        };
        set(&mut port.state, state, new, format!("{at}/state"));
        set(&mut port.physical_state, physical.to_owned(), new, format!("{at}/phys_state"));
        if new {
            port.rate = Seen::known(rate(speed).to_owned(), format!("{at}/rate"));
        }
        if let Some(gids) = &gids {
            set(&mut port.gids, gids.clone(), new, format!("{at}/gids"));
        }
    }
}

/// What was not asked for stays so.
fn set<T>(seen: &mut Seen<T>, value: T, new: bool, source: String) {
    if new || !seen.is_not_asked() {
        let source = if let Seen::Known { source, .. } = seen { source.clone() } else { source };
        *seen = Seen::known(value, source);
    }
}

/// The GID table of a port in the order in which the kernel fills it: the default GID of the MAC,
/// then IPv4, then IPv6 (`enum_all_gids_of_dev_cb`). None for a device whose mode is not known.
fn gids(machine: &Machine, device: &RdmaDevice, netdev: &str) -> Option<Vec<Gid>> {
    let port = machine.netdev(netdev)?;
    let kinds: &[GidType] = match (device.protocol.get()?, port.driver.as_deref()) {
        (Protocol::Iw, _) => {
            let mac = port.mac?.0;
            let mut octets = [0; 16];
            octets[..6].copy_from_slice(&mac);
            let gid = Ipv6Addr::from(octets);
            return Some(vec![Gid { index: 0, gid, kind: GidType::IbRoceV1, netdev: None }]);
        }
        (Protocol::Roce, Some("mlx5_core" | "mlx4_core" | "mlx4_en")) => {
            &[GidType::IbRoceV1, GidType::RoceV2]
        }
        (Protocol::Roce, _) => &[GidType::RoceV2],
        _ => return None,
    };
    let mut sources = vec![netdev.to_owned()];
    sources.extend(machine.vlans_of(netdev));
    let mut table = Vec::new();
    for source in sources.iter().filter(|source| machine.is_running(source)) {
        let mut seen: Vec<Ipv6Addr> = machine.netdev(source)?.mac.map(eui64).into_iter().collect();
        let v4 = machine.order.iter().filter(|(on, _)| on == source).map(|(_, a)| a);
        let v6 = machine.link(source)?.addresses.iter().filter(|a| a.prefix.ip().is_ipv6());
        for address in v4.chain(v6) {
            let gid = match address.prefix.ip() {
                IpAddr::V4(ip) => ip.to_ipv6_mapped(),
                IpAddr::V6(ip) => ip,
            };
            if !seen.contains(&gid) {
                seen.push(gid);
            }
        }
        table.extend(
            seen.into_iter()
                .flat_map(|gid| kinds.iter().map(move |kind| (gid, *kind)))
                .map(|(gid, kind)| (gid, kind, source.clone())),
        );
    }
    let numbered = table.into_iter().zip(0..);
    Some(
        numbered
            .map(|((gid, kind, netdev), index)| Gid { index, gid, kind, netdev: Some(netdev) })
            .collect(),
    )
}

/// The link-local address of a MAC (RFC 4291, appendix A).
pub(super) fn eui64(mac: MacAddr) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac.0;
    let mut octets = [0; 16];
    octets[..2].copy_from_slice(&[0xfe, 0x80]);
    octets[8..].copy_from_slice(&[a ^ 2, b, c, 0xff, 0xfe, d, e, f]);
    Ipv6Addr::from(octets)
}

/// The node GUID that drivers make of a MAC, as the kernel prints it.
pub(super) fn guid(mac: MacAddr) -> String {
    let octets = eui64(mac).octets();
    let words = octets[8..].chunks_exact(2).map(|word| format!("{:02x}{:02x}", word[0], word[1]));
    words.collect::<Vec<_>>().join(":")
}

/// `rate` of a port by the speed of its interface (`ib_get_eth_speed`).
fn rate(speed_mbps: Option<u32>) -> &'static str {
    match speed_mbps {
        Some(200_000..) => "200 Gb/sec (4X HDR)",
        Some(100_000..) => "100 Gb/sec (4X EDR)",
        Some(50_000..) => "50 Gb/sec (1X HDR)",
        Some(40_000..) => "40 Gb/sec (4X QDR)",
        Some(25_000..) => "25 Gb/sec (1X EDR)",
        Some(10_000..) => "10 Gb/sec (4X SDR)",
        _ => "2.5 Gb/sec (1X SDR)",
    }
}
