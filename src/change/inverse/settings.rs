//! Configfs and devlink: settings that an RDMA device or its driver loses when it goes.

use std::collections::BTreeSet;

use crate::change::Change;
use crate::facts::{Facts, RdmaDevice};
use crate::values::Bdf;

/// Subsystems of configfs with a directory per RDMA device.
const SUBSYSTEMS: [&str; 2] = ["rdma_cm", "irdma"];

/// The old value of a devlink parameter and the configfs settings of the devices behind it.
pub(super) fn devlink(device: &str, parameter: &str, cmode: &str, before: &Facts) -> Vec<Change> {
    let old = before
        .state
        .devlink
        .get(device)
        .and_then(|shown| shown.get()?.get(parameter)?.get(cmode).copied());
    let Some(value) = old else { return Vec::new() };
    let mut changes = vec![Change::SetDevlink {
        device: device.to_owned(),
        parameter: parameter.to_owned(),
        cmode: cmode.to_owned(),
        value,
    }];
    let netdevs = before.identity.netdevs.get();
    let is_behind = |bdf: Bdf| device.strip_prefix("pci/") == Some(bdf.to_string().as_str());
    let ports: Vec<&String> = netdevs
        .into_iter()
        .flatten()
        .filter(|(_, netdev)| netdev.bdf.is_some_and(is_behind))
        .map(|(name, _)| name)
        .collect();
    changes.extend(of_devices(before, |rdma| {
        rdma.bdf.is_some_and(is_behind) || ports.iter().any(|port| is_on(rdma, port))
    }));
    changes
}

/// devlink values of the ports of these network drivers. What is off comes first: ice refuses to
/// switch one protocol on while the other is.
pub(super) fn devlink_of_drivers(drivers: &[&str], before: &Facts) -> Vec<Change> {
    let Some(netdevs) = before.identity.netdevs.get() else {
        return Vec::new();
    };
    let handles: BTreeSet<String> = netdevs
        .values()
        .filter(|netdev| netdev.driver.as_deref().is_some_and(|driver| drivers.contains(&driver)))
        .filter_map(|netdev| netdev.bdf.map(|bdf| format!("pci/{bdf}")))
        .collect();
    let mut changes = Vec::new();
    for wanted in [false, true] {
        for (device, shown) in before.state.devlink.iter().filter(|(d, _)| handles.contains(*d)) {
            for (parameter, values) in shown.get().into_iter().flatten() {
                // Other cmodes take effect at a reload or a power cycle, so no module change touches them.
                if values.get("runtime") == Some(&wanted) {
                    changes.push(Change::SetDevlink {
                        device: device.clone(),
                        parameter: parameter.clone(),
                        cmode: "runtime".to_owned(),
                        value: wanted,
                    });
                }
            }
        }
    }
    changes
}

/// The configfs settings of the RDMA devices that `goes` picks; of all when it is not known which
/// devices there are.
pub(super) fn of_devices(before: &Facts, goes: impl Fn(&RdmaDevice) -> bool) -> Vec<Change> {
    let devices = before.identity.rdma.get();
    restore(before, |path| {
        let Some(name) = device_of(path) else {
            return false;
        };
        match devices {
            Some(devices) => devices.get(name).is_some_and(&goes),
            None => true,
        }
    })
}

/// All settings of one subsystem of configfs.
pub(super) fn of_subsystem(subsystem: &str, before: &Facts) -> Vec<Change> {
    restore(before, |path| path.split('/').next() == Some(subsystem))
}

/// A directory of configfs with the settings in it.
pub(super) fn below(path: &str, before: &Facts) -> Vec<Change> {
    let inside = format!("{path}/");
    restore(before, |other| other == path || other.starts_with(&inside))
}

/// A file's old value.
pub(super) fn old_value(path: &str, before: &Facts) -> Vec<Change> {
    let shown = before.state.configfs.get().and_then(|entries| entries.get(path)?.clone());
    shown.map(|value| Change::WriteConfigfs { path: path.to_owned(), value }).into_iter().collect()
}

/// Whether a port of this device is that of an interface.
pub(super) fn is_on(device: &RdmaDevice, netdev: &str) -> bool {
    let mut ports = device.ports.values();
    ports.any(|port| port.netdev.get().and_then(|name| name.as_deref()) == Some(netdev))
}

fn device_of(path: &str) -> Option<&str> {
    let mut parts = path.split('/');
    let subsystem = parts.next()?;
    SUBSYSTEMS.contains(&subsystem).then(|| parts.next()).flatten()
}

/// Directories first. Only those of a device are made: the kernel makes the ones below by itself
/// (`make_cma_dev`), and the subsystem's own belongs to its module.
fn restore(before: &Facts, wanted: impl Fn(&str) -> bool) -> Vec<Change> {
    let Some(entries) = before.state.configfs.get() else {
        return Vec::new();
    };
    let chosen = || entries.iter().filter(|(path, _)| wanted(path));
    let directories = chosen()
        .filter(|(path, value)| value.is_none() && path.split('/').count() == 2)
        .map(|(path, _)| Change::MakeConfigfs { path: path.clone() });
    let files = chosen().filter_map(|(path, value)| {
        value.clone().map(|value| Change::WriteConfigfs { path: path.clone(), value })
    });
    directories.chain(files).collect()
}
