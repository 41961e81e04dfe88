//! What a look reads beyond single files, topic by topic, and how one reading leads to the next.

use std::collections::{BTreeMap, BTreeSet};

use super::links::Links;
use super::netlink::Refusal;
use super::rdma::Held;
use super::tree::words;
use super::{
    Linux, deadline, devlink, ethtool, lifelines, links, mounts, netdevs, nldev, rdma, rtnetlink,
    users, userspace,
};
use crate::facts::{Facts, GidScan, NodeType, RdmaDevice, Scope, Seen, VerbsDevice};
use crate::verbs;

impl Linux {
    fn links(&self, scope: &Scope) -> Result<Links, String> {
        if self.kernel {
            match rtnetlink::tables(scope.details || scope.lifelines) {
                Ok(tables) => {
                    let mut links = links::decode(&tables);
                    netdevs::complete(&self.sys, scope.details, &mut links.netdevs);
                    return Ok(links);
                }
                Err(refusal) => return Err(refusal.why),
            }
        }
        Err("not asked: only files are looked at".to_owned())
    }

    /// Interfaces, their settings and routes, from rtnetlink or without it.
    pub(super) fn read_links(&self, scope: &Scope, facts: &mut Facts) -> Links {
        let why = match self.links(scope) {
            Ok(links) => {
                facts.identity.netdevs = Seen::known(links.netdevs.clone(), links::SOURCE);
                facts.state.links = Seen::known(links.states.clone(), links::SOURCE);
                if let Some(routes) = &links.routes {
                    facts.state.routes = Seen::known(routes.clone(), links::SOURCE);
                }
                return links;
            }
            Err(why) => why,
        };
        facts.state.routes = Seen::unknown(why.clone(), links::SOURCE);
        let source = self.sys.name("class/net");
        match netdevs::fallback(&self.sys, scope.details) {
            Ok((netdevs, mut states)) => {
                facts.identity.netdevs = Seen::known(netdevs.clone(), source.clone());
                let addresses =
                    if self.kernel { netdevs::add_addresses(&mut states) } else { Ok(()) };
                facts.state.links = match addresses {
                    Ok(()) => Seen::known(
                        states.clone(),
                        format!("{source} and getifaddrs (rtnetlink: {why})"),
                    ),
                    Err(error) => Seen::unknown(words(&error), "getifaddrs"),
                };
                Links { netdevs, states, ..Links::default() }
            }
            Err(error) => {
                facts.identity.netdevs = Seen::unknown(words(&error), source.clone());
                facts.state.links = Seen::unknown(words(&error), source);
                Links::default()
            }
        }
    }

    pub(super) fn read_rdma(&self, scope: &Scope, links: &Links, facts: &mut Facts) {
        let held = matches!(scope.gids, GidScan::Until(_))
            .then(|| held(links))
            .filter(|held| !held.is_empty() && self.kernel);
        let ask = |names| {
            if self.kernel { nldev::devices(names) } else { Err(no_netlink()) }
        };
        facts.identity.rdma = rdma::devices(&self.sys, scope, held.as_ref(), &ask);
        facts.state.software = rdma::software(&facts.identity.rdma);
    }

    pub(super) fn read_devlink(&self, links: &Links, facts: &mut Facts) {
        let functions = links.netdevs.values().filter_map(|netdev| netdev.bdf);
        let rdma = facts
            .identity
            .rdma
            .get()
            .into_iter()
            .flat_map(BTreeMap::values)
            .filter_map(|device| device.bdf);
        let handles: BTreeSet<String> =
            functions.chain(rdma).map(|bdf| format!("pci/{bdf}")).collect();
        facts.state.devlink = if self.kernel {
            devlink::parameters(&handles)
        } else {
            let why = no_netlink().why;
            handles
                .into_iter()
                .map(|handle| (handle, Seen::unknown(why.clone(), "devlink")))
                .collect()
        };
    }

    pub(super) fn read_evidence(&self, scope: &Scope, links: &Links, facts: &mut Facts) {
        let evidence = &mut facts.evidence;
        if scope.drivers && self.kernel {
            evidence.drivers = ethtool::drivers(links.netdevs.keys()).into_iter().collect();
        }
        if scope.users {
            let ask = || {
                if self.kernel { nldev::kernel_users() } else { Err(no_netlink()) }
            };
            evidence.users =
                users::read(&self.proc, std::process::id(), &facts.identity.rdma, &ask);
        }
        if scope.userspace {
            evidence.userspace = userspace::read(&self.roots);
        }
        if scope.verbs {
            evidence.verbs = verbs_devices(&facts.identity.rdma);
        }
        if scope.lifelines {
            evidence.lifelines = match (&facts.state.routes, mounts::read(&self.proc)) {
                (Seen::Known { .. }, Ok(mounts)) => {
                    let found = lifelines::find(
                        &self.proc,
                        &mounts,
                        &links.netdevs,
                        &links.states,
                        &links.paths,
                    );
                    Seen::known(found, "routes, SSH_CONNECTION, /proc/self/mountinfo")
                }
                (Seen::Known { .. }, Err(error)) => {
                    Seen::unknown(words(&error), self.proc.name("self/mountinfo"))
                }
                (routes, _) => Seen::unknown(routes.why_not(), "routes"),
            };
        }
    }
}

/// The library's own list, in a thread that can be left behind: it opens plug-ins and the kernel's nodes.
fn verbs_devices(kernel: &Seen<BTreeMap<String, RdmaDevice>>) -> Seen<Vec<VerbsDevice>> {
    const SOURCE: &str = "libibverbs (ibv_get_device_list)";
    // Opening the library on a host without RDMA could have udev or the library load modules.
    if kernel.get().is_some_and(BTreeMap::is_empty) {
        return Seen::known(Vec::new(), kernel.source());
    }
    match deadline::within(deadline::READ, verbs::list_devices) {
        Ok(Ok(devices)) => {
            let devices = devices.into_iter().map(|device| VerbsDevice {
                node_type: match device.node_type.as_str() {
                    "CA" => NodeType::Ca,
                    "switch" => NodeType::Switch,
                    "router" => NodeType::Router,
                    "RNIC" => NodeType::Rnic,
                    other => NodeType::Other(
                        other
                            .bytes()
                            .filter(u8::is_ascii_digit)
                            .fold(0, |number, digit| number * 10 + u32::from(digit - b'0')),
                    ),
                },
                name: device.name,
            });
            Seen::known(devices.collect(), SOURCE)
        }
        Ok(Err(error)) => Seen::unknown(error.to_string(), SOURCE),
        Err(late) => Seen::unknown(late.to_string(), SOURCE),
    }
}

fn no_netlink() -> Refusal {
    Refusal::said("not asked: only files are looked at")
}

/// Addresses by interface, with those of the VLANs, bonds and bridges above it: a GID of a port stands
/// for one of these.
fn held(links: &Links) -> Held {
    let mut held: Held = links
        .states
        .iter()
        .map(|(name, state)| {
            (name.clone(), state.addresses.iter().map(|address| address.prefix.ip()).collect())
        })
        .collect();
    // Two rounds: a VLAN on a bond on a port.
    for _ in 0..2 {
        let before = held.clone();
        for (name, netdev) in &links.netdevs {
            if let (Some(parent), Some(above)) = (&netdev.parent, before.get(name)) {
                held.entry(parent.clone()).or_default().extend(above);
            }
            if let Some(above) = netdev.master.as_ref().and_then(|master| before.get(master)) {
                held.entry(name.clone()).or_default().extend(above);
            }
        }
    }
    held
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
