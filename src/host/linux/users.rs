//! Who uses RDMA devices: processes with a character device open, kernel modules with queue pairs or
//! connections, mounts over RDMA.
//!
//! The kernel's reference counts say nothing: a driver that supports disassociation can be removed
//! under a running job. A scan that could not see everything is unknown, never "nobody".

use std::collections::BTreeMap;
use std::io::ErrorKind;

use super::netlink::Refusal;
use super::tree::{Tree, words};
use crate::facts::{KernelUser, ProcessUser, RdmaDevice, Seen, Users};

/// Scans. `own` is this process, `kernel` asks RDMA netlink.
pub(crate) fn read(
    proc: &Tree,
    own: u32,
    devices: &Seen<BTreeMap<String, RdmaDevice>>,
    kernel: &dyn Fn() -> Result<Vec<KernelUser>, Refusal>,
) -> Seen<Users> {
    let mut users = Users::default();
    match processes(proc, own, devices) {
        Ok(found) => users.processes = found,
        Err((why, source)) => return Seen::unknown(why, source),
    }
    // Without an RDMA device there is nothing that the kernel could use, and asking could load ib_core.
    if devices.get().is_none_or(|devices| !devices.is_empty()) {
        match kernel() {
            Ok(found) => users.kernel = found,
            Err(refusal) => {
                return Seen::unknown(
                    refusal.why,
                    "RDMA netlink (kernel-owned queue pairs and connections)",
                );
            }
        }
    }
    match super::mounts::read(proc) {
        Ok(mounts) => {
            users.mounts = mounts
                .iter()
                .filter(|mount| mount.over_rdma())
                .map(|mount| format!("{} ({})", mount.at, mount.options))
                .collect();
        }
        Err(error) => return Seen::unknown(words(&error), proc.name("self/mountinfo")),
    }
    Seen::known(users, proc.name("*/fd, RDMA netlink, mounts"))
}

type Failure = (String, String);

fn processes(
    proc: &Tree,
    own: u32,
    devices: &Seen<BTreeMap<String, RdmaDevice>>,
) -> Result<Vec<ProcessUser>, Failure> {
    let names = proc.names("").map_err(|error| (words(&error), proc.name("")))?;
    let mut pids: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    pids.sort_unstable();
    // With hidepid=2 the processes of others are not even listed.
    if pids.first() != Some(&1) {
        return Err((
            "process 1 is hidden, so others may be too (run as root)".to_owned(),
            proc.name(""),
        ));
    }
    let mut found = Vec::new();
    for pid in pids.into_iter().filter(|pid| *pid != own) {
        let place = format!("{pid}/fd");
        let descriptors = match proc.names(&place) {
            Ok(descriptors) => descriptors,
            Err(error) if gone(&error) => continue,
            Err(error) => {
                let hint =
                    if error.kind() == ErrorKind::PermissionDenied { " (run as root)" } else { "" };
                let why = format!("cannot read {}: {}{hint}", proc.name(&place), words(&error));
                return Err((why, proc.name("*/fd")));
            }
        };
        let mut nodes: Vec<String> = descriptors
            .iter()
            .filter_map(|descriptor| proc.link(&format!("{place}/{descriptor}")))
            .filter_map(|target| rdma_node(&target.to_string_lossy()))
            .collect();
        nodes.sort();
        nodes.dedup();
        if nodes.is_empty() {
            continue;
        }
        let command = proc.optional(&format!("{pid}/comm")).unwrap_or_else(|| "?".to_owned());
        found.extend(nodes.into_iter().map(|node| ProcessUser {
            pid,
            command: command.clone(),
            device: device_behind(&node, devices),
            node,
        }));
    }
    Ok(found)
}

/// A process that ended while it was looked at.
fn gone(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// The node, if a descriptor's target is one of `/dev/infiniband/{uverbsN,rdma_cm}`, also one whose
/// file has been removed since.
fn rdma_node(target: &str) -> Option<String> {
    let path = target.strip_suffix(" (deleted)").unwrap_or(target);
    let file = path.rsplit('/').next()?;
    let uverbs = file.strip_prefix("uverbs").is_some_and(|number| number.parse::<u32>().is_ok());
    (path.starts_with('/') && (uverbs || file == "rdma_cm")).then(|| path.to_owned())
}

fn device_behind(node: &str, devices: &Seen<BTreeMap<String, RdmaDevice>>) -> Option<String> {
    let file = node.rsplit('/').next()?;
    devices
        .get()?
        .iter()
        .find(|(_, device)| {
            device.uverbs.get().is_some_and(|uverbs| uverbs.as_deref() == Some(file))
        })
        .map(|(name, _)| name.clone())
}

#[cfg(test)]
#[path = "users_tests.rs"]
mod tests;
