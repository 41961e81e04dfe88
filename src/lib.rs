//! `roce-setup`: brings the RDMA ports of a Linux host into the mode that a profile asks for, and
//! proves it.
//!
//! ```text
//! profile ──► claims ──► engine ──► report ──► text | json ──► exit code
//!                         │   ▲
//!        Look::look ─► Facts  │ look again, judge again with the same code
//!        Act::act  ◄─ Change ─┘
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`values`] | the field's small values, each with its rule |
//! | [`profile`] | what must be true, as the user writes it |
//! | [`facts`] | one look at a host, as a value |
//! | [`change`] | one change of a host, as a value, with its inverse |
//! | [`claims`] | what can be true of a host, and what makes it true |
//! | [`engine`] | the loop: look, judge, change, look again |
//! | [`host`] | the machine: Linux, a saved look, a model, a faulty one |
//! | [`verbs`] | the verbs library, opened at run time; the only `unsafe` besides an ioctl |
//! | [`smoke`] | the RDMA test of a link |
//! | [`proof`] | which links are tested, and the outcomes as evidence |
//! | [`report`] | what a command found and did, and its views |
//! | [`cli`] | the command line |

pub mod change;
pub mod claims;
pub mod cli;
pub mod engine;
pub mod facts;
pub mod host;
pub mod profile;
pub mod proof;
pub mod report;
pub mod smoke;
pub mod values;
pub mod verbs;
