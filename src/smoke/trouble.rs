//! Why a child's work ended early.

use super::diagnosis;
use super::event::Event;
use super::outcome::{SmokeRung, Stage};
use super::wire::WireError;
use crate::verbs::VerbsError;

/// A failure, before it is known at which step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A verbs or rdma_cm call.
    Verbs(VerbsError),
    /// The control connection.
    Wire(WireError),
    /// The peer gave up, in its own words.
    Peer(String),
    /// The peer sent a message out of turn.
    Unexpected(&'static str),
    /// The data is wrong, or both ends disagree: a sentence.
    Wrong(String),
}

impl From<VerbsError> for Trouble {
    fn from(error: VerbsError) -> Self {
        Self::Verbs(error)
    }
}

impl From<WireError> for Trouble {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl Trouble {
    /// The unmet stage it makes of `rung`.
    pub(crate) fn stage(&self, rung: SmokeRung) -> Stage {
        match self {
            Self::Verbs(error) => diagnosis::unmet(rung, error),
            Self::Wire(error @ WireError::Closed) => Stage::unmet(rung, error.to_string()).because(
                "the peer's program or host ended, or its deadline passed",
                "look at the peer's own report",
            ),
            Self::Wire(error @ WireError::Deadline) => Stage::unmet(rung, error.to_string()).because(
                "the peer's program does not run (stopped or held by its kernel), or the link broke",
                "look at the peer: `roce-setup check`, and the state of its roce-setup process",
            ),
            Self::Wire(error) => Stage::unmet(rung, error.to_string()),
            Self::Peer(why) => Stage::unmet(rung, format!("the peer reports: {why}")),
            Self::Unexpected(name) => {
                Stage::unmet(rung, format!("the peer sent `{name}` out of turn on the control connection"))
            }
            Self::Wrong(what) => Stage::unmet(rung, what.clone()),
        }
    }

    /// One sentence for the peer.
    pub(crate) fn sentence(&self) -> String {
        self.stage(SmokeRung::Data).observed
    }
}

/// The way a child reports.
pub(crate) type Emit<'a> = &'a mut dyn FnMut(Event);
