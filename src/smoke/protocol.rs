//! The messages of the control connection, version 1.
//!
//! ```text
//! connecting end          accepting end
//! Hello            ──►                      who I am, what I want to test
//!                  ◄──    Welcome | Queued | Refused
//! Start            ──►                      this connection is the kept one; both hand it to their child
//! Ready            ◄─►    Ready             device, MTU, memory; the accepting end's rdma_cm port
//!        ~ rdma_connect ~
//! Begin            ──►                      per test, warm-ups included
//!                  ◄──    Go
//! Verify           ──►                      writes: is the data intact?
//!                  ◄──    Verified
//! Measured         ──►
//! Finished         ◄─►    Finished          payload, and whether it crossed this port
//! ```
//! Either end may send `Failed` instead and close.

use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::job::Endpoint;
use super::outcome::{Attribution, Difference};
use super::spec::{TestSpec, refuse_plan};
use super::wire::WireError;
use crate::verbs::{PortAttributes, RemoteMemory};

/// What the first message calls the protocol.
const PROTOCOL: &str = "roce-setup-smoke";
/// The version of this file. Versions must be equal on both ends.
pub(crate) const VERSION: u32 = 1;

/// What one end says of itself before anything RDMA is touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The kernel's host name.
    pub(crate) host: String,
    /// The port under test.
    pub(crate) endpoint: Endpoint,
    /// The interface's MTU, where it could be read.
    pub(crate) netdev_mtu_bytes: Option<u32>,
}

/// The first message of the connecting end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// [`PROTOCOL`].
    protocol: String,
    /// [`VERSION`].
    version: u32,
    /// Who connects.
    pub(crate) identity: Identity,
    /// What it wants to test.
    pub(crate) tests: Vec<TestSpec>,
}

impl Hello {
    pub(crate) fn new(identity: Identity, tests: Vec<TestSpec>) -> Self {
        Self { protocol: PROTOCOL.to_owned(), version: VERSION, identity, tests }
    }

    /// Why this end does not talk to the sender, if so.
    pub(crate) fn refusal(&self) -> Option<String> {
        refuse_plan(&self.tests)
    }
}

/// What a message's sender has opened and registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ready {
    /// The device and port that rdma_cm bound.
    pub(crate) port: PortAttributes,
    /// Where the peer may read and write.
    pub(crate) memory: RemoteMemory,
    /// The accepting end's rdma_cm port; 0 from the connecting end.
    pub(crate) rdma_port: u16,
    /// What the connecting end must show in its connection request, so that no other request is
    /// taken for it.
    pub(crate) cookie: u64,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "message")]
pub(crate) enum Message {
    /// See [`Hello`].
    Hello(Hello),
    /// The connection is accepted.
    Welcome {
        /// Who accepts.
        identity: Identity,
        /// Whether it is a `serve` rather than a run that waits for this peer.
        serving: bool,
    },
    /// Another test runs; wait.
    Queued {
        /// Tests before this one; 0 from a rendezvous that has not decided between this call and
        /// its own.
        place: u32,
    },
    /// No test with this peer.
    Refused {
        /// Why, a sentence.
        why: String,
    },
    /// The connecting end keeps this connection.
    Start,
    /// See [`Ready`].
    Ready(Ready),
    /// A test, or its warm-up, begins.
    Begin {
        /// Which.
        spec: TestSpec,
        /// Seed of the data.
        seed: u64,
        /// Not measured.
        warm_up: bool,
    },
    /// The accepting end is prepared for the test.
    Go,
    /// Compare what was written.
    Verify {
        /// Bytes from the start of the receiving half.
        bytes: u32,
    },
    /// The result of the comparison.
    Verified {
        /// The first wrong byte, a sentence; none when all is right.
        mismatch: Option<String>,
    },
    /// A test's result.
    Measured(Box<Figure>),
    /// All tests are done.
    Finished {
        /// Payload the connecting end sent, bytes.
        sent_bytes: u64,
        /// Payload the connecting end received, bytes.
        received_bytes: u64,
        /// Whether it crossed the sender's port.
        attribution: Attribution,
    },
    /// The sender gives up.
    Failed {
        /// Why, a sentence.
        why: String,
    },
}

impl Message {
    /// Parses one message.
    ///
    /// # Errors
    /// [`WireError::NotAMessage`] with the reason, above all for another version of the protocol.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        /// The part of a first message that every version shares.
        #[derive(Deserialize)]
        struct Preamble {
            protocol: String,
            version: u32,
        }
        if let Ok(preamble) = serde_json::from_slice::<Preamble>(bytes)
            && (preamble.protocol != PROTOCOL || preamble.version != VERSION)
        {
            let Preamble { protocol, version } = preamble;
            let protocol: String = protocol.chars().take(32).filter(|c| !c.is_control()).collect();
            return Err(WireError::NotAMessage(format!(
                "it speaks {protocol} version {version}, this end {PROTOCOL} version {VERSION}"
            )));
        }
        serde_json::from_slice(bytes).map_err(|error| WireError::NotAMessage(error.to_string()))
    }

    /// The message's name, for sentences about an unexpected one.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "hello",
            Self::Welcome { .. } => "welcome",
            Self::Queued { .. } => "queued",
            Self::Refused { .. } => "refused",
            Self::Start => "start",
            Self::Ready(_) => "ready",
            Self::Begin { .. } => "begin",
            Self::Go => "go",
            Self::Verify { .. } => "verify",
            Self::Verified { .. } => "verified",
            Self::Measured(_) => "measured",
            Self::Finished { .. } => "finished",
            Self::Failed { .. } => "failed",
        }
    }
}

/// What differs between both ends, from this end's view.
pub(crate) fn compare(
    local: &Identity,
    peer: &Identity,
    ready: Option<(&Ready, &Ready)>,
) -> Vec<Difference> {
    let mtu = |identity: &Identity| identity.netdev_mtu_bytes.map(|bytes| bytes.to_string());
    let rdma_mtu = |ready: &Ready| Some(ready.port.active_mtu_bytes.to_string());
    let transport = |ready: &Ready| {
        Some(if ready.port.iwarp { "iWARP" } else { "InfiniBand or RoCE" }.to_owned())
    };
    let mut pairs = vec![
        ("mode", local.endpoint.mode.clone(), peer.endpoint.mode.clone()),
        ("netdev MTU", mtu(local), mtu(peer)),
    ];
    if let Some((local, peer)) = ready {
        pairs.push(("RDMA MTU", rdma_mtu(local), rdma_mtu(peer)));
        pairs.push(("transport", transport(local), transport(peer)));
    }
    pairs
        .into_iter()
        .filter_map(|(what, local, peer)| match (local, peer) {
            (Some(local), Some(peer)) if local != peer => {
                Some(Difference { what: what.to_owned(), local, peer })
            }
            _ => None,
        })
        .collect()
}
