//! What both ends of the traffic have: the device they bound, memory, and in the end a connection.

use std::net::IpAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use super::address::socket_address;
use super::event::Event;
use super::outcome::{Kind, Role, SmokeRung, Stage};
use super::protocol::{Identity, Message, Ready};
use super::spec::TestSpec;
use super::trouble::{Emit, Trouble};
use super::wire::Wire;
use crate::verbs::{
    CmId, CompletionQueue, ConnectionLimits, EventChannel, MemoryRegion, PortAttributes,
    ProtectionDomain, QueuePair, VerbsError,
};

/// Operations a queue pair may have outstanding.
pub(crate) const QUEUE_DEPTH: u16 = 512;
/// More outstanding reads than this gain nothing on any device known.
const MAX_READS: u8 = 16;
/// Acknowledgement timeout 4.096 us x 2^16 = 0.27 s, times seven tries: a silent peer is known
/// after about two seconds, well within the deadline, and a host that is merely slow is not given
/// up.
const ACK_TIMEOUT_EXPONENT: u8 = 16;

/// What a child is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChildJob {
    pub(crate) role: Role,
    pub(crate) kind: Kind,
    /// This end, as the peer was told.
    pub(crate) own: Identity,
    /// The peer, as it told.
    pub(crate) peer: Identity,
    /// The peer's address as this end reaches it.
    pub(crate) peer_address: IpAddr,
    /// TCP port of the control connection.
    pub(crate) port: u16,
    pub(crate) tests: Vec<TestSpec>,
    /// Time until the child must have said all, milliseconds.
    pub(crate) deadline_ms: u64,
    /// The parent; a child whose parent is another one already has nobody to report to.
    pub(crate) parent_pid: i32,
}

impl ChildJob {
    /// Bytes of each half of an end's memory: the first is sent from, the second received into.
    pub(crate) fn half_bytes(&self) -> u32 {
        self.tests.iter().map(|spec| spec.window_bytes()).max().unwrap_or(0).next_multiple_of(64)
    }
}

/// An end that has bound its device and registered its memory, but is not connected yet.
pub(crate) struct Bound {
    pub(crate) channel: EventChannel,
    pub(crate) id: CmId,
    pub(crate) domain: ProtectionDomain,
    pub(crate) completions: Rc<CompletionQueue>,
    pub(crate) memory: MemoryRegion,
    pub(crate) port: PortAttributes,
}

impl Bound {
    /// Binds to the port's address and opens what hangs on its device. The responder listens, too.
    pub(crate) fn open(job: &ChildJob, emit: Emit<'_>) -> Result<Self, Trouble> {
        let channel = EventChannel::open()?;
        let id = match job.role {
            Role::Initiator => bind(&channel, job, 0)?,
            Role::Responder => listen(&channel, job)?,
        };
        let port = id.attributes()?;
        let own = &job.own.endpoint;
        if port.device != own.device {
            return Err(Trouble::Wrong(format!(
                "rdma_cm bound {} to the RDMA device {}, expected {}, the device of {}",
                own.local, port.device, own.device, own.netdev
            )));
        }
        let domain = ProtectionDomain::allocate(&id)?;
        let completions = CompletionQueue::create(&id, QUEUE_DEPTH * 2)?;
        let memory = MemoryRegion::register(&domain, 2 * job.half_bytes())?;
        emit(Event::Stage(Stage::met(
            SmokeRung::Device,
            format!(
                "rdma_cm bound {} to {} port {}, the RDMA device of {}",
                own.local, port.device, port.port, own.netdev
            ),
        )));
        Ok(Self { channel, id, domain, completions, memory, port })
    }

    /// What the peer is told; `cookie` is the responder's.
    pub(crate) fn ready(&self, rdma_port: u16, cookie: u64) -> Ready {
        Ready { port: self.port.clone(), memory: self.memory.remote(), rdma_port, cookie }
    }

    /// Reads that may be outstanding in each direction: what both devices allow.
    pub(crate) fn limits(&self, peer: &Ready) -> ConnectionLimits {
        ConnectionLimits {
            responder_resources: self
                .port
                .max_responder_reads
                .min(peer.port.max_initiator_reads)
                .clamp(1, MAX_READS),
            initiator_depth: self
                .port
                .max_initiator_reads
                .min(peer.port.max_responder_reads)
                .clamp(1, MAX_READS),
        }
    }

    /// The queue pair of a connection.
    pub(crate) fn queue(&self, id: &CmId) -> Result<QueuePair, VerbsError> {
        id.set_ack_timeout(ACK_TIMEOUT_EXPONENT);
        QueuePair::create(id, &self.domain, &self.completions, QUEUE_DEPTH)
    }
}

/// A fresh identifier bound to the port's address.
pub(crate) fn bind(channel: &EventChannel, job: &ChildJob, port: u16) -> Result<CmId, VerbsError> {
    let own = &job.own.endpoint;
    let id = CmId::create(channel)?;
    id.bind(socket_address(own.local, port, &own.netdev))?;
    Ok(id)
}

/// A listener on the port after the control port, so that a firewall can be opened for it, or else
/// on any. The control port itself is no choice: siw listens on a kernel TCP socket.
fn listen(channel: &EventChannel, job: &ChildJob) -> Result<CmId, VerbsError> {
    let mut last = None;
    // Port 0 more than once: rdma_cm chooses from its own numbers, where siw may find a TCP
    // listener of somebody else.
    for port in [job.port.wrapping_add(1), 0, 0, 0] {
        match bind(channel, job, port).and_then(|id| id.listen().map(|()| id)) {
            Ok(id) => return Ok(id),
            Err(error) if error.errno() == Some(Errno::EADDRINUSE as i32) => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| {
        VerbsError::new("rdma_listen", "on any port", crate::verbs::Reason::Errno(libc::EADDRINUSE))
    }))
}

/// Waits for the peer's next message; its own failure is the error.
pub(crate) fn hear(wire: &mut Wire, deadline: Instant) -> Result<Message, Trouble> {
    match wire.receive(deadline)? {
        Message::Failed { why } => Err(Trouble::Peer(why)),
        message => Ok(message),
    }
}

/// Waits for one kind of message, of which `wanted` takes what matters.
pub(crate) fn receive<T>(
    wire: &mut Wire,
    deadline: Instant,
    wanted: impl FnOnce(&Message) -> Option<T>,
) -> Result<T, Trouble> {
    let message = hear(wire, deadline)?;
    wanted(&message).ok_or(Trouble::Unexpected(message.name()))
}

/// Looks, without waiting, whether the peer has given up. Its next regular message may be here
/// already and stays for its receiver.
pub(crate) fn check_peer(wire: &mut Wire) -> Result<(), Trouble> {
    match wire.try_receive()? {
        None => {}
        Some(Message::Failed { why }) => return Err(Trouble::Peer(why)),
        Some(message) => wire.put_back(message),
    }
    Ok(())
}

/// A peer's memory must be as large as the agreed tests need.
pub(crate) fn check_memory(job: &ChildJob, ready: &Ready) -> Result<(), Trouble> {
    let wanted = 2 * job.half_bytes();
    if ready.memory.length == wanted {
        return Ok(());
    }
    Err(Trouble::Wrong(format!(
        "the peer registered {} bytes of memory, the agreed tests need {wanted}",
        ready.memory.length
    )))
}

/// How long a step of connecting may take.
pub(crate) const CONNECT_STEP: Duration = Duration::from_secs(5);
