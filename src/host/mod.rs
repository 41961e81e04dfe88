//! The seam to the machine: [`Look`] reads it, [`Act`] changes it, and nothing else touches it.
//!
//! Implementations: [`linux`] (this machine), [`saved`] (a facts file), [`model`] (facts in memory:
//! the machine of the tests and the predictor of `plan`) and [`faulty`] (a wrapper that injects faults).

pub mod faulty;
pub mod linux;
pub mod model;
pub mod saved;

use std::time::Duration;

use crate::change::Change;
use crate::facts::{Facts, Scope};

/// Reads a machine. Looking never changes it.
pub trait Look {
    /// Reads what `scope` asks for. Single readings that fail are unknown inside the facts.
    ///
    /// # Errors
    /// Only when there can be no facts at all (an unreadable facts file).
    fn look(&self, scope: &Scope) -> Result<Facts, LookError>;

    /// The kernel's host name: which part of a profile is meant, before anything else is read.
    ///
    /// # Errors
    /// As [`Look::look`].
    fn host(&self) -> Result<String, LookError>;

    /// Monotonic time since an arbitrary start.
    fn now(&self) -> Duration;

    /// Waits. A machine in memory lets its own clock pass instead.
    fn pause(&self, time: Duration);
}

/// Changes a machine. The answer is what the kernel claimed; only the next look tells what is so.
pub trait Act {
    /// Makes one change.
    ///
    /// # Errors
    /// The kernel's or tool's refusal in its own words.
    fn act(&self, change: &Change) -> Result<(), ActError>;
}

/// A look that gave no facts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {what}: {why}")]
pub struct LookError {
    /// What was to be read.
    pub what: String,
    /// The reason in the system's own words.
    pub why: String,
}

/// A change that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {why}")]
pub struct ActError {
    /// The call, file or command that refused.
    pub call: String,
    /// errno, where the kernel gave one.
    pub errno: Option<i32>,
    /// The refusal in the kernel's own words: extended-ack text, else the errno's text.
    pub why: String,
}
