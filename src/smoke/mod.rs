//! The RDMA test of one link: does it connect, does the data arrive intact, how fast is it, and which port did it really cross.
//!
//! A test has two processes on each end. The parent ([`run`], or [`serve`] on the other side) finds the peer over TCP ([`rendezvous`]),
//! owns the deadline and folds what it hears into a [`SmokeOutcome`]. The child ([`child`]) does everything that may hang inside the
//! kernel: it opens the verbs library, connects over rdma_cm, moves data, and reports line by line. The parent kills a child that is
//! late, so a run always ends.
//!
//! No `unsafe` here: handles come from [`crate::verbs`]. What an outcome means for the host is judged by claims, not here.

mod address;
mod approach;
mod call;
mod caller;
pub mod child;
mod counters;
mod diagnosis;
mod event;
mod hall;
mod initiator;
mod job;
mod measure;
mod outcome;
mod patience;
mod pattern;
mod protocol;
mod rendezvous;
mod responder;
mod run;
mod serve;
mod server;
mod session;
mod statistics;
mod supervise;
mod trial;
mod trouble;
mod wire;

pub use job::{DEFAULT_PORT, Endpoint, Job, Limits, Peer, TestSpec};
pub use outcome::{
    Attribution, Difference, Ending, Figure, Kind, PeerReport, Progress, Role, SmokeOutcome,
    SmokeRung, Stage, TestKind, Verdict,
};
pub use run::run;
pub use serve::{ServeError, ServeOptions, serve};
