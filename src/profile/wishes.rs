//! What a profile asks of one host: the value that the claims are built from.
//!
//! Everything here has been checked by the parser; lists that run parallel to `hosts` are already
//! resolved to the entry of the one host.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use crate::values::{
    Bdf, InterfaceName, IpPrefix, LinkState, MacAddr, Mode, ModuleName, Mtu, PathMtu,
    RdmaDeviceName, Software, VersionReq,
};

use super::expect::{Expectation, TestName};

/// The part of a profile that is meant for one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostProfile {
    /// Name of the profile.
    pub name: Option<String>,
    /// This host as the profile writes it; `None` if the profile has no `hosts`.
    pub host: Option<String>,
    /// Index of this host in `hosts`, from 0.
    pub position: Option<usize>,
    /// All hosts of the profile, in its order.
    pub hosts: Vec<String>,
    /// Modules in the order of the profile.
    pub modules: Vec<ModuleWish>,
    /// Interfaces in the order of the profile.
    pub interfaces: Vec<InterfaceWish>,
    /// The smoke test, where the profile has one.
    pub smoke: Option<SmokeWish>,
}

/// A module that must be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleWish {
    /// Name with `_`, as in `/sys/module`.
    pub name: ModuleName,
    /// What `/sys/module/<name>/version` must satisfy; an in-kernel driver has no such file.
    pub version: Option<VersionReq>,
    /// Values as the kernel takes them, by the parameter's name with `_`: `1`, `on`, `0x3`.
    pub parameters: BTreeMap<String, String>,
    /// Line of the entry in the profile, from 1.
    pub line: u32,
}

/// What one interface must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InterfaceWish {
    /// How the interface is found.
    pub selector: Selector,
    /// Administrative state; a profile that says nothing leaves it, but RDMA needs it up.
    pub state: Option<LinkState>,
    /// MTU of the netdev.
    pub mtu: Option<Mtu>,
    /// IPv4 addresses that must be there.
    pub ipv4: Vec<IpPrefix>,
    /// IPv6 addresses that must be there.
    pub ipv6: Vec<IpPrefix>,
    /// What becomes of other IPv4 addresses.
    pub other_ipv4: OtherAddresses,
    /// What becomes of other IPv6 addresses.
    pub other_ipv6: OtherAddresses,
    /// The RDMA side; `None` if the profile does not speak of it.
    pub rdma: Option<RdmaWish>,
    /// Line of the entry in the profile, from 1.
    pub line: u32,
}

impl InterfaceWish {
    /// IPv4 addresses, then IPv6 addresses.
    pub fn addresses(&self) -> impl Iterator<Item = IpPrefix> + '_ {
        self.ipv4.iter().chain(&self.ipv6).copied()
    }
}

/// How an interface is found: exactly one of the host must fit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selector {
    /// By its name.
    Name(InterfaceName),
    /// By its PCI address.
    Pci(Bdf),
    /// By the address burnt into the card.
    PermanentMac(MacAddr),
    /// By the driver bound to the port and the function number of its PCI address.
    #[serde(rename_all = "kebab-case")]
    DriverFunction {
        /// Driver as the `driver` link of the PCI device names it: `ice`.
        driver: String,
        /// Last digit of the PCI address, 0 to 7.
        pci_function: u8,
    },
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Name(name) => name.fmt(f),
            Selector::Pci(bdf) => write!(f, "the port at PCI {bdf}"),
            Selector::PermanentMac(mac) => write!(f, "the port with permanent MAC {mac}"),
            Selector::DriverFunction { driver, pci_function } => {
                write!(f, "the {driver} port of PCI function {pci_function}")
            }
        }
    }
}

/// What becomes of addresses that the profile does not name. Link-local and DHCP addresses are
/// kept in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherAddresses {
    /// They stay.
    #[default]
    Keep,
    /// They are removed.
    Remove,
}

/// The RDMA side of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RdmaWish {
    /// What the port must speak.
    pub mode: Mode,
    /// Path MTU of the port; raises the netdev's MTU if that is too low, never lowers it.
    pub path_mtu: Option<PathMtu>,
    /// A software device is to be made on this netdev.
    pub software: Option<Software>,
    /// Name of the software device.
    pub name: Option<RdmaDeviceName>,
}

/// The smoke test of this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SmokeWish {
    /// TCP port of the control connection; rdma_cm listens on the next one, because soft iWARP
    /// takes a TCP socket for it.
    pub port: u16,
    /// One entry for each interface of the profile with an `rdma` section, in order.
    pub links: Vec<SmokeLink>,
    /// Which tests, in order.
    pub tests: Vec<TestName>,
    /// Message sizes in bytes, ascending.
    pub sizes: Vec<u64>,
    /// How long to wait for the peer.
    pub wait: Duration,
    /// How long a responder stays for a peer that comes later.
    pub linger: Option<Duration>,
    /// What the results must be.
    pub expect: Vec<Expectation>,
}

impl SmokeWish {
    /// The control port of a profile that names none. It is not perftest's 18515, so that a
    /// forgotten `ib_read_bw` does not answer.
    pub const PORT: u16 = 18630;
    /// The tests of a profile that names none.
    pub const TESTS: [TestName; 4] =
        [TestName::WriteLat, TestName::ReadLat, TestName::WriteBw, TestName::ReadBw];
    /// The sizes of a profile that names none, in bytes.
    pub const SIZES: [u64; 2] = [2, 65536];
    /// The largest message, 8 MiB.
    pub const LARGEST: u64 = 8 << 20;
    /// How long to wait for the peer if the profile does not say.
    pub const WAIT: Duration = Duration::from_secs(60);
}

/// One interface of the smoke test and who is at its other end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SmokeLink {
    /// Index in [`HostProfile::interfaces`].
    pub interface: usize,
    /// The other end; `None` when this host is nobody's partner here: it is itself the host or
    /// address that the profile names.
    pub peer: Option<Peer>,
    /// In a ring of more than two hosts: who connects to this host, beside the peer that this
    /// host connects to.
    pub caller: Option<Peer>,
}

/// The other end of a smoke test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Peer {
    /// This host itself.
    Loopback,
    /// An address that the profile gives.
    Address(IpAddr),
    /// Another host of the profile.
    Host {
        /// The host as the profile writes it.
        name: String,
        /// Its addresses on the same interface, IPv4 first; never empty.
        addresses: Vec<IpAddr>,
    },
}

impl Peer {
    /// Addresses to connect to, the preferred first; empty for loopback.
    pub fn addresses(&self) -> &[IpAddr] {
        match self {
            Peer::Loopback => &[],
            Peer::Address(address) => std::slice::from_ref(address),
            Peer::Host { addresses, .. } => addresses,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::Loopback => f.write_str("loopback"),
            Peer::Address(address) => address.fmt(f),
            Peer::Host { name, .. } => f.write_str(name),
        }
    }
}
