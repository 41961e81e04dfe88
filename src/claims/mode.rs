//! The mode that a port is really in, and the state of its RDMA port.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{
    Blame, Claim, Entry, Judgement, Port, Remedy, Rung, Severity, Subject, advice, mechanism,
};
use crate::facts::{Facts, GidScan, PortState, Scope, Seen};
use crate::values::Mode;

pub(super) static MODE: Entry = Entry {
    id: "rdma.mode",
    rung: Rung::Mode,
    needs: &["port.present", "rdma.device"],
    severity: Severity::Error,
    blame: Blame::Local,
    // The device is unplugged and plugged in again, asynchronously.
    patience: Duration::from_secs(10),
    cause: "the driver was loaded in another mode",
    fix: "roce-setup apply changes it",
};

pub(super) static ACTIVE: Entry = Entry {
    id: "rdma.port-active",
    rung: Rung::Mode,
    needs: &["port.present", "link.up", "link.carrier", "rdma.device"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::from_secs(10),
    cause: "the RDMA driver has not followed the link",
    fix: "set the interface down and up again, and read dmesg",
};

/// Cause and fix of an InfiniBand port in INIT.
pub(super) const NO_SUBNET_MANAGER: (&str, &str) = (
    "the InfiniBand port is in INIT: no subnet manager has configured it",
    "start a subnet manager on the fabric: systemctl start opensm",
);

/// "ens1f0 is in mode rocev2".
pub(super) struct InMode(pub(super) Port, pub(super) Mode);

impl Claim for InMode {
    fn entry(&self) -> &'static Entry {
        &MODE
    }
    fn subject(&self) -> Subject {
        self.0.subject()
    }
    fn sentence(&self) -> String {
        format!("{} is in mode {}", self.0.selector(), self.1)
    }
    fn scope(&self) -> Scope {
        Scope { gids: GidScan::Until(BTreeSet::new()), ..Scope::default() }
    }
    fn remedy_scope(&self) -> Scope {
        mechanism::scope()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let rdma = match self.0.some_rdma(facts) {
            Ok(rdma) => rdma,
            Err(judgement) => return judgement,
        };
        match facts.mode_of(rdma.name, rdma.number) {
            Seen::Known { value, .. } if value == self.1 => Judgement::met(),
            // Many cards make GIDs of both versions; which one a connection uses is chosen with its GID.
            Seen::Known { value: Mode::RoceV2, .. } if self.1 == Mode::RoceV1 && rdma.has_v1() => {
                Judgement::met_with("rocev1 and rocev2")
            }
            // Without a GID, RoCE counts as v2; that says nothing about v1.
            Seen::Known { value: Mode::RoceV2, source }
                if self.1 == Mode::RoceV1 && !rdma.has_gids() =>
            {
                Judgement::unknown(format!("no GID shows the version of RoCE: {source}"))
            }
            Seen::Known { value, source } => {
                let unmet = Judgement::unmet(self.1.to_string(), value.to_string(), source);
                let advice = match self.remedy(facts) {
                    Remedy::None => advice::without_remedy(&self.0, facts, self.1, value),
                    remedy => advice::with_remedy(&self.0, facts, value, &remedy),
                };
                match advice {
                    Some((cause, fix)) => unmet.because(cause, fix),
                    None => unmet,
                }
            }
            other => Judgement::unknown(other.why_not()),
        }
    }
    fn remedy(&self, facts: &Facts) -> Remedy {
        mechanism::towards(self.1, &self.0, facts)
    }
}

/// "the RDMA port of ens1f0 is ACTIVE".
pub(super) struct Active(pub(super) Port);

impl Claim for Active {
    fn entry(&self) -> &'static Entry {
        &ACTIVE
    }
    fn subject(&self) -> Subject {
        self.0.subject()
    }
    fn sentence(&self) -> String {
        format!("the RDMA port of {} is ACTIVE", self.0.selector())
    }
    fn scope(&self) -> Scope {
        Scope::default()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let found = self.0.some_rdma(facts).and_then(|rdma| Ok((rdma, rdma.port()?)));
        let (rdma, port) = match found {
            Ok(found) => found,
            Err(judgement) => return judgement,
        };
        let Some(state) = port.state.get() else {
            return Judgement::unknown(port.state.why_not());
        };
        let observed = match port.physical_state.get() {
            Some(physical) => format!("{state} (physical state {physical})"),
            None => state.to_string(),
        };
        let unmet = Judgement::unmet("ACTIVE", observed, port.state.source());
        match state {
            PortState::Active => Judgement::met(),
            PortState::Init if rdma.waits_for_subnet_manager() => {
                unmet.because(NO_SUBNET_MANAGER.0, NO_SUBNET_MANAGER.1)
            }
            _ => unmet,
        }
    }
}
