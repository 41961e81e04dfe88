//! Which port has an RDMA device, in which mode, under which name.

use std::collections::BTreeMap;

use super::devices::{Birth, create, destroy, devices_on};
use super::machine::{Event, Machine};
use crate::change::rdma_module_of;
use crate::facts::{NetdevKind, Protocol, RdmaDevice, Seen};

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
