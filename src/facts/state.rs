//! What a change can set: compared before and after by rollback.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Serialize};

use super::Seen;
use crate::values::{IpPrefix, Software};

/// The part of a host that changes can set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Modules that were asked for, by name.
    #[serde(default)]
    pub modules: BTreeMap<String, Seen<ModuleState>>,
    /// Network interfaces by name.
    #[serde(default)]
    pub links: Seen<BTreeMap<String, LinkState>>,
    /// Unicast routes that an address or a link takes along when it goes: those that the kernel
    /// did not make itself (protocol other than `kernel`), outside the local table.
    #[serde(default)]
    pub routes: Seen<BTreeSet<Route>>,
    /// devlink parameters by device handle (`pci/0000:02:00.0`).
    #[serde(default)]
    pub devlink: BTreeMap<String, Seen<DevlinkParams>>,
    /// Software RDMA devices. Their names are identity: they may come back under another one.
    #[serde(default)]
    pub software: Seen<BTreeSet<SoftwareLink>>,
    /// Configfs settings of `rdma_cm` and `irdma`: path below `/sys/kernel/config` to value.
    /// A directory has the value `None`.
    #[serde(default)]
    pub configfs: Seen<Configfs>,
}

/// Paths below `/sys/kernel/config`; a file has a value, a directory none.
pub type Configfs = BTreeMap<String, Option<String>>;

/// Boolean devlink parameters: name to (cmode: `runtime`, `driverinit`, `permanent`) to value.
/// Parameters of other types are not read: none of them chooses a mode.
pub type DevlinkParams = BTreeMap<String, BTreeMap<String, bool>>;

/// A kernel module as `/sys/module` shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleState {
    /// Loaded, or built into the kernel.
    pub loaded: bool,
    /// Readable files of `/sys/module/<name>/parameters`, as the kernel prints them. Empty for a
    /// module without parameters, and for one that is not loaded.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
}

/// A network interface's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkState {
    /// Set up by the administrator (IFF_UP); says nothing about carrier.
    pub up: bool,
    /// MTU in bytes.
    pub mtu: u32,
    /// Addresses of both families.
    #[serde(default)]
    pub addresses: BTreeSet<Address>,
}

/// An address of an interface with what is needed to put it back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// Address and prefix length.
    pub prefix: IpPrefix,
    /// Given by DHCP or router advertisement: it has a lifetime (no IFA_F_PERMANENT).
    #[serde(default)]
    pub dynamic: bool,
    /// The peer's address on a point-to-point link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<IpAddr>,
    /// IPv4 broadcast address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast: Option<Ipv4Addr>,
    /// IPv4 label other than the interface's name (`ens1f0:1`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Scope as in rtnetlink: 0 global, 253 link, 254 host.
    #[serde(default)]
    pub scope: u8,
    /// Without the subnet's route (IFA_F_NOPREFIXROUTE).
    #[serde(default)]
    pub no_prefix_route: bool,
}

impl Address {
    /// A plain, permanent, global address.
    pub fn plain(prefix: IpPrefix) -> Address {
        Address {
            prefix,
            dynamic: false,
            peer: None,
            broadcast: None,
            label: None,
            scope: 0,
            no_prefix_route: false,
        }
    }

    /// fe80::/10 or 169.254/16: made by the kernel or zeroconf, never the profile's business.
    pub fn is_link_local(&self) -> bool {
        match self.prefix.ip() {
            IpAddr::V4(ip) => ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unicast_link_local(),
        }
    }
}

/// A route that is not the kernel's own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Outgoing interface.
    pub netdev: String,
    /// Destination; length 0 is the default route.
    pub destination: IpPrefix,
    /// Next hop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<IpAddr>,
    /// Preferred source address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// Routing table, 254 is main.
    pub table: u32,
    /// Metric; 0 when absent.
    #[serde(default)]
    pub metric: u32,
    /// Who made it, as in rtnetlink (3 boot, 4 static, 16 dhcp, ...).
    pub protocol: u8,
    /// Scope as in rtnetlink: 0 universe, 253 link.
    #[serde(default)]
    pub scope: u8,
}

/// A software RDMA device on a network interface.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftwareLink {
    /// The interface below it.
    pub netdev: String,
    /// rxe or siw.
    pub kind: Software,
}

impl std::fmt::Display for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.destination)?;
        if let Some(gateway) = self.gateway {
            write!(f, " via {gateway}")?;
        }
        write!(f, " dev {}", self.netdev)?;
        if self.table != 254 {
            write!(f, " table {}", self.table)?;
        }
        Ok(())
    }
}
