//! RDMA devices: which port has one, in which mode, under which name.

use std::collections::{BTreeMap, BTreeSet};

use super::machine::{Event, Machine};
use super::{configfs, ports};
use crate::change::rdma_module_of;
use crate::facts::{
    NetdevKind, NodeType, Protocol, RdmaDevice, RdmaPort, Seen, Userspace, VerbsDevice,
};
use crate::values::Software;

pub(super) use super::ports::{eui64, follow};

/// A device to be made.
pub(super) struct Birth<'a> {
    pub(super) name: &'a str,
    pub(super) netdev: &'a str,
    /// None when the mode cannot be foretold.
    pub(super) protocol: Option<Protocol>,
    pub(super) software: Option<Software>,
}

/// What a port's driver makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Nothing,
    Device(Protocol),
    Unforeseen,
}

/// The interfaces of these network drivers.
pub(super) fn ports_of(machine: &Machine, drivers: &[&str]) -> Vec<String> {
    let all = machine.facts.identity.netdevs.get().into_iter().flatten();
    all.filter(|(_, netdev)| netdev.driver.as_deref().is_some_and(|own| drivers.contains(&own)))
        .map(|(name, _)| name.clone())
        .collect()
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

/// The device of a port goes now and comes back in the mode that is set.
pub(super) fn replug(machine: &mut Machine, netdev: &str) {
    unplug(machine, netdev);
    plug(machine, netdev);
}

/// The device of a port will appear.
pub(super) fn plug(machine: &mut Machine, netdev: &str) {
    let event = Event::Device(netdev.to_owned());
    machine.cancel(&event);
    machine.happen_after(machine.device_after, event);
}

/// The hardware device of a port goes. Returns what it was.
pub(super) fn unplug(machine: &mut Machine, netdev: &str) -> BTreeMap<String, RdmaDevice> {
    machine.cancel(&Event::Device(netdev.to_owned()));
    let names = devices_on(machine, netdev, None);
    names
        .into_iter()
        .filter_map(|name| destroy(machine, &name).map(|device| (name, device)))
        .collect()
}

/// The device of a port appears, if its driver makes one.
pub(super) fn appear(machine: &mut Machine, netdev: &str) {
    if machine.failing.contains(netdev) || !devices_on(machine, netdev, None).is_empty() {
        return;
    }
    let protocol = match outcome(machine, netdev) {
        Outcome::Nothing => return,
        Outcome::Device(protocol) => Some(protocol),
        Outcome::Unforeseen => None,
    };
    let name = name_for(machine, netdev, protocol);
    create(machine, Birth { name: &name, netdev, protocol, software: None });
}

fn outcome(machine: &Machine, netdev: &str) -> Outcome {
    let Some(port) = machine.netdev(netdev) else {
        return Outcome::Nothing;
    };
    let driver = port.driver.as_deref().unwrap_or_default();
    let Some(module) = rdma_module_of(driver) else {
        return Outcome::Nothing;
    };
    if machine.is_loaded(module) != Some(true) {
        return Outcome::Nothing;
    }
    let bonded = port.master.as_deref().and_then(|master| machine.netdev(master));
    if bonded.is_some_and(|master| master.kind == NetdevKind::Virtual("bond".to_owned())) {
        // ice_set_rdma_cap is cleared while a port is in a bond.
        return Outcome::Nothing;
    }
    match (module, driver) {
        ("irdma", "i40e") => Outcome::Device(Protocol::Iw),
        ("irdma", "ice") => ice(machine, netdev),
        _ => Outcome::Unforeseen,
    }
}

/// Out-of-tree irdma: `roce_ena` for all ports, else the bit mask `roce_port_cfg` by PCI function,
/// whatever devlink says. In-kernel irdma: devlink, RoCE by default.
fn ice(machine: &Machine, netdev: &str) -> Outcome {
    let facts = &machine.facts;
    let module = facts.state.modules.get("irdma").and_then(Seen::get);
    let number = |name: &str| {
        let shown = module.and_then(|module| module.parameters.get(name));
        shown.map(|value| value.trim().parse::<u64>().unwrap_or(0))
    };
    let bdf = machine.netdev(netdev).and_then(|port| port.bdf);
    if let Some(roce_ena) = number("roce_ena") {
        let function = bdf.map_or(0, |bdf| bdf.function);
        let by_function = number("roce_port_cfg").unwrap_or(0) >> function & 1 == 1;
        let roce = roce_ena != 0 || by_function;
        return Outcome::Device(if roce { Protocol::Roce } else { Protocol::Iw });
    }
    let file = facts.evidence.module_files.get("irdma").and_then(|file| file.get()?.as_ref());
    let build = facts.evidence.builds.get("irdma").and_then(Seen::get);
    let in_tree = file.map(|file| file.in_tree).or(build.map(|build| build.in_tree));
    let device = bdf.and_then(|bdf| facts.state.devlink.get(&format!("pci/{bdf}")));
    let shown = device.and_then(Seen::get);
    let set = |name: &str| shown.and_then(|shown| shown.get(name)?.get("runtime").copied());
    match (set("enable_roce"), set("enable_iwarp")) {
        (Some(true), _) => Outcome::Device(Protocol::Roce),
        (_, Some(true)) => Outcome::Device(Protocol::Iw),
        (Some(false), _) => Outcome::Nothing,
        // Without devlink the in-kernel driver's default counts, if it is that driver.
        (None, _) if in_tree == Some(true) => Outcome::Device(Protocol::Roce),
        (None, _) => Outcome::Unforeseen,
    }
}

/// The name that udev gives by PCI address (`rocep2s0f0`, `iwp2s0f0`), as systemd writes it.
fn name_for(machine: &Machine, netdev: &str, protocol: Option<Protocol>) -> String {
    if let Some(name) = machine.names.get(netdev) {
        return name.clone();
    }
    let kind = match protocol {
        Some(Protocol::Iw) => "iw",
        Some(Protocol::Roce) => "roce",
        _ => "rdma",
    };
    match machine.netdev(netdev).and_then(|port| port.bdf) {
        Some(bdf) => format!("{kind}p{}s{}f{}", bdf.bus, bdf.device, bdf.function),
        None => format!("{kind}_{netdev}"),
    }
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
        follow(machine, &netdev);
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
