//! What the smoke test of a port found. The test is evidence of a look like any other reading: it
//! is run by [`proof`](crate::proof), and judged here.

use std::time::Duration;

use super::{Blame, Claim, Entry, Judgement, Port, Rung, Severity, Subject, Unmet};
use crate::facts::{Facts, Scope};
use crate::smoke::{Ending, Kind, SmokeOutcome, Verdict};

/// A failure of the link is not this host's fault, so none of these undoes an apply.
const fn entry(
    id: &'static str,
    rung: Rung,
    severity: Severity,
    needs: &'static [&'static str],
    cause: &'static str,
    fix: &'static str,
) -> Entry {
    Entry { id, rung, needs, severity, blame: Blame::Link, patience: Duration::ZERO, cause, fix }
}

/// What must be true of this host before anything of a test can be judged, and more.
macro_rules! local_needs {
    [$($more:literal),*] => {
        &[
            "port.present",
            "link.up",
            "link.carrier",
            "link.mtu",
            "address.present",
            "rdma.device",
            "rdma.mode",
            "rdma.port-active",
            "gid.present",
            "verbs.library",
            "verbs.provider",
            "verbs.node",
            "verbs.device",
            $($more),*
        ]
    };
}

pub(super) static PEER: Entry = entry(
    "smoke.peer",
    Rung::Neighbour,
    Severity::Warning,
    local_needs![],
    "the peer has not been set up yet, or does not run the test",
    "when the peer is ready, run `roce-setup serve` there and `roce-setup smoke` here",
);

pub(super) static CONTROL: Entry = entry(
    "smoke.control",
    Rung::Connect,
    Severity::Error,
    // Loopback has no peer to come, so that this is its first step.
    local_needs!["smoke.peer"],
    "nothing listens there, or a firewall rejects or drops the port",
    "run `roce-setup serve` on the peer, and open the port in both firewalls",
);

pub(super) static CONNECT: Entry = entry(
    "smoke.connect",
    Rung::Connect,
    Severity::Error,
    &["smoke.peer", "smoke.control"],
    "the two ends differ in mode, GID type or MTU, or the fabric drops RDMA packets",
    "compare `roce-setup status` on both hosts",
);

pub(super) static DATA: Entry = entry(
    "smoke.data",
    Rung::Data,
    Severity::Error,
    &["smoke.peer", "smoke.control", "smoke.connect"],
    "packets are lost or damaged on the way",
    "look at the error counters of both ports and of the switch",
);

pub(super) static ATTRIBUTABLE: Entry = entry(
    "smoke.attributable",
    Rung::Data,
    Severity::Error,
    &["smoke.peer", "smoke.control", "smoke.connect", "smoke.data"],
    "the traffic took another port, so that the figures are not this port's",
    "look for a second port in the same subnet",
);

/// The claims of a port's smoke test. Loopback crosses no cable, so that nothing is attributed.
pub(super) fn of_port(port: &Port, kind: Kind, serves: bool) -> Vec<Box<dyn Claim>> {
    let entries: &[&'static Entry] = match kind {
        Kind::Link => &[&PEER, &CONTROL, &CONNECT, &DATA, &ATTRIBUTABLE],
        Kind::Loopback => &[&CONTROL, &CONNECT, &DATA],
    };
    let claim = |entry: &&'static Entry| -> Box<dyn Claim> {
        Box::new(Tested { port: port.clone(), entry, kind, serves })
    };
    entries.iter().map(claim).collect()
}

/// One step of a port's smoke test.
struct Tested {
    port: Port,
    entry: &'static Entry,
    kind: Kind,
    serves: bool,
}

impl Claim for Tested {
    fn entry(&self) -> &'static Entry {
        self.entry
    }
    fn subject(&self) -> Subject {
        self.port.subject()
    }
    fn severity(&self) -> Severity {
        if self.serves { Severity::Error } else { self.entry.severity }
    }
    fn sentence(&self) -> String {
        let port = self.port.selector();
        let to = if self.kind == Kind::Loopback { "itself" } else { "its peer" };
        match self.entry.id {
            "smoke.peer" => format!("the peer of {port} came to the smoke test"),
            "smoke.control" => format!("{port} has a control connection to {to}"),
            "smoke.connect" => format!("{port} has an RDMA connection to {to}"),
            "smoke.data" => format!("data between {port} and {to} arrives as it was sent"),
            _ => format!("the traffic crossed {port}"),
        }
    }
    fn scope(&self) -> Scope {
        Scope::default()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let (netdev, _) = match self.port.netdev(facts) {
            Ok(found) => found,
            Err(judgement) => return judgement,
        };
        match facts.evidence.smoke.get(netdev) {
            Some(outcome) => self.judge_outcome(outcome),
            None => Judgement::unknown("the smoke test was not run"),
        }
    }
}

impl Tested {
    fn judge_outcome(&self, outcome: &SmokeOutcome) -> Judgement {
        if let Ending::Refused { why } = &outcome.ending {
            return Judgement::unknown(why);
        }
        let mine = || outcome.stages.iter().filter(|stage| stage.rung.claim_id() == self.entry.id);
        let source = format!("smoke test to {}", outcome.peer);
        if let Some(stage) = mine().find(|stage| stage.verdict == Verdict::Unmet) {
            return Judgement::Unmet(Unmet {
                expected: self.sentence(),
                observed: stage.observed.clone(),
                source,
                cause: stage.cause.clone(),
                fix: stage.fix.clone(),
            });
        }
        match mine().find(|stage| stage.verdict != Verdict::Met) {
            Some(stage) if stage.observed.is_empty() => {
                Judgement::unknown(format!("{source}: not reached"))
            }
            Some(stage) => Judgement::unknown(format!("{source}: {}", stage.observed)),
            None => match mine().next_back() {
                Some(stage) if !stage.observed.is_empty() => Judgement::met_with(&stage.observed),
                Some(_) => Judgement::met(),
                None => Judgement::unknown(format!("{source}: has no such step")),
            },
        }
    }
}
