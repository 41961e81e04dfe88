//! How a mode is chosen: by the driver that is bound to the port, never by what is installed.
//!
//! Out-of-tree irdma takes `roce_ena` at load time, for all its ports; in-kernel ice/irdma a devlink
//! parameter per port; other drivers have their own ways, which are named and not guessed.

use std::collections::BTreeMap;

use super::{Judgement, Port, Refusal, Remedy};
use crate::change::{
    Change, network_drivers_of, rdma_module_of, rdma_modules, rdma_modules_of,
    same_parameter_value, software_of_module,
};
use crate::facts::{Facts, ModuleState, Netdev, Scope};
use crate::values::Mode;

/// What a look must read for choosing a mode and for reloading a module.
pub fn scope() -> Scope {
    let modules = rdma_modules().map(str::to_owned).collect();
    Scope { modules, devlink: true, configfs: true, ..Scope::default() }
}

/// True for a module that carries network interfaces, which is never removed: one of the table, or
/// the driver of any interface here. File names have `-` where the kernel has `_`.
pub fn is_base_driver(module: &str, facts: &Facts) -> bool {
    let plain = |name: &str| name.replace('-', "_");
    let bound = facts.identity.netdevs.get().into_iter().flat_map(|all| all.values());
    rdma_module_of(module).is_some()
        || bound
            .filter_map(|netdev| netdev.driver.as_deref())
            .any(|one| plain(one) == plain(module))
}

/// True for a module that may be removed and loaded again: a hardware RDMA module. Of any other,
/// what would go with it is not known here (a bond, a disk, every software RDMA device).
pub fn is_reloadable(module: &str) -> bool {
    rdma_modules().any(|one| one == module)
}

/// The module that makes this port's RDMA device, of several the one that is loaded or installed;
/// none for a driver that is not in the table.
///
/// # Errors
/// The judgement to give where the port is not found.
pub fn driver_of(port: &Port, facts: &Facts) -> Result<Option<&'static str>, Judgement> {
    if let Some(kind) = port.software() {
        return Ok(Some(kind.module()));
    }
    let Some(driver) = hardware(port, facts)?.driver.as_deref() else { return Ok(None) };
    let loaded = |module: &&str| facts.module(module).is_some_and(|state| state.loaded);
    let on_disk = |module: &&str| {
        let file = facts.evidence.module_files.get(*module).and_then(|file| file.get());
        file.is_some_and(Option::is_some)
    };
    let of = || rdma_modules_of(driver);
    Ok(of().find(loaded).or_else(|| of().find(on_disk)).or_else(|| of().next()))
}

/// The network interface whose driver makes this port's RDMA device: the one below a VLAN, a member
/// of a bond, else the port itself.
///
/// # Errors
/// The judgement to give where the port is not found.
pub fn hardware<'a>(port: &Port, facts: &'a Facts) -> Result<&'a Netdev, Judgement> {
    let (name, netdev) = port.netdev(facts)?;
    let Some(all) = facts.identity.netdevs.get() else { return Ok(netdev) };
    let name = facts.lowest(name);
    let lowest = all.get(name).unwrap_or(netdev);
    let member = all.values().find(|one| one.master.as_deref() == Some(name));
    Ok(member.filter(|_| lowest.is_bond()).unwrap_or(lowest))
}

/// The parameters to load `module` with for this port: `roce_ena` where the file on disk has it.
pub fn load_parameters(port: &Port, facts: &Facts, module: &str) -> BTreeMap<String, String> {
    let has_roce_ena = facts
        .evidence
        .module_files
        .get(module)
        .and_then(|file| file.get())
        .and_then(Option::as_ref)
        .is_some_and(|file| file.parameters.contains("roce_ena"));
    let follows = hardware(port, facts).is_ok_and(follows_roce_ena);
    match port.wish.rdma.as_ref().and_then(|rdma| roce_ena(rdma.mode)) {
        Some(value) if module == "irdma" && has_roce_ena && follows => {
            BTreeMap::from([("roce_ena".to_owned(), value.to_owned())])
        }
        _ => BTreeMap::new(),
    }
}

/// Whether irdma makes the mode of this interface's device at all: an X722 (`i40e`) has iWARP only,
/// whatever `roce_ena` says.
pub fn follows_roce_ena(netdev: &Netdev) -> bool {
    netdev.driver.as_deref() == Some("ice")
}

/// The value of the out-of-tree irdma's `roce_ena` for a mode.
pub fn roce_ena(mode: Mode) -> Option<&'static str> {
    match mode {
        Mode::RoceV2 => Some("1"),
        Mode::Iwarp => Some("0"),
        Mode::RoceV1 | Mode::Infiniband => None,
    }
}

/// The changes that load `module` anew with one parameter changed. The other parameters stay as
/// they are, and configfs settings, which go with the module, are put back.
pub fn reload(facts: &Facts, module: &str, parameter: &str, value: &str) -> Vec<Change> {
    let mut parameters =
        facts.module(module).map(|state| state.parameters.clone()).unwrap_or_default();
    parameters.insert(parameter.to_owned(), value.to_owned());
    // The newer mask by PCI function would make RoCE of what roce_ena=0 makes iWARP.
    if (parameter, value) == ("roce_ena", "0")
        && let Some(mask) = parameters.get_mut("roce_port_cfg")
    {
        "0".clone_into(mask);
    }
    let configfs = facts.state.configfs.get();
    // A directory below its own configfs subsystem keeps the module loaded, so it goes first.
    let own = format!("{module}/");
    let mut changes: Vec<Change> = configfs
        .into_iter()
        .flat_map(|tree| tree.iter().rev())
        .filter(|(path, value)| value.is_none() && path.starts_with(&own) && is_made(path))
        .map(|(path, _)| Change::RemoveConfigfs { path: path.clone() })
        .collect();
    changes.push(Change::RemoveModule { module: module.to_owned() });
    changes.push(Change::LoadModule { module: module.to_owned(), parameters });
    let devices = devices_of(facts, module);
    for (path, value) in configfs.into_iter().flatten() {
        let cm_of_device = path.strip_prefix("rdma_cm/").is_some_and(|rest| {
            devices.iter().any(|device| rest.split('/').next() == Some(device))
        });
        match value {
            _ if !path.starts_with(&own) && !cm_of_device => {}
            // Where the kernel has kept the directory, the change holds and is not made.
            None if is_made(path) => changes.push(Change::MakeConfigfs { path: path.clone() }),
            None => {}
            Some(value) => {
                changes.push(Change::WriteConfigfs { path: path.clone(), value: value.clone() });
            }
        }
    }
    changes
}

/// A directory that a user made: directly below the subsystem's. The kernel makes those further down.
fn is_made(path: &str) -> bool {
    path.split('/').count() == 2
}

/// Names of the RDMA devices that `module` makes: those above a network interface of its base drivers,
/// or the software devices of its kind.
pub fn devices_of<'a>(facts: &'a Facts, module: &str) -> Vec<&'a str> {
    let Some(devices) = facts.identity.rdma.get() else { return Vec::new() };
    let is_ours = |netdev: &str| {
        let bound = facts.identity.netdevs.get().and_then(|all| all.get(netdev));
        let bound = bound.and_then(|netdev| netdev.driver.as_deref());
        bound.is_some_and(|bound| network_drivers_of(module).contains(&bound))
    };
    let kind = software_of_module(module);
    // A software device on a port of `module` counts too: a user of it is one too many to reload under.
    devices
        .iter()
        .filter(|(_, device)| {
            device.software.is_some_and(|software| kind == Some(software))
                || device
                    .ports
                    .values()
                    .any(|port| port.netdev.get().and_then(Option::as_deref).is_some_and(is_ours))
        })
        .map(|(name, _)| name.as_str())
        .collect()
}

/// What brings a port into `mode`.
pub fn towards(mode: Mode, port: &Port, facts: &Facts) -> Remedy {
    let Ok((netdev, _)) = port.netdev(facts) else { return Remedy::None };
    let Ok(device) = hardware(port, facts) else { return Remedy::None };
    let Ok(Some(module)) = driver_of(port, facts) else { return Remedy::None };
    if device.in_bond(facts) {
        // ice gives a port in a bond no RDMA device, or another one: no switch of ours changes that.
        return Remedy::None;
    }
    if module != "irdma" || port.software().is_some() || !follows_roce_ena(device) {
        return Remedy::None;
    }
    let Some(value) = roce_ena(mode) else { return Remedy::None };
    let Some(state) = facts.module(module).filter(|state| state.loaded) else {
        return Remedy::None;
    };
    match state.parameters.get("roce_ena") {
        Some(now) if same_parameter_value(value, now) && !masked(mode, state) => Remedy::None,
        Some(_) => Remedy::Changes(reload(facts, module, "roce_ena", value)),
        None => match device.bdf {
            Some(bdf) => by_devlink(mode, &format!("pci/{bdf}"), facts),
            None => Remedy::Refused(Refusal {
                what: format!("the mode of {netdev} is not changed"),
                why: "this irdma chooses the mode by devlink, and the port shows no PCI address"
                    .into(),
                fix: "set it by hand: devlink dev param set".into(),
            }),
        },
    }
}

/// Whether `roce_port_cfg`, a mask by PCI function, makes RoCE of ports that are wanted in iWARP: it
/// counts while `roce_ena` is 0.
fn masked(mode: Mode, irdma: &ModuleState) -> bool {
    let mask = irdma.parameters.get("roce_port_cfg");
    mode == Mode::Iwarp && mask.is_some_and(|mask| !same_parameter_value(mask, "0"))
}

/// The other mode off first: the driver refuses to have both on.
fn by_devlink(mode: Mode, device: &str, facts: &Facts) -> Remedy {
    const CMODE: &str = "runtime";
    let (on, off) = match mode {
        Mode::RoceV2 => ("enable_roce", "enable_iwarp"),
        _ => ("enable_iwarp", "enable_roce"),
    };
    let set = |parameter: &str, value| Change::SetDevlink {
        device: device.to_owned(),
        parameter: parameter.to_owned(),
        cmode: CMODE.to_owned(),
        value,
    };
    let mut changes = Vec::new();
    if facts.devlink_param(device, off, CMODE) == Some(true) {
        changes.push(set(off, false));
    }
    if facts.devlink_param(device, on, CMODE) == Some(false) {
        changes.push(set(on, true));
    }
    if changes.is_empty() { Remedy::None } else { Remedy::Changes(changes) }
}
