//! Configfs of rdma_cm (`drivers/infiniband/core/cma_configfs.c`) and of Intel's irdma.

use nix::errno::Errno;

use super::machine::Machine;
use super::refusal::{known, need_root, refuse};
use crate::facts::{Configfs, Protocol, Seen};
use crate::host::ActError;

const MODE: &str = "default_roce_mode";
const TOS: &str = "default_roce_tos";
const V1: &str = "IB/RoCE v1";
const V2: &str = "RoCE v2";

pub(super) fn make(machine: &mut Machine, path: &str) -> Result<(), ActError> {
    let call = format!("mkdir /sys/kernel/config/{path}");
    need_root(machine, &call)?;
    let (parent, name) = match path.split_once('/') {
        // The top level belongs to the subsystems' modules.
        None => return Err(refuse(call, Errno::EPERM)),
        Some((parent, name)) => (parent, name),
    };
    let entries = known(&call, &mut machine.facts.state.configfs)?;
    if entries.contains_key(path) {
        return Err(refuse(call, Errno::EEXIST));
    }
    if name.contains('/') {
        // Below a device the kernel makes all directories by itself.
        let above = path.rsplit_once('/').is_some_and(|(above, _)| entries.contains_key(above));
        return Err(refuse(call, if above { Errno::EPERM } else { Errno::ENOENT }));
    }
    if !has_subsystem(machine, parent) {
        return Err(refuse(call, Errno::ENOENT));
    }
    let device = machine.facts.identity.rdma.get().and_then(|devices| devices.get(name));
    if parent == "rdma_cm" && device.is_none() {
        // make_cma_dev.
        return Err(refuse(call, Errno::ENODEV));
    }
    let entries = known(&call, &mut machine.facts.state.configfs)?;
    entries.insert(path.to_owned(), None);
    if parent == "rdma_cm" {
        fill(machine, name);
    }
    Ok(())
}

/// Whether the module that registers this directory is there. Where that is not known, it is.
fn has_subsystem(machine: &Machine, subsystem: &str) -> bool {
    match subsystem {
        "rdma_cm" => machine.is_loaded("rdma_cm") != Some(false),
        // The kernel's own irdma has no settings there, and no parameters either.
        "irdma" => {
            let irdma = machine.facts.state.modules.get("irdma").and_then(Seen::get);
            irdma.is_some_and(|irdma| irdma.loaded && irdma.parameters.contains_key("roce_ena"))
        }
        _ => false,
    }
}

pub(super) fn remove(machine: &mut Machine, path: &str) -> Result<(), ActError> {
    let call = format!("rmdir /sys/kernel/config/{path}");
    need_root(machine, &call)?;
    let entries = known(&call, &mut machine.facts.state.configfs)?;
    match entries.get(path) {
        None => return Err(refuse(call, Errno::ENOENT)),
        Some(Some(_)) => return Err(refuse(call, Errno::ENOTDIR)),
        // Only what a user made can be removed.
        Some(None) if path.split('/').count() != 2 => return Err(refuse(call, Errno::EPERM)),
        Some(None) => {}
    }
    // The settings live in the device, not in the directory that shows them.
    let inside = format!("{path}/");
    let shown: Configfs = take(entries, |other| other == path || other.starts_with(&inside));
    machine.settings.extend(shown.into_iter().filter(|(_, value)| value.is_some()));
    Ok(())
}

pub(super) fn write(machine: &mut Machine, path: &str, value: &str) -> Result<(), ActError> {
    let call = format!("write {value} to /sys/kernel/config/{path}");
    need_root(machine, &call)?;
    let name = path.split('/').nth(1).unwrap_or_default();
    let device = machine.facts.identity.rdma.get().and_then(|devices| devices.get(name));
    let roce = device.map(|device| device.protocol.get() == Some(&Protocol::Roce));
    let entries = known(&call, &mut machine.facts.state.configfs)?;
    let directory = entries.contains_key(&format!("rdma_cm/{name}"));
    let current = match entries.get_mut(path) {
        Some(Some(current)) => current,
        Some(None) => return Err(refuse(call, Errno::EISDIR)),
        None if directory => return Err(refuse(call, Errno::ENODEV)),
        None => return Err(refuse(call, Errno::ENOENT)),
    };
    let value = value.trim();
    let stored = match path.rsplit('/').next() {
        // cma_set_default_gid_type: a device takes the types that it can have.
        Some(MODE) if value == V1 || value == V2 && roce == Some(true) => value.to_owned(),
        Some(TOS) if value.parse::<u8>().is_ok() => value.to_owned(),
        Some(MODE | TOS) => return Err(refuse(call, Errno::EINVAL)),
        _ => value.to_owned(),
    };
    *current = stored;
    Ok(())
}

/// Fills a device's directory, if there is one, with its settings or the kernel's defaults.
pub(super) fn fill(machine: &mut Machine, name: &str) {
    let Some(device) = machine.facts.identity.rdma.get().and_then(|rdma| rdma.get(name)) else {
        return;
    };
    let mode = if device.protocol.get() == Some(&Protocol::Roce) { V2 } else { V1 };
    let ports: Vec<u32> = device.ports.keys().copied().collect();
    let directory = format!("rdma_cm/{name}");
    let Some(entries) = machine.facts.state.configfs.get_mut() else {
        return;
    };
    if !entries.contains_key(&directory) {
        return;
    }
    entries.insert(format!("{directory}/ports"), None);
    for port in ports {
        entries.insert(format!("{directory}/ports/{port}"), None);
        for (file, default) in [(MODE, mode), (TOS, "0")] {
            let path = format!("{directory}/ports/{port}/{file}");
            let value = machine.settings.remove(&path).flatten();
            entries.insert(path, Some(value.unwrap_or_else(|| default.to_owned())));
        }
    }
}

/// The device has gone, and its settings with it. Its directory stays; reading a file in it gives
/// ENODEV (`cma_configfs_params_get`).
pub(super) fn forget(machine: &mut Machine, name: &str) {
    let inside = format!("rdma_cm/{name}/");
    machine.settings.retain(|path, _| !path.starts_with(&inside));
    if let Some(entries) = machine.facts.state.configfs.get_mut() {
        entries.retain(|path, value| value.is_none() || !path.starts_with(&inside));
    }
}

/// A subsystem's module was removed.
pub(super) fn unregister(machine: &mut Machine, subsystem: &str) {
    let inside = format!("{subsystem}/");
    machine.settings.retain(|path, _| !path.starts_with(&inside));
    if let Some(entries) = machine.facts.state.configfs.get_mut() {
        entries.retain(|path, _| !path.starts_with(&inside));
    }
}

fn take(entries: &mut Configfs, goes: impl Fn(&str) -> bool) -> Configfs {
    let (gone, kept) =
        std::mem::take(entries).into_iter().partition(|(path, _): &(String, _)| goes(path));
    *entries = kept;
    gone
}
