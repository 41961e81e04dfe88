//! What may change by itself: names, indices, states.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::Seen;
use crate::values::{Bdf, MacAddr, Software};

/// Network and RDMA devices as they are named and numbered at this moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Network interfaces by name, loopback included.
    #[serde(default)]
    pub netdevs: Seen<BTreeMap<String, Netdev>>,
    /// RDMA devices by name.
    #[serde(default)]
    pub rdma: Seen<BTreeMap<String, RdmaDevice>>,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Netdev {
    /// Kernel index.
    pub index: u32,
    /// What it is.
    #[serde(default)]
    pub kind: NetdevKind,
    /// Hardware address in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac: Option<MacAddr>,
    /// Hardware address burnt in (IFLA_PERM_ADDRESS); old kernels do not report it.
    #[serde(default)]
    pub permanent_mac: Seen<MacAddr>,
    /// The first PCI device above it: the function for a NIC, the virtio PCI device for virtio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bdf: Option<Bdf>,
    /// The driver bound to that PCI device (`ice`), or to the device itself where there is no PCI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Carrier; reading it fails with EINVAL while the link is administratively down.
    #[serde(default)]
    pub carrier: Seen<bool>,
    /// Speed in Mb/s. With details.
    #[serde(default)]
    pub speed_mbps: Seen<u32>,
    /// The device that this one is enslaved to (bond, bridge).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub master: Option<String>,
    /// The device below a VLAN or macvlan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// NUMA node of the PCI device; the kernel's -1 is unknown.
    #[serde(default)]
    pub numa_node: Seen<u32>,
    /// A virtual function (it has a `physfn`).
    #[serde(default)]
    pub is_vf: bool,
    /// Virtual functions configured on it (`sriov_numvfs`).
    #[serde(default)]
    pub vfs: u32,
}

impl Netdev {
    /// True for a bond.
    pub fn is_bond(&self) -> bool {
        matches!(&self.kind, NetdevKind::Virtual(kind) if kind == "bond")
    }

    /// True for a member of a bond.
    pub fn in_bond(&self, facts: &super::Facts) -> bool {
        let all = facts.identity.netdevs.get();
        let master = self.master.as_ref().and_then(|master| all?.get(master));
        master.is_some_and(Netdev::is_bond)
    }
}

/// What kind of interface this is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetdevKind {
    /// A device of its own.
    #[default]
    Physical,
    /// `lo`.
    Loopback,
    /// InfiniBand (IPoIB).
    Ipoib,
    /// A virtual device of this rtnetlink kind: `vlan`, `bond`, `bridge`, `dummy`, `veth`, ...
    Virtual(String),
}

/// An RDMA device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RdmaDevice {
    /// `/sys/class/infiniband/<dev>/node_type`.
    #[serde(default)]
    pub node_type: Seen<NodeType>,
    /// Protocol as RDMA netlink names it (RDMA_NLDEV_ATTR_DEV_PROTOCOL).
    #[serde(default)]
    pub protocol: Seen<Protocol>,
    /// PCI device; none for a software device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bdf: Option<Bdf>,
    /// Software device of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software: Option<Software>,
    /// Node GUID as the kernel prints it.
    #[serde(default)]
    pub node_guid: Seen<String>,
    /// Firmware version of the RDMA function.
    #[serde(default)]
    pub firmware: Seen<String>,
    /// The verbs character device (`uverbs0`), none when the kernel has not made one.
    #[serde(default)]
    pub uverbs: Seen<Option<String>>,
    /// Ports by number, from 1.
    #[serde(default, deserialize_with = "numbered")]
    pub ports: BTreeMap<u32, RdmaPort>,
}

/// A map by number from a format whose keys are texts: below the tag of [`Seen`], serde takes them
/// for texts only.
fn numbered<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<u32, T>, D::Error> {
    let parse = |(key, value): (String, T)| match key.parse() {
        Ok(number) => Ok((number, value)),
        Err(_) => Err(D::Error::custom(format!("`{key}` is not a port number"))),
    };
    BTreeMap::<String, T>::deserialize(deserializer)?.into_iter().map(parse).collect()
}

/// A port of an RDMA device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RdmaPort {
    /// The network interface of this port; none for an InfiniBand port without IPoIB.
    #[serde(default)]
    pub netdev: Seen<Option<String>>,
    /// `Ethernet` (RoCE and iWARP) or `InfiniBand`.
    #[serde(default)]
    pub link_layer: Seen<String>,
    /// Logical state.
    #[serde(default)]
    pub state: Seen<PortState>,
    /// Physical state as the kernel prints it (`LinkUp`, `Disabled`, `Polling`).
    #[serde(default)]
    pub physical_state: Seen<String>,
    /// Rate as the kernel prints it (`100 Gb/sec (4X EDR)`).
    #[serde(default)]
    pub rate: Seen<String>,
    /// GIDs that were read, in the order of their index.
    #[serde(default)]
    pub gids: Seen<Vec<Gid>>,
}

/// A filled slot of a GID table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gid {
    /// Slot; moves after a flap, so it is never stored.
    pub index: u32,
    /// The GID; IPv4 addresses are mapped (`::ffff:100.0.1.10`).
    pub gid: Ipv6Addr,
    /// Type as the kernel prints it in `gid_attrs/types`.
    pub kind: GidType,
    /// The interface that the GID came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub netdev: Option<String>,
}

impl Gid {
    /// The address that this GID stands for.
    pub fn address(&self) -> IpAddr {
        self.gid.to_ipv4_mapped().map_or(IpAddr::V6(self.gid), IpAddr::V4)
    }
}

/// Type of a GID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GidType {
    /// `IB/RoCE v1`: InfiniBand, RoCE v1, and what an iWARP device reports.
    IbRoceV1,
    /// `RoCE v2`.
    RoceV2,
}

/// Node type of an RDMA device (`enum rdma_node_type` of the kernel).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeType {
    /// 1: channel adapter, InfiniBand or RoCE.
    Ca,
    /// 2: InfiniBand switch.
    Switch,
    /// 3: InfiniBand router.
    Router,
    /// 4: RDMA NIC, which means iWARP.
    Rnic,
    /// Another one (usNIC, EFA and the like), by its number.
    Other(u32),
}

/// Protocol of an RDMA device as RDMA netlink names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// `ib`.
    Ib,
    /// `roce`.
    Roce,
    /// `iw`.
    Iw,
    /// Something else (`usnic`, `opa`).
    Other,
}

/// Logical state of a port (`enum ib_port_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PortState {
    /// 1
    Down,
    /// 2: no subnet manager has configured the port.
    Init,
    /// 3
    Armed,
    /// 4: traffic can flow.
    Active,
    /// 5
    Defer,
}

impl std::fmt::Display for PortState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PortState::Down => "DOWN",
            PortState::Init => "INIT",
            PortState::Armed => "ARMED",
            PortState::Active => "ACTIVE",
            PortState::Defer => "ACTIVE_DEFER",
        })
    }
}
