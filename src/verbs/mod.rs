//! RDMA verbs and the RDMA connection manager as owned Rust handles.
//!
//! The one place of the product with `unsafe` for RDMA: the types come from `rdma-sys`, the
//! functions from `libibverbs.so.1` and `librdmacm.so.1`, opened at run time. A host without them
//! is a host with a finding, not a program that does not start; so no function of those libraries
//! may be named here directly, which would put them into the program's NEEDED list.
//!
//! Every handle owns what the library needs to outlive it (a memory region its protection domain, a
//! queue pair its completion queue and its connection), so the order of drops is right by
//! construction. What a test does with them is not decided here: see [`crate::smoke`].

mod connection;
mod device;
mod error;
mod event;
mod library;
mod memory;
mod queue;

pub use connection::{CmId, ConnectionLimits};
pub use device::{PortAttributes, VerbsDevice, list_devices};
pub use error::{Reason, VerbsError};
pub use event::{CmEvent, CmEventKind, EventChannel};
pub use memory::{MemoryRegion, ProtectionDomain, RemoteMemory};
pub use queue::{CompletionQueue, QueuePair, Transfer};
