//! The RDMA test of one link: does it connect, does the data arrive intact, how fast is it, and
//! which port did it really cross.
//!
//! A test has two processes on each end. The parent finds the peer, owns the deadline and folds
//! what it hears into a [`SmokeOutcome`]. The child does everything that may hang inside the
//! kernel, and reports line by line. The parent kills a child that is late, so a run always ends.
//! No `unsafe` here: handles come from [`crate::verbs`]. What an outcome means for the host is
//! judged by claims, not here.
//!
//! - Data: `job`, `outcome`; `protocol` (the messages of both ends), `event` (child to parent).
//! - The parent: `run` and `serve` are the ways in; `rendezvous` with `hall`, `call` and `caller`
//!   decides which connection is kept, `approach` says why there is none, `supervise` keeps the
//!   child, `server` its clients.
//! - The child: `child`, then `initiator` with `trial`, or `responder`; both use `session` (device,
//!   memory, connection), `measure` (moving data) and `patience` (waiting), and fail with a
//!   `trouble` that `diagnosis` explains.
//! - Tools: `wire`, `address`, `counters`, `pattern`, `statistics`.

mod address;
mod approach;
mod call;
mod caller;
pub mod child;
mod counters;
mod diagnosis;
mod event;
mod figure;
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
mod spec;
mod statistics;
mod supervise;
mod trial;
mod trouble;
mod wire;

pub use figure::{Bandwidth, CpuCost, Ended, Figure, Latency, TcpDetails, TestKind};
pub use job::{Endpoint, Job, Limits, Peer};
pub use outcome::{
    Attribution, Difference, Ending, Kind, PeerReport, Progress, Role, SmokeOutcome, SmokeRung,
    Stage, Verdict,
};
pub use run::run;
pub use serve::{ServeError, ServeOptions, serve};
pub use spec::{TestSpec, Until};
