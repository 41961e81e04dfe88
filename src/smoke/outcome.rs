//! What a run found, as data: nothing here is printed or judged, and every number carries its unit.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::figure::Figure;

/// Which kind of proof a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Two hosts: device, library and cable.
    Link,
    /// Both ends on one port: the device and the library, not the cable.
    Loopback,
}

/// Which part this end played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Connected, chose the tests and measured.
    Initiator,
    /// Accepted and answered.
    Responder,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Every stage was met.
    Passed,
    /// A stage was not met; it says why.
    Failed,
    /// Nobody answered within the wait: the link is not tested, and not known to be bad.
    PeerNeverCame,
    /// Not a test of a link, so none was run; the reason.
    Refused {
        /// Why.
        why: String,
    },
}

/// The steps of a run, in order; the first that is unmet is the diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmokeRung {
    /// The peer's hardware address is known to the kernel.
    Neighbour,
    /// The peer came.
    Peer,
    /// The control connection stands and both programs speak the same protocol.
    Control,
    /// Verbs opened the port's own RDMA device.
    Device,
    /// The RDMA connection stands.
    Connect,
    /// The data moved and arrived intact.
    Data,
    /// The traffic crossed this port.
    Attributable,
}

impl SmokeRung {
    /// The id of the claim that judges this step.
    pub fn claim_id(self) -> &'static str {
        match self {
            Self::Neighbour | Self::Peer => "smoke.peer",
            Self::Control => "smoke.control",
            Self::Device | Self::Connect => "smoke.connect",
            Self::Data => "smoke.data",
            Self::Attributable => "smoke.attributable",
        }
    }
}

/// What was found at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As it must be.
    Met,
    /// Not so.
    Unmet,
    /// Could not be told.
    Unknown,
    /// Not reached.
    Skipped,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Which step.
    pub rung: SmokeRung,
    /// What was found.
    pub verdict: Verdict,
    /// What was observed, and where.
    pub observed: String,
    /// What this usually means, where the observation alone does not say it.
    pub cause: Option<String>,
    /// What to do.
    pub fix: Option<String>,
}

/// Whether the figures are this port's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attribution {
    /// Device and source address are the port's, and its counters moved by at least the payload.
    Attributable {
        /// The counters that were read.
        counters: String,
        /// Bytes the port sent meanwhile, by its counter.
        sent_bytes: u64,
        /// Bytes the port received meanwhile, by its counter.
        received_bytes: u64,
        /// RDMA payload this end sent.
        payload_sent_bytes: u64,
        /// RDMA payload this end received.
        payload_received_bytes: u64,
    },
    /// The figures may be another port's.
    NotAttributable {
        /// Why.
        why: String,
    },
    /// Loopback, or no traffic was sent.
    NotApplicable {
        /// Why.
        why: String,
    },
}

/// Something that is not the same on both ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What differs: `mode`, `netdev MTU`, `RDMA MTU`.
    pub what: String,
    /// This end's value.
    pub local: String,
    /// The peer's value.
    pub peer: String,
}

/// What the other end said of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerReport {
    /// Its host name.
    pub host: String,
    /// Its interface.
    pub netdev: String,
    /// Its RDMA device.
    pub device: String,
    /// Its address.
    pub address: IpAddr,
    /// Its role.
    pub role: Role,
    /// Whether the traffic crossed its port; none when it did not come to tell.
    pub attribution: Option<Attribution>,
}

/// A whole run. Complete also when it failed: stages not reached are `skipped`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SmokeOutcome {
    /// The interface under test.
    pub netdev: String,
    /// Its RDMA device.
    pub device: String,
    /// Its address.
    pub local: IpAddr,
    /// The peer's address; the own one in loopback.
    pub peer: IpAddr,
    /// TCP port of the control connection.
    pub port: u16,
    /// Which proof this is.
    pub kind: Kind,
    /// This end's part; none before both ends agreed.
    pub role: Option<Role>,
    /// How it ended.
    pub ending: Ending,
    /// The steps, in order.
    pub stages: Vec<Stage>,
    /// The measurements; the same on both ends.
    pub figures: Vec<Figure>,
    /// Whether the figures are this port's.
    pub attribution: Attribution,
    /// What differs between both ends.
    pub differences: Vec<Difference>,
    /// What the peer said of itself.
    pub peer_report: Option<PeerReport>,
}

impl SmokeOutcome {
    /// The step that decides a failed run: the first that is unmet.
    pub fn diagnosis(&self) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.verdict == Verdict::Unmet)
    }

    /// Whether the RDMA connection ever stood: a deadline that passes later is a failure of the
    /// test, one that passes earlier no verdict.
    pub fn connected(&self) -> bool {
        self.stages
            .iter()
            .any(|stage| stage.rung == SmokeRung::Connect && stage.verdict == Verdict::Met)
    }
}

/// What a caller may show while a run lasts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    /// Nobody answered yet.
    WaitingForPeer {
        /// The address that is tried.
        peer: IpAddr,
        /// The control port.
        port: u16,
        /// Whole seconds until the wait ends.
        remaining_s: u64,
    },
    /// The peer is busy with another test.
    Queued {
        /// Tests before this one.
        place: u32,
    },
    /// A step has its verdict.
    Stage(Stage),
    /// A test has begun.
    Testing(super::spec::TestSpec),
    /// A test is done.
    Figure(Box<Figure>),
    /// `serve`: a client's test has begun or ended, or a client was turned away; one sentence.
    Client {
        /// The client's address.
        peer: IpAddr,
        /// What happened.
        what: String,
    },
}
