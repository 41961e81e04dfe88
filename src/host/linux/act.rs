//! Changes of this machine, each through the one interface that the kernel has for it.

use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use nix::kmod::{DeleteModuleFlags, delete_module};

use super::deadline::{CHANGE, within};
use super::netlink::Refusal;
use super::tree::{Tree, errno_words, words};
use super::{Roots, addresses, devlink, modprobe, nldev, rdma};
use crate::change::Change;
use crate::facts::{RdmaDevice, Scope};
use crate::host::ActError;
use crate::values::Software;

/// Carries out one change.
pub(crate) fn act(change: &Change, roots: &Roots) -> Result<(), ActError> {
    match change {
        Change::LoadModule { module, parameters } => modprobe::load(module, parameters),
        Change::RemoveModule { module } => remove_module(module),
        Change::SetDevlink { device, parameter, cmode, value } => {
            let call = format!(
                "devlink dev param set {device} name {parameter} value {value} cmode {cmode}"
            );
            refused(call, devlink::set(device, parameter, cmode, *value))
        }
        Change::SetLink { netdev, up } => {
            let call = format!("rtnetlink: set {netdev} {}", if *up { "up" } else { "down" });
            refused(call, addresses::set_link(netdev, *up))
        }
        Change::SetMtu { netdev, mtu } => {
            refused(format!("rtnetlink: set {netdev} mtu {mtu}"), addresses::set_mtu(netdev, *mtu))
        }
        Change::AddAddress { netdev, address } => refused(
            format!("rtnetlink: add {} to {netdev}", address.prefix),
            addresses::add_address(netdev, address),
        ),
        Change::RemoveAddress { netdev, address } => refused(
            format!("rtnetlink: remove {} from {netdev}", address.prefix),
            addresses::remove_address(netdev, address),
        ),
        Change::AddRoute { route } => {
            refused(format!("rtnetlink: add route {route}"), addresses::add_route(route))
        }
        Change::RemoveRoute { route } => {
            refused(format!("rtnetlink: remove route {route}"), addresses::remove_route(route))
        }
        Change::AddSoftwareLink { name, kind, netdev } => refused(
            format!("RDMA netlink: add {name} type {kind} netdev {netdev}"),
            nldev::add_link(name, *kind, netdev),
        ),
        Change::RemoveSoftwareLink { kind, netdev, name } => refused(
            format!("RDMA netlink: remove the {kind} device of {netdev} (last seen as {name})"),
            remove_software_link(*kind, netdev, roots),
        ),
        Change::MakeConfigfs { path } => {
            configfs("mkdir", roots, path, |place| fs::create_dir(place))
        }
        Change::RemoveConfigfs { path } => {
            configfs("rmdir", roots, path, |place| fs::remove_dir(place))
        }
        Change::WriteConfigfs { path, value } => {
            let line = format!("{value}\n");
            // One write is one setting; the file is never made.
            configfs("write", roots, path, move |place| {
                fs::OpenOptions::new().write(true).open(place)?.write_all(line.as_bytes())
            })
        }
    }
}

fn refused(call: String, answer: Result<(), Refusal>) -> Result<(), ActError> {
    answer.map_err(|Refusal { errno, why }| ActError { call, errno, why })
}

/// `delete_module` removes this module alone; `modprobe -r` would take those below it along, and with
/// `ice` all interfaces.
fn remove_module(module: &str) -> Result<(), ActError> {
    let call = format!("delete_module {module}");
    let Ok(name) = std::ffi::CString::new(module.replace('-', "_")) else {
        let why = "a module name has no NUL".to_owned();
        return Err(ActError { call, errno: Some(libc::EINVAL), why });
    };
    match within(CHANGE, move || delete_module(&name, DeleteModuleFlags::O_NONBLOCK)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(errno)) => {
            Err(ActError { call, errno: Some(errno as i32), why: errno_words(errno as i32) })
        }
        Err(late) => Err(ActError { call, errno: None, why: late.to_string() }),
    }
}

/// Looks the device up anew: its name may have changed since the plan was made.
fn remove_software_link(kind: Software, netdev: &str, roots: &Roots) -> Result<(), Refusal> {
    let sys = Tree::new(&roots.sys, "/sys");
    let seen = rdma::devices(&sys, &Scope::default(), None, &nldev::devices);
    let Some(devices) = seen.get() else {
        return Err(Refusal::said(seen.why_not()));
    };
    let on_netdev = |device: &RdmaDevice| {
        let on = |name: &Option<String>| name.as_deref() == Some(netdev);
        device.software == Some(kind)
            && device.ports.values().any(|port| port.netdev.get().is_some_and(on))
    };
    let Some((name, _)) = devices.iter().find(|(_, device)| on_netdev(device)) else {
        return Err(Refusal::of(
            libc::ENODEV,
            Some(format!("there is no {kind} device on {netdev}")),
        ));
    };
    match nldev::devices(Vec::new())?.get(name) {
        Some(device) => nldev::remove_link(device.index),
        None => Err(Refusal::of(libc::ENODEV, Some(format!("{name} has gone")))),
    }
}

/// One operation on a path below the mounted configfs, which cannot leave it.
fn configfs(
    verb: &str,
    roots: &Roots,
    path: &str,
    operate: impl FnOnce(&Path) -> io::Result<()> + Send + 'static,
) -> Result<(), ActError> {
    let call = format!("{verb} /sys/kernel/config/{path}");
    if path.is_empty()
        || !Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
    {
        let why = "the path leads out of configfs".to_owned();
        return Err(ActError { call, errno: Some(libc::EINVAL), why });
    }
    let root = roots.sys.join("kernel/config");
    // Without the mount, the directory is there and empty, and every path below it "does not exist".
    if fs::read_dir(&root).is_ok_and(|mut entries| entries.next().is_none()) {
        let why = "configfs is not mounted, or no module offers settings (mount -t configfs none /sys/kernel/config)";
        return Err(ActError { call, errno: Some(libc::ENOENT), why: why.to_owned() });
    }
    let place: PathBuf = root.join(path);
    match within(CHANGE, move || operate(&place)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(ActError { call, errno: error.raw_os_error(), why: words(&error) }),
        Err(late) => Err(ActError { call, errno: None, why: late.to_string() }),
    }
}
