//! Interfaces that this host must not lose: its way out, the caller's session, its file systems.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::links::Path;
use super::mounts::Mount;
use super::tree::Tree;
use crate::facts::{Lifeline, LinkState, Netdev};

type Lifelines = BTreeMap<String, BTreeSet<Lifeline>>;

/// Finds them among the interfaces of this look.
pub(crate) fn find(
    proc: &Tree,
    mounts: &[Mount],
    netdevs: &BTreeMap<String, Netdev>,
    states: &BTreeMap<String, LinkState>,
    paths: &[Path],
) -> Lifelines {
    let mut found = Lifelines::new();
    let mut add = |netdev: String, reason: Lifeline| {
        found.entry(netdev).or_default().insert(reason);
    };
    for path in paths.iter().filter(|path| path.destination.length() == 0) {
        add(path.netdev.clone(), Lifeline::DefaultRoute);
    }
    if let Some((client, server)) = ssh_session(proc) {
        // Behind a translated address, the way back to the client is the interface.
        let carriers = holders(states, server);
        let carriers =
            if carriers.is_empty() { carriers_of(states, paths, client) } else { carriers };
        for netdev in carriers {
            add(netdev, Lifeline::SshSession(server.to_string()));
        }
    }
    for mount in mounts.iter().filter(|mount| mount.over_network()) {
        for address in mount.addresses() {
            for netdev in carriers_of(states, paths, address) {
                add(netdev, Lifeline::Mount(mount.at.clone()));
            }
        }
    }
    found.remove("lo");
    spread(&mut found, netdevs);
    found
}

/// What a bond, bridge or VLAN carries, the interfaces below it carry as well.
fn spread(found: &mut Lifelines, netdevs: &BTreeMap<String, Netdev>) {
    // Each round goes one layer down; there are not more layers than interfaces.
    for _ in 0..netdevs.len() {
        let before = found.clone();
        for (name, netdev) in netdevs {
            if let Some(reasons) = netdev.master.as_ref().and_then(|master| before.get(master)) {
                found.entry(name.clone()).or_default().extend(reasons.iter().cloned());
            }
            if let (Some(parent), Some(reasons)) = (&netdev.parent, before.get(name)) {
                found.entry(parent.clone()).or_default().extend(reasons.iter().cloned());
            }
        }
        if *found == before {
            break;
        }
    }
}

/// Interfaces that have this address.
fn holders(states: &BTreeMap<String, LinkState>, ip: IpAddr) -> Vec<String> {
    states
        .iter()
        .filter(|(_, state)| state.addresses.iter().any(|address| address.prefix.ip() == ip))
        .map(|(name, _)| name.clone())
        .collect()
}

/// Interfaces over which packets to this address leave: those that hold it, else the longest prefix
/// among subnets and routes.
fn carriers_of(states: &BTreeMap<String, LinkState>, paths: &[Path], ip: IpAddr) -> Vec<String> {
    let held = holders(states, ip);
    if !held.is_empty() {
        return held;
    }
    let subnets = states.iter().flat_map(|(name, state)| {
        state.addresses.iter().map(move |address| (name, address.prefix))
    });
    let ways: Vec<_> = subnets
        .chain(paths.iter().map(|path| (&path.netdev, path.destination)))
        .filter(|(_, prefix)| prefix.contains(ip))
        .collect();
    let longest = ways.iter().map(|(_, prefix)| prefix.length()).max();
    let mut names: Vec<String> = ways
        .into_iter()
        .filter(|(_, prefix)| Some(prefix.length()) == longest)
        .map(|(name, _)| name.clone())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Client and server address of the SSH session that this process was started from. `sudo` drops the
/// variable, so the environments of the parents are looked through where they can be read.
fn ssh_session(proc: &Tree) -> Option<(IpAddr, IpAddr)> {
    let mut pid = "self".to_owned();
    for _ in 0..16 {
        if let Ok(environment) = proc.text(&format!("{pid}/environ"))
            && let Some(session) =
                environment.split('\0').find_map(|entry| entry.strip_prefix("SSH_CONNECTION="))
        {
            let mut words = session.split(' ');
            let client = address(words.next()?)?;
            let server = address(words.nth(1)?)?;
            return Some((client, server));
        }
        let status = proc.text(&format!("{pid}/status")).ok()?;
        pid = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().to_owned();
        if pid == "0" {
            return None;
        }
    }
    None
}

/// An address as sshd writes it: with a scope for link-local ones, IPv4 perhaps mapped.
fn address(text: &str) -> Option<IpAddr> {
    let ip: IpAddr = text.split('%').next()?.parse().ok()?;
    Some(ip.to_canonical())
}

#[cfg(test)]
#[path = "lifelines_tests.rs"]
mod tests;
