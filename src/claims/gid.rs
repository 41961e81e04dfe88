//! The GID that connections of an address will use.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Blame, Claim, Entry, Judgement, Port, Rung, Severity, Subject, advice};
use crate::facts::{Facts, Gid, GidScan, GidType, Scope};
use crate::values::{IpPrefix, Mode};

pub(super) static PRESENT: Entry = Entry {
    id: "gid.present",
    rung: Rung::Gid,
    needs: &[
        "port.present",
        "link.up",
        "link.carrier",
        "address.present",
        "rdma.device",
        "rdma.mode",
        "rdma.port-active",
    ],
    severity: Severity::Error,
    blame: Blame::Local,
    // The kernel fills the table from address events, after the address is set.
    patience: Duration::from_secs(10),
    cause: "the kernel has not put the address into the GID table of this port",
    fix: "remove the address and add it again, or set the interface down and up; then read dmesg",
};

/// "ens1f0 has a RoCE v2 GID for 100.0.1.10".
pub(super) struct Present(pub(super) Port, pub(super) IpPrefix, pub(super) Mode);

impl Present {
    /// Only RoCE v1 asks for the older type; v2 is what rdma_cm and the raw verbs must agree on.
    fn wanted(&self) -> GidType {
        if self.2 == Mode::RoceV1 { GidType::IbRoceV1 } else { GidType::RoceV2 }
    }

    fn is_on(gid: &Gid, netdev: &str) -> bool {
        gid.netdev.as_deref().is_none_or(|one| one == netdev)
    }
}

fn name(kind: GidType) -> &'static str {
    match kind {
        GidType::IbRoceV1 => "RoCE v1",
        GidType::RoceV2 => "RoCE v2",
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
        format!("{} has a {} GID for {}", self.0.selector(), name(self.wanted()), self.1.ip())
    }
    fn scope(&self) -> Scope {
        Scope { gids: GidScan::Until(BTreeSet::from([self.1.ip()])), ..Scope::default() }
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let found = self.0.netdev(facts).and_then(|(netdev, _)| {
            let rdma = self.0.some_rdma(facts)?;
            Ok((netdev, rdma, rdma.port()?))
        });
        let (netdev, rdma, port) = match found {
            Ok(found) => found,
            Err(judgement) => return judgement,
        };
        let Some(gids) = port.gids.get() else {
            return Judgement::unknown(port.gids.why_not());
        };
        let of_address = || gids.iter().filter(|gid| gid.address() == self.1.ip());
        let fits = |gid: &&Gid| gid.kind == self.wanted() && Self::is_on(gid, netdev);
        if let Some(gid) = of_address().find(fits) {
            return Judgement::met_with(format!("{} index {}", rdma.name, gid.index));
        }
        let wanted = name(self.wanted());
        let expected = format!("a {wanted} GID for {}", self.1.ip());
        let unmet = |observed: String| Judgement::unmet(expected, observed, port.gids.source());
        let observed = match of_address().next() {
            Some(gid) if gid.kind != self.wanted() => {
                return unmet(format!("a {} GID only", name(gid.kind))).because(
                    format!("{} makes no {wanted} GID for this address", rdma.name),
                    "see whether card, firmware and driver have this version of RoCE, or write the \
                     mode that they have",
                );
            }
            Some(gid) => {
                let other = gid.netdev.as_deref().unwrap_or("another interface");
                return unmet(format!("a GID of {other}")).because(
                    format!("{other}, on the same card, has the address {} too", self.1.ip()),
                    format!(
                        "remove the address from {other}, then remove it here and add it again"
                    ),
                );
            }
            None if gids.is_empty() => {
                let unmet = unmet("an empty GID table".to_owned());
                return match advice::no_gids(&self.0, facts) {
                    Some((cause, fix)) => unmet.because(cause, fix),
                    None => unmet,
                };
            }
            None => {
                let all: Vec<String> =
                    gids.iter().take(8).map(|gid| gid.address().to_string()).collect();
                format!("GIDs for {}", all.join(", "))
            }
        };
        unmet(observed)
    }
}
