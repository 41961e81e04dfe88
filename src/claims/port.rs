//! A port of the profile, found anew in every look.

use crate::facts::{Facts, GidType, Netdev, PortLookup, PortState, RdmaDevice, RdmaPort};
use crate::profile::{InterfaceWish, Selector};
use crate::values::Software;

use super::{Judgement, Subject};

/// A port as the profile names it. Names and devices are resolved at every judgement, because
/// they may change between two looks.
#[derive(Clone, Debug)]
pub struct Port {
    /// What the profile says of it.
    pub wish: InterfaceWish,
}

impl Port {
    /// The subject of this port's claims.
    pub fn subject(&self) -> Subject {
        Subject::Port(self.wish.selector.to_string())
    }

    /// How the profile finds it.
    pub fn selector(&self) -> &Selector {
        &self.wish.selector
    }

    /// The software kind that the profile asks for.
    pub fn software(&self) -> Option<Software> {
        self.wish.rdma.as_ref().and_then(|rdma| rdma.software)
    }

    /// The network interface.
    ///
    /// # Errors
    /// The judgement to give where there is not exactly one.
    pub fn netdev<'a>(&self, facts: &'a Facts) -> Result<(&'a str, &'a Netdev), Judgement> {
        let wanted = "exactly one interface";
        let source = facts.identity.netdevs.source();
        match facts.find_port(&self.wish.selector) {
            PortLookup::One(name, netdev) => Ok((name, netdev)),
            PortLookup::None { candidates } => Err(Judgement::unmet(
                wanted,
                if candidates.is_empty() {
                    "none".to_owned()
                } else {
                    format!("none; this host has {candidates}")
                },
                source,
            )),
            PortLookup::Many(names) => Err(Judgement::unmet(wanted, names.join(", "), source)
                .because(
                    "the match fits more than one interface",
                    "match by pci address, or name the interface",
                )),
            PortLookup::Unknown(why) => Err(Judgement::unknown(why)),
        }
    }

    /// The RDMA device of this port: of the software kind that the profile asks for, and no other;
    /// else hardware before software. `Ok(None)` when there is none.
    ///
    /// # Errors
    /// The judgement to give where that cannot be told.
    pub fn rdma<'a>(&self, facts: &'a Facts) -> Result<Option<Rdma<'a>>, Judgement> {
        let (netdev, _) = self.netdev(facts)?;
        if facts.identity.rdma.get().is_none() {
            return Err(Judgement::unknown(facts.identity.rdma.why_not()));
        }
        let wanted = self.software();
        let fits = |(_, device, _): &(&str, &RdmaDevice, u32)| {
            wanted.is_none() || device.software == wanted
        };
        let found = facts.rdma_of(netdev, wanted).into_iter().find(fits);
        Ok(found.map(|(name, device, number)| Rdma { name, device, number }))
    }

    /// The RDMA device, where its absence is another claim's business.
    ///
    /// # Errors
    /// Unmet with "none" where there is no device.
    pub fn some_rdma<'a>(&self, facts: &'a Facts) -> Result<Rdma<'a>, Judgement> {
        self.rdma(facts)?
            .ok_or_else(|| Judgement::unmet("an RDMA device", "none", facts.identity.rdma.source()))
    }
}

/// A port's RDMA device in one look.
#[derive(Clone, Copy, Debug)]
pub struct Rdma<'a> {
    /// Device name; may be another one in the next look.
    pub name: &'a str,
    /// The device.
    pub device: &'a RdmaDevice,
    /// Port number on it.
    pub number: u32,
}

impl<'a> Rdma<'a> {
    /// True when a GID of any type was read.
    pub fn has_gids(&self) -> bool {
        let gids = self.device.ports.get(&self.number).and_then(|port| port.gids.get());
        gids.is_some_and(|gids| !gids.is_empty())
    }

    /// True when a GID of RoCE v1 was read.
    pub fn has_v1(&self) -> bool {
        let gids = self.device.ports.get(&self.number).and_then(|port| port.gids.get());
        gids.is_some_and(|gids| gids.iter().any(|gid| gid.kind == GidType::IbRoceV1))
    }

    /// An InfiniBand port that is linked and has no LID yet.
    pub fn waits_for_subnet_manager(&self) -> bool {
        self.device.ports.get(&self.number).is_some_and(|port| {
            port.state.get() == Some(&PortState::Init)
                && port.link_layer.get().is_some_and(|layer| layer == "InfiniBand")
        })
    }

    /// The port's readings.
    ///
    /// # Errors
    /// Unknown where the device does not show that port.
    pub fn port(&self) -> Result<&'a RdmaPort, Judgement> {
        self.device.ports.get(&self.number).ok_or_else(|| {
            Judgement::unknown(format!("{} shows no port {}", self.name, self.number))
        })
    }
}
