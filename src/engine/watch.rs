//! What the engine tells while it runs, and the question whether to stop.

use std::time::Duration;

use crate::change::Change;

/// Something that takes time or changes the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A change is about to be made.
    Change(&'a Change),
    /// The next look has not yet shown a claim to be met; it is looked at again until the deadline.
    Wait {
        /// The claim's sentence.
        claim: &'a str,
        /// The longest time that will be waited.
        deadline: Duration,
    },
    /// A change is about to be undone by this one.
    Undo(&'a Change),
}

/// Follows a run.
pub trait Watch {
    /// Called before each event.
    fn see(&self, event: Event<'_>);

    /// True when the user wants the run to stop (SIGINT, SIGTERM). Asked before each change and
    /// during waits; what was changed is then undone.
    fn wants_stop(&self) -> bool {
        false
    }
}

/// Follows nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Watch for Silent {
    fn see(&self, _event: Event<'_>) {}
}
