//! Software RDMA devices: rxe and siw (`nldev_newlink`, `nldev_dellink`).

use nix::errno::Errno;

use super::devices::{self, Birth};
use super::machine::Machine;
use super::modules;
use super::refusal::{known, need_net_admin, refuse};
use crate::facts::{NetdevKind, Protocol, SoftwareLink};
use crate::host::ActError;
use crate::values::Software;

pub(super) fn add(
    machine: &mut Machine,
    name: &str,
    kind: Software,
    netdev: &str,
) -> Result<(), ActError> {
    let call = format!("rdma link add {name} type {kind} netdev {netdev}");
    need_net_admin(machine, &call)?;
    // ib_device_check_mandatory and nla_strscpy: IB_DEVICE_NAME_MAX with its terminator.
    if name.is_empty() || name.len() > 63 {
        return Err(refuse(call, Errno::EINVAL));
    }
    let Some(below) = machine.netdev(netdev) else {
        return Err(refuse(call, Errno::ENODEV));
    };
    let vlan = below.kind == NetdevKind::Virtual("vlan".to_owned());
    let link = SoftwareLink { netdev: netdev.to_owned(), kind };
    if known(&call, &mut machine.facts.state.software)?.contains(&link) {
        return Err(refuse(call, Errno::EEXIST));
    }
    if kind == Software::Rxe && vlan {
        // rxe_newlink.
        return Err(refuse(call, Errno::EPERM));
    }
    if known(&call, &mut machine.facts.identity.rdma)?.contains_key(name) {
        // assign_name.
        return Err(refuse(call, Errno::ENFILE));
    }
    // request_module("rdma-link-%s"), which needs no CAP_SYS_MODULE; EINVAL when nothing answered.
    if machine.is_loaded(kind.module()) == Some(false)
        && modules::insert(machine, kind.module(), &Default::default()).is_err()
    {
        return Err(refuse(call, Errno::EINVAL));
    }
    if let Some(links) = machine.facts.state.software.get_mut() {
        links.insert(link);
    }
    let protocol = match kind {
        Software::Rxe => Protocol::Roce,
        Software::Siw => Protocol::Iw,
    };
    devices::create(
        machine,
        Birth { name, netdev, protocol: Some(protocol), software: Some(kind) },
    );
    Ok(())
}

pub(super) fn remove(machine: &mut Machine, kind: Software, netdev: &str) -> Result<(), ActError> {
    let call = format!("rdma link delete ({kind} on {netdev})");
    need_net_admin(machine, &call)?;
    let link = SoftwareLink { netdev: netdev.to_owned(), kind };
    if !known(&call, &mut machine.facts.state.software)?.remove(&link) {
        return Err(refuse(call, Errno::ENODEV));
    }
    for name in devices::devices_on(machine, netdev, Some(kind)) {
        devices::destroy(machine, &name);
    }
    Ok(())
}

/// The module of a kind was removed: `rmmod rdma_rxe` takes its devices along in silence.
pub(super) fn remove_all(machine: &mut Machine, kind: Software) {
    let Some(links) = machine.facts.state.software.get_mut() else {
        return;
    };
    let gone: Vec<SoftwareLink> = links.iter().filter(|link| link.kind == kind).cloned().collect();
    links.retain(|link| link.kind != kind);
    for link in gone {
        for name in devices::devices_on(machine, &link.netdev, Some(kind)) {
            devices::destroy(machine, &name);
        }
    }
}
