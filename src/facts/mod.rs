//! One look at the host as one value: serialisable, versioned, without I/O.
//!
//! Facts have three parts. *State* is what a [`Change`](crate::change::Change) can set; a rollback
//! compares it. *Identity* may change by itself (an RDMA device's name, a GID's index). *Evidence*
//! is everything else that a claim may want to know. How a reading is obtained belongs to
//! [`host`](crate::host), what it means to [`claims`](crate::claims).

mod difference;
mod evidence;
mod file;
mod identity;
mod query;
mod scope;
mod seen;
mod state;

pub use difference::Difference;
pub use evidence::{
    DriverInfo, Evidence, KernelUser, Lifeline, ModuleBuild, ModuleFile, Privilege, ProcessUser,
    Users, Userspace, VerbsDevice,
};
pub use file::FactsFileError;
pub use identity::{
    Gid, GidType, Identity, Netdev, NetdevKind, NodeType, PortState, Protocol, RdmaDevice, RdmaPort,
};
pub use query::PortLookup;
pub use scope::{GidScan, Scope};
pub use seen::Seen;
pub use state::{
    Address, Configfs, DevlinkParams, LinkState, ModuleState, Route, SoftwareLink, State,
};

use serde::{Deserialize, Serialize};

/// Version of the facts format that this program writes and reads.
pub const FORMAT: u32 = 1;

/// One look at a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Version of this format, [`FORMAT`].
    pub format: u32,
    /// The kernel's host name (`uname -n`).
    pub host: String,
    /// What a change can set.
    pub state: State,
    /// What may change by itself.
    pub identity: Identity,
    /// What else was read.
    pub evidence: Evidence,
}
