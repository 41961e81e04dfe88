//! The catalogue: each thing that can be true of a host, what it hangs on, and what makes it true.
//!
//! A [`Claim`] is judged from [`Facts`] alone and answers with changes, never with actions. A claim
//! without a remedy is a check. There is one catalogue for all commands; [`ladder`] orders it and
//! [`engine`](crate::engine) runs it. How a value is read belongs to [`host`](crate::host).

mod address;
mod advice;
mod catalogue;
mod device;
mod driver;
mod gid;
mod link;
pub mod mechanism;
mod mode;
mod module;
mod port;
mod select;
mod smoke;
mod verbs;

pub use catalogue::{ENTRIES, entry, explain};
pub use port::Port;
pub use select::{Depth, for_host, general, of_smoke};

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::facts::{Facts, Scope};

/// One thing that must be true of one subject.
pub trait Claim {
    /// Its place in the catalogue.
    fn entry(&self) -> &'static Entry;

    /// What it is said of.
    fn subject(&self) -> Subject;

    /// Whether a failure is an error or a warning here; as the catalogue has it, unless what was
    /// asked for makes a warning an error.
    fn severity(&self) -> Severity {
        self.entry().severity
    }

    /// A sentence that is true when the claim is met ("ens1f0 has 100.0.1.10/24").
    fn sentence(&self) -> String;

    /// What a look must read for it.
    fn scope(&self) -> Scope;

    /// What a look must read besides, before the remedy is asked for or a failure is explained.
    /// A check of a host that is as wanted never reads it.
    fn remedy_scope(&self) -> Scope {
        Scope::default()
    }

    /// Whether it is so.
    fn judge(&self, facts: &Facts) -> Judgement;

    /// What would make it so. Only asked when the judgement is unmet.
    fn remedy(&self, _facts: &Facts) -> Remedy {
        Remedy::None
    }
}

/// The fixed part of a claim: its catalogue entry. The paragraph behind it is in `docs/claims.md`.
#[derive(Debug)]
pub struct Entry {
    /// Stable id (`rdma.mode`).
    pub id: &'static str,
    /// Its rung of the ladder.
    pub rung: Rung,
    /// Claims of the same subject that must be met before this one can be judged.
    pub needs: &'static [&'static str],
    /// Whether a failure is an error or a warning.
    pub severity: Severity,
    /// Whose fault a failure is.
    pub blame: Blame,
    /// How long `apply` waits for it after the changes are made, because the kernel does its part
    /// asynchronously; zero for a claim that the next look decides.
    pub patience: Duration,
    /// The usual cause of a failure, where the judgement has no better one.
    pub cause: &'static str,
    /// The usual fix.
    pub fix: &'static str,
}

/// What a claim is said of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The host as a whole.
    Host,
    /// A kernel module.
    Module(String),
    /// A port, as the profile names it.
    Port(String),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Host => f.write_str("host"),
            Subject::Module(name) | Subject::Port(name) => f.pad(name),
        }
    }
}

/// The rungs of the ladder, in order. The first one that fails is the diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rung {
    /// Kernel modules, their versions and parameters.
    Module,
    /// The interface and its RDMA device.
    Device,
    /// Administrative state and carrier.
    Carrier,
    /// MTU.
    Mtu,
    /// IP addresses.
    Address,
    /// RDMA mode and the state of the RDMA port.
    Mode,
    /// GID.
    Gid,
    /// Verbs library, providers, device nodes.
    Verbs,
    /// The peer answers on the wire.
    Neighbour,
    /// Packets of the path MTU arrive.
    PathMtu,
    /// Control connection and queue pair.
    Connect,
    /// Data arrives as it was sent.
    Data,
    /// Speed as expected.
    Speed,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rung::Module => "module",
            Rung::Device => "device",
            Rung::Carrier => "carrier",
            Rung::Mtu => "MTU",
            Rung::Address => "address",
            Rung::Mode => "mode",
            Rung::Gid => "GID",
            Rung::Verbs => "verbs",
            Rung::Neighbour => "neighbour",
            Rung::PathMtu => "path MTU",
            Rung::Connect => "connect",
            Rung::Data => "data",
            Rung::Speed => "speed",
        })
    }
}

/// How much a failure weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Said; the exit code stays 0 unless `--strict`.
    Warning,
    /// The host is not as it must be.
    Error,
}

/// Whose fault a failure is: a failed local claim undoes an `apply`, a failed link does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// This host.
    Local,
    /// The cable, the switch or the peer.
    Link,
}

/// What a look says of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is so; what was observed, where that says more than the sentence.
    Met {
        /// The observed value, if worth showing.
        observed: Option<String>,
    },
    /// It is not so.
    Unmet(Unmet),
    /// It cannot be told.
    Unknown {
        /// Which reading is missing and why.
        why: String,
    },
}

/// A failed claim's particulars.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmet {
    /// What must be.
    pub expected: String,
    /// What is.
    pub observed: String,
    /// The file or call that showed it.
    pub source: String,
    /// The cause, where it is better known than the entry's usual one.
    pub cause: Option<String>,
    /// The fix, where it is better known than the entry's usual one.
    pub fix: Option<String>,
}

impl Judgement {
    /// Met, with nothing to add.
    pub fn met() -> Judgement {
        Judgement::Met { observed: None }
    }

    /// Met, with the observed value.
    pub fn met_with(observed: impl Into<String>) -> Judgement {
        Judgement::Met { observed: Some(observed.into()) }
    }

    /// Unmet with the usual cause and fix.
    pub fn unmet(
        expected: impl Into<String>,
        observed: impl Into<String>,
        source: impl Into<String>,
    ) -> Judgement {
        Judgement::Unmet(Unmet {
            expected: expected.into(),
            observed: observed.into(),
            source: source.into(),
            ..Unmet::default()
        })
    }

    /// Unknown, for this reason.
    pub fn unknown(why: impl Into<String>) -> Judgement {
        Judgement::Unknown { why: why.into() }
    }

    /// The same with a cause and a fix of its own, if unmet.
    #[must_use]
    pub fn because(self, cause: impl Into<String>, fix: impl Into<String>) -> Judgement {
        match self {
            Judgement::Unmet(unmet) => Judgement::Unmet(Unmet {
                cause: Some(cause.into()),
                fix: Some(fix.into()),
                ..unmet
            }),
            other => other,
        }
    }
}

/// What would make a claim true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing that this program may or can do.
    None,
    /// These changes, in this order.
    Changes(Vec<Change>),
    /// A change that is refused on principle.
    Refused(Refusal),
}

/// Why a change is not made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What is not done ("irdma is not reloaded").
    pub what: String,
    /// What was observed and where.
    pub why: String,
    /// What to do instead.
    pub fix: String,
}
