//! This machine: the facts from sysfs, procfs, netlink and files, the changes through the kernel.
//!
//! One file a topic. sysfs, procfs and ioctl come first and netlink completes them, so that an old
//! kernel still gets an answer. Looking starts no program, makes no directory and avoids every call
//! that could load a module.

mod act;
mod addresses;
mod configfs;
mod deadline;
mod devlink;
mod ethtool;
#[cfg(test)]
mod fixture;
mod gids;
mod lifelines;
mod links;
mod modprobe;
mod module_files;
mod modules;
mod mounts;
mod netdevs;
mod netlink;
mod nldev;
mod rdma;
mod rtnetlink;
mod system;
mod tree;
mod users;
mod userspace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{Act, ActError, Look, LookError};
use crate::change::Change;
use crate::facts::{
    Evidence, FORMAT, Facts, GidScan, Identity, NodeType, RdmaDevice, Scope, Seen, State,
    VerbsDevice,
};
use crate::verbs;
use links::Links;
use netlink::Refusal;
use rdma::Held;
use tree::{Tree, words};

/// Where the parts of the file system are. Tests put a tree of their own in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// `/sys`
    pub sys: PathBuf,
    /// `/proc`
    pub proc: PathBuf,
    /// `/dev`
    pub dev: PathBuf,
    /// `/etc`
    pub etc: PathBuf,
    /// `/lib/modules`
    pub modules: PathBuf,
    /// `/`, to which the absolute paths of `ld.so.conf` are relative.
    pub library_root: PathBuf,
    /// The dynamic loader's own directories, after those of `ld.so.conf`.
    pub libraries: Vec<PathBuf>,
}

/// The loader's directories on the distributions that matter, in its order.
const LIBRARIES: [&str; 7] = [
    "lib/x86_64-linux-gnu",
    "usr/lib/x86_64-linux-gnu",
    "lib/aarch64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "lib64",
    "usr/lib64",
    "usr/lib",
];

impl Roots {
    /// The usual layout below a directory: `/` for this machine.
    pub fn below(root: impl Into<PathBuf>) -> Roots {
        let root = root.into();
        Roots {
            sys: root.join("sys"),
            proc: root.join("proc"),
            dev: root.join("dev"),
            etc: root.join("etc"),
            modules: root.join("lib/modules"),
            libraries: LIBRARIES.iter().map(|directory| root.join(directory)).collect(),
            library_root: root,
        }
    }
}

/// This machine.
#[derive(Debug)]
pub struct Linux {
    roots: Roots,
    sys: Tree,
    proc: Tree,
    /// Netlink and ioctls; a tree of files alone is looked at without them.
    kernel: bool,
    start: Instant,
}

impl Default for Linux {
    fn default() -> Linux {
        Linux::new()
    }
}

impl Linux {
    /// The machine that this program runs on.
    pub fn new() -> Linux {
        Linux::at(Roots::below("/"), true)
    }

    /// A machine as a tree of files, without netlink: what a 3.10 kernel without its families shows.
    pub fn files(roots: Roots) -> Linux {
        Linux::at(roots, false)
    }

    fn at(roots: Roots, kernel: bool) -> Linux {
        let sys = Tree::new(&roots.sys, "/sys");
        let proc = Tree::new(&roots.proc, "/proc");
        Linux { roots, sys, proc, kernel, start: Instant::now() }
    }

    fn links(&self) -> Result<Links, String> {
        if self.kernel {
            match rtnetlink::tables() {
                Ok(tables) => {
                    let mut links = links::decode(&tables);
                    netdevs::complete(&self.sys, &mut links.netdevs);
                    return Ok(links);
                }
                Err(refusal) => return Err(refusal.why),
            }
        }
        Err("not asked: only files are looked at".to_owned())
    }

    /// Interfaces, their settings and routes, from rtnetlink or without it.
    fn read_links(&self, facts: &mut Facts) -> Links {
        let why = match self.links() {
            Ok(links) => {
                facts.identity.netdevs = Seen::known(links.netdevs.clone(), links::SOURCE);
                facts.state.links = Seen::known(links.states.clone(), links::SOURCE);
                facts.state.routes = Seen::known(links.routes.clone(), links::SOURCE);
                return links;
            }
            Err(why) => why,
        };
        facts.state.routes = Seen::unknown(why.clone(), links::SOURCE);
        let source = self.sys.name("class/net");
        match netdevs::fallback(&self.sys) {
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

    fn read_rdma(&self, scope: &Scope, links: &Links, facts: &mut Facts) {
        let held = matches!(scope.gids, GidScan::Until(_))
            .then(|| held(links))
            .filter(|held| !held.is_empty() && self.kernel);
        let ask = |names| {
            if self.kernel { nldev::devices(names) } else { Err(no_netlink()) }
        };
        facts.identity.rdma = rdma::devices(&self.sys, &scope.gids, held.as_ref(), &ask);
        facts.state.software = rdma::software(&facts.identity.rdma);
    }

    fn read_devlink(&self, links: &Links, facts: &mut Facts) {
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

    fn read_evidence(&self, scope: &Scope, links: &Links, facts: &mut Facts) {
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

impl Look for Linux {
    fn look(&self, scope: &Scope) -> Result<Facts, LookError> {
        let mut facts = Facts {
            format: FORMAT,
            host: system::host(&self.proc),
            state: State::default(),
            identity: Identity::default(),
            evidence: Evidence {
                kernel_release: system::release(&self.proc),
                modules_disabled: system::modules_disabled(&self.proc),
                lockdown: system::lockdown(&self.sys),
                privilege: system::privilege(&self.proc),
                ..Evidence::default()
            },
        };
        for name in &scope.modules {
            let (state, build) = modules::read(&self.sys, name);
            facts.state.modules.insert(name.clone(), state);
            facts.evidence.builds.insert(name.clone(), build);
        }
        facts.evidence.module_files = module_files::read(
            &self.roots.modules,
            &facts.evidence.kernel_release,
            &scope.module_files,
        );
        let links = self.read_links(&mut facts);
        self.read_rdma(scope, &links, &mut facts);
        if scope.devlink {
            self.read_devlink(&links, &mut facts);
        }
        if scope.configfs {
            facts.state.configfs = configfs::read(&self.sys, &self.proc);
        }
        self.read_evidence(scope, &links, &mut facts);
        Ok(facts)
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

impl Act for Linux {
    fn act(&self, change: &Change) -> Result<(), ActError> {
        act::act(change, &self.roots)
    }
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
