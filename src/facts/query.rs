//! Questions that several claims ask of the facts: which port, which RDMA device, which mode.

use super::{
    Facts, GidType, LinkState, ModuleState, Netdev, NetdevKind, NodeType, Protocol, RdmaDevice,
    Seen,
};
use crate::profile::Selector;
use crate::values::{Mode, Software};

/// What a profile's selector finds on a host. Exactly one port must fit.
#[derive(Clone, Debug, PartialEq)]
pub enum PortLookup<'a> {
    /// This one.
    One(&'a str, &'a Netdev),
    /// None fits.
    None {
        /// The host's ports, for the message: `ens1f0 (0000:02:00.0, ice), ...`, or `none`.
        candidates: String,
    },
    /// Several fit: their names.
    Many(Vec<String>),
    /// It cannot be told: why, with the source.
    Unknown(String),
}

impl Facts {
    /// Finds the port that a profile means. A selector by hardware means ports, so it passes over
    /// VLANs, bonds and other virtual interfaces; a name may be any interface's.
    pub fn find_port(&self, selector: &Selector) -> PortLookup<'_> {
        let Some(netdevs) = self.identity.netdevs.get() else {
            return PortLookup::Unknown(self.identity.netdevs.why_not());
        };
        let mut unknown = None;
        let fitting: Vec<(&str, &Netdev)> = netdevs
            .iter()
            .map(|(name, netdev)| (name.as_str(), netdev))
            .filter(|(name, netdev)| match selector {
                Selector::Name(wanted) => *name == wanted.as_str(),
                Selector::Pci(wanted) => is_port(netdev) && netdev.bdf == Some(*wanted),
                Selector::DriverFunction { driver, pci_function } => {
                    is_port(netdev)
                        && netdev.driver.as_deref() == Some(driver)
                        && netdev.bdf.is_some_and(|bdf| bdf.function == *pci_function)
                }
                Selector::PermanentMac(_) if !is_port(netdev) => false,
                Selector::PermanentMac(wanted) => match (&netdev.permanent_mac, &netdev.master) {
                    (Seen::Known { value, .. }, _) => value == wanted,
                    // Old kernels do not tell it. Only a bond gives a port another address than its own.
                    (_, None) => netdev.mac == Some(*wanted),
                    (why, Some(_)) => {
                        unknown = Some(format!(
                            "the permanent MAC of {name} is unknown: {}",
                            why.why_not()
                        ));
                        false
                    }
                },
            })
            .collect();
        match fitting.as_slice() {
            [(name, netdev)] => PortLookup::One(name, netdev),
            [] => unknown
                .map_or_else(|| PortLookup::None { candidates: self.ports() }, PortLookup::Unknown),
            many => PortLookup::Many(many.iter().map(|(name, _)| (*name).to_owned()).collect()),
        }
    }

    /// The host's ports for a message: `ens1f0 (0000:02:00.0, ice), ens1f1 (0000:02:00.1, ice)`.
    pub fn ports(&self) -> String {
        let netdevs = self.identity.netdevs.get().into_iter().flatten();
        let ports: Vec<String> = netdevs
            .filter(|(_, netdev)| is_port(netdev))
            .map(|(name, netdev)| {
                let details: Vec<String> = netdev
                    .bdf
                    .iter()
                    .map(ToString::to_string)
                    .chain(netdev.driver.clone())
                    .collect();
                if details.is_empty() {
                    name.clone()
                } else {
                    format!("{name} ({})", details.join(", "))
                }
            })
            .collect();
        if ports.is_empty() { "none".to_owned() } else { ports.join(", ") }
    }

    /// The interface below a VLAN or macvlan, at the bottom; any other interface itself.
    pub fn lowest<'a>(&'a self, netdev: &'a str) -> &'a str {
        let netdevs = self.identity.netdevs.get();
        let mut lowest = netdev;
        // A VLAN on a VLAN is as deep as it gets; a loop of parents ends here.
        for _ in 0..4 {
            let known = netdevs.and_then(|netdevs| netdevs.get(lowest));
            match known.and_then(|known| known.parent.as_deref()) {
                Some(parent) => lowest = parent,
                None => break,
            }
        }
        lowest
    }

    /// RDMA devices of an interface, with the port number. A VLAN has those of the port below it, a
    /// bond those of its members. Those of the preferred software kind come first; else hardware does.
    pub fn rdma_of(&self, netdev: &str, prefer: Option<Software>) -> Vec<(&str, &RdmaDevice, u32)> {
        let mut names = vec![netdev];
        if let Some(netdevs) = self.identity.netdevs.get() {
            let lowest = self.lowest(netdev);
            names.push(lowest);
            if netdevs.get(lowest).is_some_and(Netdev::is_bond) {
                let members =
                    netdevs.iter().filter(|(_, known)| known.master.as_deref() == Some(lowest));
                names.extend(members.map(|(name, _)| name.as_str()));
            }
        }
        let mut found: Vec<(&str, &RdmaDevice, u32)> = self
            .identity
            .rdma
            .get()
            .into_iter()
            .flatten()
            .flat_map(|(name, device)| {
                device.ports.iter().map(move |(number, port)| (name, device, *number, port))
            })
            .filter(|(_, _, _, port)| {
                port.netdev
                    .get()
                    .is_some_and(|on| on.as_deref().is_some_and(|on| names.contains(&on)))
            })
            .map(|(name, device, number, _)| (name.as_str(), device, number))
            .collect();
        found.sort_by_key(|(_, device, _)| match prefer {
            Some(_) => device.software != prefer,
            None => device.software.is_some(),
        });
        found
    }

    /// An interface's settings; `Ok(None)` when there is no such interface.
    ///
    /// # Errors
    /// Why the links are not known.
    pub fn link(&self, netdev: &str) -> Result<Option<&LinkState>, String> {
        match self.state.links.get() {
            Some(links) => Ok(links.get(netdev)),
            None => Err(self.state.links.why_not()),
        }
    }

    /// A module's state; none when it was not asked for or could not be read.
    pub fn module(&self, name: &str) -> Option<&ModuleState> {
        self.state.modules.get(name)?.get()
    }

    /// A devlink parameter; none when the device does not have it or it could not be read.
    pub fn devlink_param(&self, handle: &str, name: &str, cmode: &str) -> Option<bool> {
        self.state.devlink.get(handle)?.get()?.get(name)?.get(cmode).copied()
    }

    /// The mode that a port of an RDMA device is really in; see [`RdmaDevice::mode`].
    pub fn mode_of(&self, device: &str, port: u32) -> Seen<Mode> {
        match &self.identity.rdma {
            Seen::Known { value, source } => match value.get(device) {
                Some(known) => known.mode(port),
                None => Seen::unknown(format!("there is no RDMA device {device}"), source.clone()),
            },
            other => not_known(other),
        }
    }
}

/// The reason why one reading is not known, as the reason for another.
fn not_known<T, U>(seen: &Seen<T>) -> Seen<U> {
    match seen {
        Seen::Unknown { why, source } => Seen::unknown(why.clone(), source.clone()),
        Seen::NotAsked => Seen::NotAsked,
        Seen::Known { source, .. } => Seen::unknown("it decides nothing", source.clone()),
    }
}

/// An interface of its own, of Ethernet or InfiniBand.
fn is_port(netdev: &Netdev) -> bool {
    matches!(netdev.kind, NetdevKind::Physical | NetdevKind::Ipoib)
}

impl RdmaDevice {
    /// The mode that a port is really in. The node type tells iWARP, the link layer InfiniBand, the
    /// types of the GIDs the version of RoCE. Link layer and GID type alone lie: iWARP has Ethernet
    /// and GIDs of type `IB/RoCE v1`. Sources that contradict each other are unknown.
    ///
    /// While there is no GID (link down, no address) or none was read, RoCE counts as RoCEv2, which
    /// every current device has; the source says so.
    pub fn mode(&self, port: u32) -> Seen<Mode> {
        let contradiction = |why: &str| {
            Seen::unknown(why, format!("{}; {}", self.node_type.source(), self.protocol.source()))
        };
        // RDMA netlink speaks of the first port; the ports of an old ConnectX may differ.
        let protocol = self.protocol.get().filter(|_| port <= 1);
        match (self.node_type.get(), protocol) {
            (Some(NodeType::Rnic), Some(Protocol::Roce | Protocol::Ib)) => {
                return contradiction(
                    "node_type says RNIC (iWARP), the protocol is RoCE or InfiniBand",
                );
            }
            (Some(NodeType::Ca), Some(Protocol::Iw)) => {
                return contradiction(
                    "node_type says CA (RoCE or InfiniBand), the protocol is iWARP",
                );
            }
            (Some(NodeType::Rnic), _) => return Seen::known(Mode::Iwarp, self.node_type.source()),
            (None, Some(Protocol::Iw)) => return Seen::known(Mode::Iwarp, self.protocol.source()),
            (Some(NodeType::Switch | NodeType::Router | NodeType::Other(_)), _)
            | (_, Some(Protocol::Other)) => {
                return contradiction("neither InfiniBand, RoCE nor iWARP");
            }
            (None, None) => return not_known(&self.node_type),
            (Some(NodeType::Ca), _) | (None, Some(_)) => {}
        }
        let Some(known) = self.ports.get(&port) else {
            return Seen::unknown(
                format!("the device has no port {port}"),
                self.node_type.source(),
            );
        };
        let layer = known.link_layer.get().map(String::as_str);
        match (layer, protocol) {
            (Some("InfiniBand"), Some(Protocol::Roce)) | (Some("Ethernet"), Some(Protocol::Ib)) => {
                Seen::unknown(
                    "link layer and protocol contradict each other",
                    format!("{}; {}", known.link_layer.source(), self.protocol.source()),
                )
            }
            (Some("InfiniBand"), _) => Seen::known(Mode::Infiniband, known.link_layer.source()),
            (None, Some(Protocol::Ib)) => Seen::known(Mode::Infiniband, self.protocol.source()),
            (Some("Ethernet"), _) | (None, Some(Protocol::Roce)) => roce(self, port),
            _ => not_known(&known.link_layer),
        }
    }
}

/// Which RoCE an Ethernet CA makes, by the types of its GIDs.
fn roce(device: &RdmaDevice, port: u32) -> Seen<Mode> {
    let gids = device.ports.get(&port).map(|port| &port.gids);
    let types = |seen: &Seen<_>| format!("{}; types in gid_attrs", seen.source());
    match gids {
        Some(seen @ Seen::Known { value, .. }) if !value.is_empty() => {
            let v2 = value.iter().any(|gid| gid.kind == GidType::RoceV2);
            Seen::known(if v2 { Mode::RoceV2 } else { Mode::RoceV1 }, types(seen))
        }
        Some(Seen::Known { source, .. }) => Seen::known(
            Mode::RoceV2,
            format!("{} (RoCE; {source} is empty yet)", device.node_type.source()),
        ),
        // rxe has no other; of hardware, what the GIDs would tell is not guessed.
        Some(Seen::Unknown { why, source }) if device.software.is_none() => Seen::unknown(
            format!("RoCE, and its GIDs would tell which version: {why}"),
            source.clone(),
        ),
        _ => Seen::known(
            Mode::RoceV2,
            format!("{} (RoCE; GIDs not asked)", device.node_type.source()),
        ),
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
