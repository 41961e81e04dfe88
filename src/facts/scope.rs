//! How much a look reads: the union of what the judged claims ask for.

use std::collections::BTreeSet;
use std::net::IpAddr;

/// What a look has to read. The default reads links, addresses and the RDMA devices
/// without their GIDs: what every command needs and what costs next to nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Modules whose state in `/sys/module` is read.
    pub modules: BTreeSet<String>,
    /// What describes ports and modules, explains a verdict and is needed to undo a change: routes (a
    /// router has a million), speed, NUMA node, virtual functions,
    /// firmware, GUIDs, rates, builds and holders of modules, whether modules may be loaded, privilege.
    pub details: bool,
    /// Modules whose file on disk is opened.
    pub module_files: BTreeSet<String>,
    /// GID tables.
    pub gids: GidScan,
    /// devlink parameters of every device (netlink).
    pub devlink: bool,
    /// Driver and firmware versions per netdev (an ioctl each).
    pub drivers: bool,
    /// Configfs settings of rdma_cm and irdma.
    pub configfs: bool,
    /// Who uses RDMA devices: `/proc/*/fd`, RDMA netlink resources, mounts, VFs.
    pub users: bool,
    /// Provider files, library files and device nodes.
    pub userspace: bool,
    /// The device list of the verbs library (opens it).
    pub verbs: bool,
    /// Default routes, the caller's SSH session, network file systems.
    pub lifelines: bool,
}

/// How far GID tables are read. Software devices have 1,024 slots, so a full scan is not free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GidScan {
    /// Not at all.
    #[default]
    None,
    /// Until these addresses have been found in the table of a port, or its end.
    Until(BTreeSet<IpAddr>),
    /// Every slot.
    All,
}

impl Scope {
    /// Everything there is to read.
    pub fn everything(modules: impl IntoIterator<Item = String>) -> Scope {
        let modules: BTreeSet<String> = modules.into_iter().collect();
        Scope {
            module_files: modules.clone(),
            modules,
            details: true,
            gids: GidScan::All,
            devlink: true,
            drivers: true,
            configfs: true,
            users: true,
            userspace: true,
            verbs: true,
            lifelines: true,
        }
    }

    /// The union of two scopes.
    #[must_use]
    pub fn and(mut self, other: Scope) -> Scope {
        self.modules.extend(other.modules);
        self.module_files.extend(other.module_files);
        self.gids = match (self.gids, other.gids) {
            (GidScan::All, _) | (_, GidScan::All) => GidScan::All,
            (GidScan::Until(mut a), GidScan::Until(b)) => {
                a.extend(b);
                GidScan::Until(a)
            }
            (GidScan::None, one) | (one, GidScan::None) => one,
        };
        self.details |= other.details;
        self.devlink |= other.devlink;
        self.drivers |= other.drivers;
        self.configfs |= other.configfs;
        self.users |= other.users;
        self.userspace |= other.userspace;
        self.verbs |= other.verbs;
        self.lifelines |= other.lifelines;
        self
    }
}
