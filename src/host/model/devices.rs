//! RDMA devices as things: made, put back, gone, with their nodes and their place in the lists.

use std::collections::{BTreeMap, BTreeSet};

use super::machine::Machine;
use super::{configfs, ports};
use crate::change::rdma_module_of;
use crate::facts::{NodeType, Protocol, RdmaDevice, RdmaPort, Seen, Userspace, VerbsDevice};
use crate::values::Software;

/// A device to be made.
pub(super) struct Birth<'a> {
    pub(super) name: &'a str,
    pub(super) netdev: &'a str,
    /// None when the mode cannot be foretold.
    pub(super) protocol: Option<Protocol>,
    pub(super) software: Option<Software>,
}

/// Names of the RDMA devices on an interface: hardware (`None`) or of a kind of software.
pub(super) fn devices_on(
    machine: &Machine,
    netdev: &str,
    software: Option<Software>,
) -> Vec<String> {
    let all = machine.facts.identity.rdma.get().into_iter().flatten();
    all.filter(|(_, device)| device.software == software && is_on(device, netdev))
        .map(|(name, _)| name.clone())
        .collect()
}

pub(super) fn is_on(device: &RdmaDevice, netdev: &str) -> bool {
    device.ports.values().any(|port| port.netdev.get().and_then(|n| n.as_deref()) == Some(netdev))
}

/// Makes a device with its verbs node and one port.
pub(super) fn create(machine: &mut Machine, birth: Birth<'_>) {
    let Birth { name, netdev, protocol, software } = birth;
    let driver = match software {
        Some(kind) => kind.to_string(),
        None => {
            let below = machine.netdev(netdev).and_then(|port| port.driver.as_deref());
            let module = below.and_then(rdma_module_of).unwrap_or_default();
            module.trim_end_matches("_ib").to_owned()
        }
    };
    let at = format!("/sys/class/infiniband/{name}");
    let node_type = match protocol {
        Some(Protocol::Iw) => Some(NodeType::Rnic),
        Some(_) => Some(NodeType::Ca),
        None => None,
    };
    let foreseen = "nobody can foretell the mode of this driver";
    let mac = machine.netdev(netdev).and_then(|port| port.mac);
    let Some(devices) = machine.facts.identity.rdma.get_mut() else {
        return;
    };
    let taken: BTreeSet<&String> =
        devices.values().filter_map(|device| device.uverbs.get()?.as_ref()).collect();
    let uverbs = (0..).map(|n: u32| format!("uverbs{n}")).find(|node| !taken.contains(node));
    let uverbs = uverbs.unwrap_or_default();

    let port = RdmaPort {
        netdev: Seen::known(Some(netdev.to_owned()), format!("{at}/ports/1/gid_attrs/ndevs/0")),
        link_layer: Seen::known("Ethernet".to_owned(), format!("{at}/ports/1/link_layer")),
        gids: Seen::unknown(foreseen, format!("{at}/ports/1/gids")),
        ..RdmaPort::default()
    };
    let mut device = RdmaDevice {
        node_type: match node_type {
            Some(node_type) => Seen::known(node_type, format!("{at}/node_type")),
            None => Seen::unknown(foreseen, format!("{at}/node_type")),
        },
        protocol: match protocol {
            Some(protocol) => Seen::known(protocol, "RDMA netlink"),
            None => Seen::unknown(foreseen, "RDMA netlink"),
        },
        software,
        node_guid: match mac {
            Some(mac) => Seen::known(ports::guid(mac), format!("{at}/node_guid")),
            None => Seen::NotAsked,
        },
        firmware: Seen::known("0.0".to_owned(), format!("{at}/fw_ver")),
        uverbs: Seen::known(Some(uverbs.clone()), format!("{at}/device/infiniband_verbs")),
        ports: BTreeMap::from([(1, port)]),
        bdf: None,
    };
    if software.is_none() {
        device.bdf = machine.netdev(netdev).and_then(|port| port.bdf);
    }
    list(machine, name, &uverbs, &driver, node_type);
    if let Some(devices) = machine.facts.identity.rdma.get_mut() {
        devices.insert(name.to_owned(), device);
    }
    ports::start(machine, name);
    configfs::fill(machine, name);
}

/// Puts a device back as it was.
pub(super) fn restore(machine: &mut Machine, name: &str, device: RdmaDevice, driver: &str) {
    let uverbs = device.uverbs.get().cloned().flatten().unwrap_or_default();
    let node_type = device.node_type.get().copied();
    list(machine, name, &uverbs, driver, node_type);
    let netdev = device.ports.values().find_map(|port| port.netdev.get()?.clone());
    if let Some(devices) = machine.facts.identity.rdma.get_mut() {
        devices.insert(name.to_owned(), device);
    }
    if let Some(netdev) = netdev {
        ports::follow(machine, &netdev);
    }
    configfs::fill(machine, name);
}

/// The device node and the verbs library's list, which needs the driver's provider.
fn list(machine: &mut Machine, name: &str, uverbs: &str, driver: &str, kind: Option<NodeType>) {
    let evidence = &mut machine.facts.evidence;
    if let Some(userspace) = evidence.userspace.get_mut() {
        userspace.nodes.insert(format!("/dev/infiniband/{uverbs}"));
    }
    let provided = |userspace: &Userspace| {
        userspace.providers.iter().any(|file| file.starts_with(&format!("lib{driver}-")))
    };
    if let (Some(verbs), Some(node_type)) = (evidence.verbs.get_mut(), kind)
        && evidence.userspace.get().is_none_or(provided)
    {
        verbs.push(VerbsDevice { name: name.to_owned(), node_type });
    }
}

/// A device goes, with its node and its settings.
pub(super) fn destroy(machine: &mut Machine, name: &str) -> Option<RdmaDevice> {
    let device = machine.facts.identity.rdma.get_mut()?.remove(name)?;
    let evidence = &mut machine.facts.evidence;
    if let (Some(userspace), Some(Some(node))) = (evidence.userspace.get_mut(), device.uverbs.get())
    {
        userspace.nodes.remove(&format!("/dev/infiniband/{node}"));
    }
    if let Some(verbs) = evidence.verbs.get_mut() {
        verbs.retain(|listed| listed.name != name);
    }
    configfs::forget(machine, name);
    Some(device)
}
