//! A host profile: what must be true of a host, as an administrator writes it.
//!
//! Strictly parsed, with positions; knows nothing of the kernel and reads nothing but its own
//! file. What is true of the host is the matter of `facts`, what follows from both of `claims`.

mod expect;
mod wishes;

pub use expect::{Bound, Expectation, Figure, Limit, TestName};
pub use wishes::{
    HostProfile, InterfaceWish, ModuleWish, OtherAddresses, Peer, RdmaWish, Selector, SmokeLink,
    SmokeWish,
};
