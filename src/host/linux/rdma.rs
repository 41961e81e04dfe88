//! RDMA devices from `/sys/class/infiniband`, completed from RDMA netlink.
//!
//! sysfs comes first, because a 3.10 kernel has nothing else. Every attribute may be missing or hold
//! something else than expected (`N/A (no PMA)`): that is unknown, never zero.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::gids;
use super::netdevs::pci_ancestor;
use super::netlink::Refusal;
use super::nldev;
use super::tree::{Tree, words};
use crate::facts::{NodeType, PortState, RdmaDevice, RdmaPort, Scope, Seen, SoftwareLink};
use crate::values::Software;

const CLASS: &str = "class/infiniband";
const NETLINK: &str = "RDMA netlink";
/// Asks RDMA netlink for devices; the argument names those whose driver is wanted too.
pub(crate) type AskNetlink<'a> =
    &'a dyn Fn(Vec<String>) -> Result<BTreeMap<String, nldev::Device>, Refusal>;

/// Addresses by interface, those of stacked interfaces included.
pub(crate) type Held = BTreeMap<String, BTreeSet<IpAddr>>;

/// All RDMA devices by name.
pub(crate) fn devices(
    sys: &Tree,
    scope: &Scope,
    held: Option<&Held>,
    netlink: AskNetlink<'_>,
) -> Seen<BTreeMap<String, RdmaDevice>> {
    let names = match sys.names(CLASS) {
        Ok(names) => names,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let source = format!("{} (absent: ib_core is not loaded)", sys.name(CLASS));
            return Seen::known(BTreeMap::new(), source);
        }
        Err(error) => return Seen::unknown(words(&error), sys.name(CLASS)),
    };
    let mut devices = BTreeMap::new();
    if names.is_empty() {
        return Seen::known(devices, sys.name(CLASS));
    }
    let nodes = uverbs(sys);
    for name in names {
        let device = device(sys, &name, &nodes, scope.details);
        devices.insert(name, device);
    }
    let undecided = devices
        .iter()
        .filter(|(_, device)| device.node_type.get() == Some(&NodeType::Rnic))
        .filter(|(_, device)| matches!(device.uverbs.get(), Some(Some(_))))
        .map(|(name, _)| name.clone())
        .collect();
    let answer = netlink(undecided);
    for (name, device) in &mut devices {
        complete(sys, name, device, answer.as_ref().map(|known| known.get(name)));
        for (number, port) in &mut device.ports {
            let held = match (held, port.netdev.get()) {
                (Some(held), Some(Some(netdev))) => held.get(netdev),
                _ => None,
            };
            port.gids =
                gids::read(sys, &format!("{CLASS}/{name}/ports/{number}"), &scope.gids, held);
        }
    }
    Seen::known(devices, sys.name(CLASS))
}

/// Software devices among them, as state.
pub(crate) fn software(
    devices: &Seen<BTreeMap<String, RdmaDevice>>,
) -> Seen<BTreeSet<SoftwareLink>> {
    devices.clone().map(|devices| {
        devices
            .values()
            .filter_map(|device| {
                let netdev = device.ports.get(&1)?.netdev.get()?.clone()?;
                Some(SoftwareLink { netdev, kind: device.software? })
            })
            .collect()
    })
}

/// Character devices by RDMA device; the error's words where there is no such class.
fn uverbs(sys: &Tree) -> Result<BTreeMap<String, String>, String> {
    const CLASS: &str = "class/infiniband_verbs";
    let names = sys
        .names(CLASS)
        .map_err(|_| format!("{} (absent: ib_uverbs is not loaded)", sys.name(CLASS)))?;
    Ok(names
        .into_iter()
        // Beside the nodes there is abi_version.
        .filter(|node| node.starts_with("uverbs"))
        .filter_map(|node| Some((sys.optional(&format!("{CLASS}/{node}/ibdev"))?, node)))
        .collect())
}

fn device(
    sys: &Tree,
    name: &str,
    nodes: &Result<BTreeMap<String, String>, String>,
    details: bool,
) -> RdmaDevice {
    let class = format!("{CLASS}/{name}");
    let place = sys.link(&class);
    let software_parent = sys.exists(&format!("{class}/parent"));
    let described = |file: &str| if details { sys.seen(file) } else { Seen::NotAsked };
    let mut device = RdmaDevice {
        node_type: sys.parsed(&format!("{class}/node_type"), node_type),
        protocol: Seen::NotAsked,
        bdf: place.as_deref().and_then(pci_ancestor),
        // Only rxe has a `parent`; how siw is told from hardware is in `complete`.
        software: software_parent.then_some(Software::Rxe),
        node_guid: described(&format!("{class}/node_guid")),
        firmware: described(&format!("{class}/fw_ver")),
        uverbs: match nodes {
            Ok(nodes) => Seen::known(nodes.get(name).cloned(), sys.name("class/infiniband_verbs")),
            Err(absent) => Seen::known(None, absent.clone()),
        },
        ports: BTreeMap::new(),
    };
    for number in sys.names(&format!("{class}/ports")).unwrap_or_default() {
        if let Ok(number) = number.parse::<u32>() {
            device.ports.insert(number, port(sys, &format!("{class}/ports/{number}"), details));
        }
    }
    device
}

fn port(sys: &Tree, place: &str, details: bool) -> RdmaPort {
    RdmaPort {
        netdev: Seen::NotAsked,
        link_layer: sys.parsed(&format!("{place}/link_layer"), |text| {
            matches!(text, "Ethernet" | "InfiniBand").then(|| text.to_owned())
        }),
        state: sys.parsed(&format!("{place}/state"), |text| {
            Some(match numbered(text)?.0 {
                1 => PortState::Down,
                2 => PortState::Init,
                3 => PortState::Armed,
                4 => PortState::Active,
                5 => PortState::Defer,
                _ => return None,
            })
        }),
        physical_state: if details {
            sys.parsed(&format!("{place}/phys_state"), |text| {
                numbered(text).map(|(_, word)| word.to_owned())
            })
        } else {
            Seen::NotAsked
        },
        rate: if details { sys.seen(&format!("{place}/rate")) } else { Seen::NotAsked },
        gids: Seen::NotAsked,
    }
}

/// `4: ACTIVE` as number and word.
fn numbered(text: &str) -> Option<(u32, &str)> {
    let (number, word) = text.split_once(':')?;
    Some((number.trim().parse().ok()?, word.trim()))
}

fn node_type(text: &str) -> Option<NodeType> {
    Some(match numbered(text)?.0 {
        1 => NodeType::Ca,
        2 => NodeType::Switch,
        3 => NodeType::Router,
        4 => NodeType::Rnic,
        other => NodeType::Other(other),
    })
}

/// Protocol, driver and interfaces: from netlink where it answers, else from sysfs.
fn complete(
    sys: &Tree,
    name: &str,
    device: &mut RdmaDevice,
    netlink: Result<Option<&nldev::Device>, &Refusal>,
) {
    let class = format!("{CLASS}/{name}");
    device.protocol = match netlink {
        Ok(Some(known)) => match known.protocol {
            Some(protocol) => Seen::known(protocol, NETLINK),
            None => Seen::unknown("this kernel does not report it", NETLINK),
        },
        Ok(None) => Seen::unknown("the device is not in the kernel's list", NETLINK),
        Err(refusal) => Seen::unknown(refusal.why.clone(), NETLINK),
    };
    let known = netlink.ok().flatten();
    device.software = device.software.or(known.and_then(|known| known.software)).or_else(|| {
        // Where netlink cannot name the driver: siw's description. An administrator may overwrite it.
        let iwarp = device.node_type.get() == Some(&NodeType::Rnic);
        let described = iwarp
            && sys
                .optional(&format!("{class}/node_desc"))
                .is_some_and(|text| text == SIW_DESCRIPTION);
        described.then_some(Software::Siw)
    });
    if device.software.is_some() {
        device.bdf = None;
    }
    let count = device.ports.len();
    for (number, port) in &mut device.ports {
        port.netdev = match known {
            Some(known) => Seen::known(known.netdevs.get(number).cloned(), NETLINK),
            None => netdev(sys, &class, *number, count),
        };
        if matches!(&port.netdev, Seen::Known { value: None, .. }) {
            // IPoIB and some old drivers: netlink names no interface, sysfs may.
            let other = netdev(sys, &class, *number, count);
            if matches!(&other, Seen::Known { value: Some(_), .. }) {
                port.netdev = other;
            }
        }
    }
}

/// SIW_NODE_DESC_COMMON in the driver's source.
const SIW_DESCRIPTION: &str = "Software iWARP stack";

/// The interface of a port from sysfs: rxe's `parent`, the GIDs' own interface, or the interface of
/// the same PCI function whose `dev_port` counts like the port.
fn netdev(sys: &Tree, class: &str, port: u32, ports: usize) -> Seen<Option<String>> {
    let parent = format!("{class}/parent");
    if let Some(name) = sys.optional(&parent) {
        return Seen::known(Some(name), sys.name(&parent));
    }
    let of_gid = format!("{class}/ports/{port}/gid_attrs/ndevs/0");
    if let Some(name) = sys.optional(&of_gid) {
        return Seen::known(Some(name), sys.name(&of_gid));
    }
    let directory = format!("{class}/device/net");
    let names = match sys.names(&directory) {
        Ok(names) => names,
        Err(error) => return Seen::unknown(words(&error), sys.name(&directory)),
    };
    let with_port = |name: &String| {
        let dev_port =
            sys.optional(&format!("{directory}/{name}/dev_port"))?.parse::<u32>().ok()?;
        (dev_port + 1 == port).then(|| name.clone())
    };
    match (names.as_slice(), ports) {
        ([one], 1) => Seen::known(Some(one.clone()), sys.name(&directory)),
        ([], _) => Seen::known(None, sys.name(&directory)),
        (many, _) => match many.iter().find_map(with_port) {
            Some(name) => Seen::known(Some(name), format!("{}/*/dev_port", sys.name(&directory))),
            None => Seen::unknown(
                format!("several interfaces: {}", names.join(", ")),
                sys.name(&directory),
            ),
        },
    }
}

#[cfg(test)]
#[path = "rdma_tests.rs"]
mod tests;
