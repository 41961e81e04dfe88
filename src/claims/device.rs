//! The interface is there, and so is its RDMA device.

use std::time::Duration;

use super::{
    Blame, Claim, Entry, Judgement, Port, Remedy, Rung, Severity, Subject, advice, mechanism,
};
use crate::change::Change;
use crate::facts::{Facts, PortLookup, Scope};
use crate::profile::Selector;
use crate::values::{Mode, Software};

pub(super) static PRESENT: Entry = Entry {
    id: "port.present",
    rung: Rung::Device,
    needs: &[],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "the card is missing, its driver is not loaded, or the interface has another name",
    fix: "compare the profile with `roce-setup status`; `match: {pci: ...}` survives renaming",
};

pub(super) static SOFTWARE: Entry = Entry {
    id: "rdma.software",
    rung: Rung::Device,
    needs: &["port.present", "rdma.driver"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::from_secs(10),
    cause: "no software RDMA device has been made on this interface since boot",
    fix: "roce-setup apply makes it; by hand: rdma link add NAME type KIND netdev INTERFACE",
};

pub(super) static RDMA: Entry = Entry {
    id: "rdma.device",
    rung: Rung::Device,
    needs: &["port.present", "rdma.driver", "rdma.software"],
    severity: Severity::Error,
    blame: Blame::Local,
    // irdma makes its devices after the load command has returned; a slow host takes seconds.
    patience: Duration::from_secs(10),
    cause: "the driver made no RDMA device for this port: both modes off, Safe Mode (DDP package), \
            a bond, a driver mismatch, or MSI-X vectors that ran out",
    fix: "read what the drivers say: dmesg | grep -E 'irdma|ice '",
};

/// "ens1f0 is there".
pub(super) struct Present {
    pub(super) port: Port,
    /// How the profile finds its other interfaces: none of them may be this one.
    pub(super) others: Vec<Selector>,
}

impl Present {
    /// Another entry of the profile for the interface `name`: which of two MTUs would count?
    fn twin(&self, name: &str, facts: &Facts) -> Option<&Selector> {
        self.others.iter().find(
            |other| matches!(facts.find_port(other), PortLookup::One(found, _) if found == name),
        )
    }
}

impl Claim for Present {
    fn entry(&self) -> &'static Entry {
        &PRESENT
    }
    fn subject(&self) -> Subject {
        self.port.subject()
    }
    fn sentence(&self) -> String {
        format!("{} is there", self.port.selector())
    }
    fn scope(&self) -> Scope {
        Scope::default()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        match self.port.netdev(facts) {
            Ok((name, netdev)) => {
                if let Some(twin) = self.twin(name, facts) {
                    return Judgement::unmet(
                        "one entry of the profile for each interface",
                        format!("{name}, as `{}` and as `{twin}`", self.port.selector()),
                        facts.identity.netdevs.source(),
                    )
                    .because(
                        "two entries of the profile find the same interface",
                        "write one entry that says all of it",
                    );
                }
                let mut observed = name.to_owned();
                if let Some(driver) = &netdev.driver {
                    observed += &format!(", {driver}");
                }
                if let Some(bdf) = netdev.bdf {
                    observed += &format!(", {bdf}");
                }
                Judgement::met_with(observed)
            }
            Err(judgement) => judgement,
        }
    }
}

/// "ens1f0 has a software RoCE device (rxe)".
pub(super) struct SoftwareDevice(pub(super) Port, pub(super) Software);

impl SoftwareDevice {
    /// The name to make it under: the profile's, else one that is free.
    fn name(&self, facts: &Facts) -> String {
        let named = self.0.wish.rdma.as_ref().and_then(|rdma| rdma.name.as_ref());
        named.map_or_else(|| free_name(self.1, facts), ToString::to_string)
    }
}

impl Claim for SoftwareDevice {
    fn entry(&self) -> &'static Entry {
        &SOFTWARE
    }
    fn subject(&self) -> Subject {
        self.0.subject()
    }
    fn sentence(&self) -> String {
        format!("{} has a software RDMA device of kind {}", self.0.selector(), self.1)
    }
    fn scope(&self) -> Scope {
        Scope::default()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let (netdev, _) = match self.0.netdev(facts) {
            Ok(found) => found,
            Err(judgement) => return judgement,
        };
        let Some(links) = facts.state.software.get() else {
            return Judgement::unknown(facts.state.software.why_not());
        };
        if links.iter().any(|link| link.netdev == netdev && link.kind == self.1) {
            return Judgement::met();
        }
        let others: Vec<String> = links
            .iter()
            .filter(|link| link.netdev == netdev)
            .map(|link| link.kind.to_string())
            .collect();
        let observed = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
        let name = self.name(facts);
        Judgement::unmet(self.1.to_string(), observed, facts.state.software.source()).because(
            SOFTWARE.cause,
            format!(
                "roce-setup apply makes it; by hand: rdma link add {name} type {} netdev {netdev}",
                self.1
            ),
        )
    }
    fn remedy(&self, facts: &Facts) -> Remedy {
        let Ok((netdev, _)) = self.0.netdev(facts) else { return Remedy::None };
        Remedy::Changes(vec![Change::AddSoftwareLink {
            name: self.name(facts),
            kind: self.1,
            netdev: netdev.to_owned(),
        }])
    }
}

/// A device name that is free: `rxe0`, or the next number.
fn free_name(kind: Software, facts: &Facts) -> String {
    let taken = facts.identity.rdma.get();
    (0u32..)
        .map(|number| format!("{kind}{number}"))
        .find(|name| !taken.is_some_and(|devices| devices.contains_key(name)))
        .unwrap_or_default()
}

/// "ens1f0 has an RDMA device".
pub(super) struct RdmaDevice(pub(super) Port, pub(super) Option<Mode>);

impl Claim for RdmaDevice {
    fn entry(&self) -> &'static Entry {
        &RDMA
    }
    fn subject(&self) -> Subject {
        self.0.subject()
    }
    fn sentence(&self) -> String {
        format!("{} has an RDMA device", self.0.selector())
    }
    fn scope(&self) -> Scope {
        Scope::default()
    }
    fn remedy_scope(&self) -> Scope {
        mechanism::scope()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        match self.0.some_rdma(facts) {
            Ok(rdma) => Judgement::met_with(rdma.name),
            Err(judgement) => match advice::no_device(&self.0, facts) {
                Some((cause, fix)) => judgement.because(cause, fix),
                None => judgement,
            },
        }
    }
    fn remedy(&self, facts: &Facts) -> Remedy {
        // With both modes off there is no device; switching the wanted one on makes it.
        self.1.map_or(Remedy::None, |mode| mechanism::towards(mode, &self.0, facts))
    }
}
