//! Modules and the software devices that live in them.

use super::settings::{self, is_on};
use crate::change::{Change, network_drivers_of, software_of_module};
use crate::facts::{Facts, ModuleState, RdmaDevice};
use crate::values::Software;

pub(super) fn load(module: &str, before: &Facts) -> Vec<Change> {
    match module_state(module, before) {
        Some(state) if !state.loaded => vec![Change::RemoveModule { module: module.to_owned() }],
        // Loaded: the kernel ignores the parameters, so nothing changes. Unknown: the module may
        // have been there, and removing it would not be an undo.
        _ => Vec::new(),
    }
}

pub(super) fn remove(module: &str, before: &Facts) -> Vec<Change> {
    let Some(state) = module_state(module, before).filter(|state| state.loaded) else {
        return Vec::new();
    };
    let parameters = state
        .parameters
        .iter()
        // What the kernel prints for a string that was never set; given back it would be one.
        .filter(|(_, value)| !value.is_empty() && value.as_str() != "(null)")
        .map(|(name, value)| (name.clone(), quoted(value)))
        .collect();
    let mut changes = vec![Change::LoadModule { module: module.to_owned(), parameters }];

    let drivers = network_drivers_of(module);
    changes.extend(settings::devlink_of_drivers(drivers, before));

    let kind = software_of_module(module);
    if let Some(kind) = kind {
        for link in before.state.software.get().into_iter().flatten().filter(|l| l.kind == kind) {
            changes.push(Change::AddSoftwareLink {
                name: software_name(kind, &link.netdev, before)
                    .unwrap_or_else(|| format!("{kind}_{}", link.netdev)),
                kind,
                netdev: link.netdev.clone(),
            });
        }
    }

    if module == "rdma_cm" {
        changes.extend(settings::of_subsystem(module, before));
    } else if kind.is_some() || !drivers.is_empty() {
        changes.extend(settings::of_devices(before, |device| {
            kind.is_some() && device.software == kind || served(device, drivers, before)
        }));
    }
    changes
}

/// As the kernel's parser wants a value with spaces (`next_arg`); `modprobe` passes quotes on.
fn quoted(value: &str) -> String {
    let spaces = value.contains(char::is_whitespace) && !value.contains('"');
    if spaces { format!("\"{value}\"") } else { value.to_owned() }
}

pub(super) fn add_software_link(
    name: &str,
    kind: Software,
    netdev: &str,
    before: &Facts,
) -> Vec<Change> {
    if before.state.software.get().is_none() {
        return Vec::new();
    }
    let mut changes =
        vec![Change::RemoveSoftwareLink { kind, netdev: netdev.to_owned(), name: name.to_owned() }];
    changes.extend(load(kind.module(), before));
    changes
}

pub(super) fn remove_software_link(
    kind: Software,
    netdev: &str,
    name: &str,
    before: &Facts,
) -> Vec<Change> {
    if before.state.software.get().is_none() {
        return Vec::new();
    }
    let name = software_name(kind, netdev, before).unwrap_or_else(|| name.to_owned());
    let mut changes = vec![Change::AddSoftwareLink { name, kind, netdev: netdev.to_owned() }];
    changes.extend(settings::of_devices(before, |device| {
        device.software == Some(kind) && is_on(device, netdev)
    }));
    changes
}

fn module_state<'a>(module: &str, before: &'a Facts) -> Option<&'a ModuleState> {
    before.state.modules.get(module)?.get()
}

fn software_name(kind: Software, netdev: &str, before: &Facts) -> Option<String> {
    let devices = before.identity.rdma.get()?;
    let found = devices.iter().find(|(_, d)| d.software == Some(kind) && is_on(d, netdev));
    found.map(|(name, _)| name.clone())
}

/// Whether the device belongs to a port of one of these network drivers.
fn served(device: &RdmaDevice, drivers: &[&str], before: &Facts) -> bool {
    let netdevs = before.identity.netdevs.get();
    netdevs.into_iter().flatten().any(|(name, netdev)| {
        let same = is_on(device, name) || (device.bdf.is_some() && device.bdf == netdev.bdf);
        same && netdev.driver.as_deref().is_some_and(|driver| drivers.contains(&driver))
    })
}
