//! The link of a port: administrative state, carrier, MTU.

use std::time::Duration;

use super::{Blame, Claim, Entry, Judgement, Port, Remedy, Rung, Severity, Subject, mode};
use crate::change::Change;
use crate::facts::{Facts, LinkState, Scope};

pub(super) static UP: Entry = Entry {
    id: "link.up",
    rung: Rung::Carrier,
    needs: &["port.present"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "nothing has set the interface up since boot",
    fix: "roce-setup apply sets it up; by hand: ip link set INTERFACE up",
};

pub(super) static DOWN: Entry = Entry {
    id: "link.down",
    rung: Rung::Carrier,
    needs: &["port.present"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "something has set the interface up since",
    fix: "roce-setup apply sets it down; by hand: ip link set INTERFACE down",
};

pub(super) static CARRIER: Entry = Entry {
    id: "link.carrier",
    rung: Rung::Carrier,
    needs: &["port.present", "link.up"],
    severity: Severity::Error,
    blame: Blame::Link,
    // Autonegotiation and link training of a 100G port take seconds after "up".
    patience: Duration::from_secs(15),
    cause: "no cable, no module, a dead partner port, or FEC and speed that do not agree",
    fix: "look at the cable and at the other end: ethtool INTERFACE; ethtool -m INTERFACE",
};

pub(super) static MTU: Entry = Entry {
    id: "link.mtu",
    rung: Rung::Mtu,
    needs: &["port.present"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "the MTU has not been set, or something has set it since",
    fix: "roce-setup apply sets it; by hand: ip link set INTERFACE mtu BYTES",
};

/// Why an MTU fails that only `path-mtu` asks for.
const PATH_MTU_CAUSE: &str = "the packets of the profile's `path-mtu` do not fit with their headers, \
                              and RDMA falls back to smaller ones";

/// The name and link state of a port.
///
/// # Errors
/// The judgement to give where either is not known.
pub(super) fn state<'a>(
    port: &Port,
    facts: &'a Facts,
) -> Result<(&'a str, &'a LinkState), Judgement> {
    let (name, _) = port.netdev(facts)?;
    let links = &facts.state.links;
    let Some(all) = links.get() else { return Err(Judgement::unknown(links.why_not())) };
    match all.get(name) {
        Some(state) => Ok((name, state)),
        None => Err(Judgement::unknown(format!("{}: does not list {name}", links.source()))),
    }
}

/// "ens1f0 is up" or "ens1f0 is down".
pub(super) struct Admin(pub(super) Port, pub(super) bool);

impl Claim for Admin {
    fn entry(&self) -> &'static Entry {
        if self.1 { &UP } else { &DOWN }
    }
    fn subject(&self) -> Subject {
        self.0.subject()
    }
    fn sentence(&self) -> String {
        format!("{} is {}", self.0.selector(), word(self.1))
    }
    fn scope(&self) -> Scope {
        Scope::default()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        match state(&self.0, facts) {
            Ok((_, link)) if link.up == self.1 => Judgement::met(),
            Ok((name, link)) => {
                let (wanted, entry) = (word(self.1), self.entry());
                Judgement::unmet(wanted, word(link.up), facts.state.links.source()).because(
                    entry.cause,
                    format!(
                        "roce-setup apply sets it {wanted}; by hand: ip link set {name} {wanted}"
                    ),
                )
            }
            Err(judgement) => judgement,
        }
    }
    fn remedy(&self, facts: &Facts) -> Remedy {
        match self.0.netdev(facts) {
            Ok((netdev, _)) => {
                Remedy::Changes(vec![Change::SetLink { netdev: netdev.into(), up: self.1 }])
            }
            Err(_) => Remedy::None,
        }
    }
}

fn word(up: bool) -> &'static str {
    if up { "up" } else { "down" }
}

/// "ens1f0 has carrier".
pub(super) struct Carrier(pub(super) Port);

impl Claim for Carrier {
    fn entry(&self) -> &'static Entry {
        &CARRIER
    }
    fn subject(&self) -> Subject {
        self.0.subject()
    }
    fn sentence(&self) -> String {
        format!("{} has carrier", self.0.selector())
    }
    fn scope(&self) -> Scope {
        Scope::default()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let (name, netdev) = match self.0.netdev(facts) {
            Ok(found) => found,
            Err(judgement) => return judgement,
        };
        match netdev.carrier.get() {
            Some(true) => Judgement::met(),
            Some(false) => {
                let unmet = Judgement::unmet("carrier", "no carrier", netdev.carrier.source());
                match self.0.rdma(facts) {
                    // IPoIB has no carrier before the subnet manager has let it join its group.
                    Ok(Some(rdma)) if rdma.waits_for_subnet_manager() => {
                        unmet.because(mode::NO_SUBNET_MANAGER.0, mode::NO_SUBNET_MANAGER.1)
                    }
                    _ => unmet.because(
                        CARRIER.cause,
                        format!(
                            "look at the cable and at the other end: ethtool {name}; ethtool -m {name}"
                        ),
                    ),
                }
            }
            None => Judgement::unknown(netdev.carrier.why_not()),
        }
    }
}

/// "ens1f0 has MTU 4200".
pub(super) struct Mtu {
    pub(super) port: Port,
    /// Bytes.
    pub(super) wanted: u32,
    /// True when `path-mtu` implies it: a larger MTU is as good.
    pub(super) at_least: bool,
}

impl Claim for Mtu {
    fn entry(&self) -> &'static Entry {
        &MTU
    }
    fn subject(&self) -> Subject {
        self.port.subject()
    }
    fn sentence(&self) -> String {
        let least = if self.at_least { "at least " } else { "" };
        format!("{} has MTU {least}{}", self.port.selector(), self.wanted)
    }
    fn scope(&self) -> Scope {
        Scope::default()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        match state(&self.port, facts) {
            Ok((_, link)) if link.mtu == self.wanted => Judgement::met(),
            Ok((_, link)) if self.at_least && link.mtu > self.wanted => {
                Judgement::met_with(link.mtu.to_string())
            }
            Ok((name, link)) => {
                let wanted = self.wanted;
                let (expected, cause) = if self.at_least {
                    (format!("at least {wanted}"), PATH_MTU_CAUSE)
                } else {
                    (wanted.to_string(), MTU.cause)
                };
                Judgement::unmet(expected, link.mtu.to_string(), facts.state.links.source())
                    .because(
                        cause,
                        format!(
                            "roce-setup apply sets it; by hand: ip link set {name} mtu {wanted}"
                        ),
                    )
            }
            Err(judgement) => judgement,
        }
    }
    fn remedy(&self, facts: &Facts) -> Remedy {
        match self.port.netdev(facts) {
            Ok((netdev, _)) => {
                Remedy::Changes(vec![Change::SetMtu { netdev: netdev.into(), mtu: self.wanted }])
            }
            Err(_) => Remedy::None,
        }
    }
}
