//! The addresses of a port: those of the profile are there, with their prefixes, and, where the
//! profile says so, no others.

use std::time::Duration;

use super::{Blame, Claim, Entry, Judgement, Port, Remedy, Rung, Severity, Subject, link};
use crate::change::Change;
use crate::facts::{Address, Facts, Scope};
use crate::values::IpPrefix;

pub(super) static PRESENT: Entry = Entry {
    id: "address.present",
    rung: Rung::Address,
    needs: &["port.present"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "the address has not been set, or has another prefix",
    fix: "roce-setup apply sets it; by hand: ip address add ADDRESS dev INTERFACE",
};

pub(super) static OTHERS: Entry = Entry {
    id: "address.others",
    rung: Rung::Address,
    needs: &["port.present"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "addresses that the profile does not name are left from an earlier setup",
    fix: "roce-setup apply removes them; to keep them write `other-addresses: keep`",
};

/// "ens1f0 has 100.0.1.10/24".
pub(super) struct Present(pub(super) Port, pub(super) IpPrefix);

impl Present {
    /// The same address with other prefix lengths, which is drift: it decides the subnet.
    fn stale<'a>(&self, addresses: impl Iterator<Item = &'a Address>) -> Vec<&'a Address> {
        addresses
            .filter(|one| one.prefix.ip() == self.1.ip() && one.prefix.length() != self.1.length())
            .collect()
    }
}

impl Claim for Present {
    fn entry(&self) -> &'static Entry {
        &PRESENT
    }
    fn subject(&self) -> Subject {
        self.0.subject()
    }
    fn sentence(&self) -> String {
        format!("{} has {}", self.0.selector(), self.1)
    }
    fn scope(&self) -> Scope {
        Scope::default()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let (netdev, state) = match link::state(&self.0, facts) {
            Ok(found) => found,
            Err(judgement) => return judgement,
        };
        let source = facts.state.links.source();
        let there = state.addresses.iter().any(|one| one.prefix == self.1);
        let stale = self.stale(state.addresses.iter());
        match stale.first() {
            None if there => Judgement::met(),
            Some(other) => Judgement::unmet(
                self.1.to_string(),
                if there { format!("{} too", other.prefix) } else { other.prefix.to_string() },
                source,
            )
            .because(
                format!(
                    "the address was set with prefix length {}, so that its subnet is {}",
                    other.prefix.length(),
                    other.prefix.network()
                ),
                "roce-setup apply replaces it",
            ),
            None => {
                let have: Vec<String> = (state.addresses.iter())
                    .filter(|one| one.prefix.ip().is_ipv4() == self.1.ip().is_ipv4())
                    .filter(|one| !one.is_link_local())
                    .map(|one| one.prefix.to_string())
                    .collect();
                let have = if have.is_empty() { "no address".to_owned() } else { have.join(", ") };
                Judgement::unmet(self.1.to_string(), have, source).because(
                    "the address has not been set since boot, or was removed",
                    format!(
                        "roce-setup apply sets it; by hand: ip address add {} dev {netdev}",
                        self.1
                    ),
                )
            }
        }
    }
    fn remedy(&self, facts: &Facts) -> Remedy {
        let Ok((netdev, state)) = link::state(&self.0, facts) else { return Remedy::None };
        // The stale one goes first: with an address the kernel drops the GID of its IP, whatever the
        // prefix length (`inetaddr_event` in ib_core's roce_gid_mgmt.c), and only the addition of an
        // address makes one. For the same reason a wanted address that is there already comes anew.
        let stale = self.stale(state.addresses.iter());
        let present = state.addresses.iter().filter(|one| one.prefix == self.1);
        let doomed = present.filter(|_| !stale.is_empty());
        let remove = |address: &Address| Change::RemoveAddress {
            netdev: netdev.to_owned(),
            address: address.clone(),
        };
        let mut changes: Vec<Change> = stale.iter().copied().chain(doomed).map(remove).collect();
        let address = Address::plain(self.1);
        changes.push(Change::AddAddress { netdev: netdev.to_owned(), address });
        Remedy::Changes(changes)
    }
}

/// "ens1f0 has no other IPv4 address". Link-local and leased addresses are nobody's drift.
pub(super) struct NoOthers {
    pub(super) port: Port,
    pub(super) wanted: Vec<IpPrefix>,
    /// IPv4, else IPv6.
    pub(super) ipv4: bool,
}

impl NoOthers {
    fn others<'a>(&self, addresses: impl Iterator<Item = &'a Address>) -> Vec<&'a Address> {
        addresses
            .filter(|one| one.prefix.ip().is_ipv4() == self.ipv4)
            .filter(|one| !one.dynamic && !one.is_link_local())
            .filter(|one| !self.wanted.iter().any(|wanted| wanted.ip() == one.prefix.ip()))
            .collect()
    }
}

impl Claim for NoOthers {
    fn entry(&self) -> &'static Entry {
        &OTHERS
    }
    fn subject(&self) -> Subject {
        self.port.subject()
    }
    fn sentence(&self) -> String {
        let family = if self.ipv4 { "IPv4" } else { "IPv6" };
        format!("{} has no other {family} address", self.port.selector())
    }
    fn scope(&self) -> Scope {
        Scope::default()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let (_, state) = match link::state(&self.port, facts) {
            Ok(found) => found,
            Err(judgement) => return judgement,
        };
        let others: Vec<String> =
            self.others(state.addresses.iter()).iter().map(|one| one.prefix.to_string()).collect();
        if others.is_empty() {
            return Judgement::met();
        }
        Judgement::unmet("no other address", others.join(", "), facts.state.links.source())
    }
    fn remedy(&self, facts: &Facts) -> Remedy {
        let Ok((netdev, state)) = link::state(&self.port, facts) else { return Remedy::None };
        let remove = |address: &Address| Change::RemoveAddress {
            netdev: netdev.to_owned(),
            address: address.clone(),
        };
        Remedy::Changes(self.others(state.addresses.iter()).into_iter().map(remove).collect())
    }
}
