//! The event channel of the connection manager: every answer to a connection call arrives here.

use std::fs::OpenOptions;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rdma_sys::{rdma_cm_event, rdma_event_channel};

use super::connection::CmId;
use super::error::{Reason, VerbsError};
use super::library::Rdmacm;

/// An rdma_cm event channel, non-blocking underneath so that every wait has a deadline.
#[derive(Clone)]
pub struct EventChannel {
    pub(super) handle: Rc<ChannelHandle>,
}

/// The library's channel; destroyed when the last connection on it is gone.
pub(super) struct ChannelHandle {
    raw: NonNull<rdma_event_channel>,
    cm: &'static Rdmacm,
}

impl Drop for ChannelHandle {
    fn drop(&mut self) {
        // SAFETY: created by rdma_create_event_channel, destroyed once, and every id on it holds an
        // Rc of this handle.
        unsafe { (self.cm.rdma_destroy_event_channel)(self.raw.as_ptr()) };
    }
}

impl ChannelHandle {
    pub(super) fn as_ptr(&self) -> *mut rdma_event_channel {
        self.raw.as_ptr()
    }

    pub(super) fn cm(&self) -> &'static Rdmacm {
        self.cm
    }
}

/// The kinds of event that a connection meets (`enum rdma_cm_event_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CmEventKind {
    /// The address belongs to a device.
    AddressResolved,
    /// The path to the peer is known.
    RouteResolved,
    /// A peer asks to connect to a listener.
    ConnectRequest,
    /// The connection stands.
    Established,
    /// The peer, or this side, ended it.
    Disconnected,
    /// Anything else, by number: see [`CmEventKind::name`].
    Other(u32),
}

impl CmEventKind {
    fn from_raw(event: u32) -> Self {
        match event {
            0 => Self::AddressResolved,
            2 => Self::RouteResolved,
            4 => Self::ConnectRequest,
            9 => Self::Established,
            10 => Self::Disconnected,
            other => Self::Other(other),
        }
    }

    /// The header's name without its `RDMA_CM_EVENT_` prefix.
    pub fn name(self) -> &'static str {
        match self {
            Self::AddressResolved => "ADDR_RESOLVED",
            Self::RouteResolved => "ROUTE_RESOLVED",
            Self::ConnectRequest => "CONNECT_REQUEST",
            Self::Established => "ESTABLISHED",
            Self::Disconnected => "DISCONNECTED",
            Self::Other(1) => "ADDR_ERROR",
            Self::Other(3) => "ROUTE_ERROR",
            Self::Other(5) => "CONNECT_RESPONSE",
            Self::Other(6) => "CONNECT_ERROR",
            Self::Other(7) => "UNREACHABLE",
            Self::Other(8) => "REJECTED",
            Self::Other(11) => "DEVICE_REMOVAL",
            Self::Other(14) => "ADDR_CHANGE",
            Self::Other(15) => "TIMEWAIT_EXIT",
            Self::Other(_) => "unknown event",
        }
    }
}

/// One event, copied out and acknowledged.
pub struct CmEvent {
    /// What happened.
    pub kind: CmEventKind,
    /// Zero, a negative errno, or a reject reason of the protocol.
    pub status: i32,
    /// The bytes the peer attached to its request or answer.
    pub private_data: Vec<u8>,
    /// The new connection of a [`CmEventKind::ConnectRequest`].
    pub requested: Option<CmId>,
}

impl EventChannel {
    /// Opens a channel (`/dev/infiniband/rdma_cm`).
    ///
    /// # Errors
    /// The loader's words without librdmacm; `ENODEV` or `ENOENT` without the kernel's rdma_ucm.
    pub fn open() -> Result<Self, VerbsError> {
        const NODE: &str = "/dev/infiniband/rdma_cm";
        const WHAT: &str = "of /dev/infiniband/rdma_cm";
        let cm = Rdmacm::get()?;
        // SAFETY: no precondition.
        let raw = unsafe { (cm.rdma_create_event_channel)() };
        let Some(raw) = NonNull::new(raw) else {
            let error = VerbsError::last_os("rdma_create_event_channel", WHAT);
            // librdmacm says ENOENT for a node that may not be opened, too; the kernel knows
            // better.
            return Err(match OpenOptions::new().read(true).write(true).open(NODE) {
                Err(refused) => {
                    let errno = refused.raw_os_error().unwrap_or(libc::ENOENT);
                    VerbsError::new("opening", NODE, Reason::Errno(errno))
                }
                Ok(_) => error,
            });
        };
        let channel = Self { handle: Rc::new(ChannelHandle { raw, cm }) };
        let set = fcntl(channel.fd(), FcntlArg::F_GETFL).and_then(|flags| {
            let flags = OFlag::from_bits_truncate(flags) | OFlag::O_NONBLOCK;
            fcntl(channel.fd(), FcntlArg::F_SETFL(flags))
        });
        match set {
            Ok(_) => Ok(channel),
            Err(errno) => {
                Err(VerbsError::new("fcntl O_NONBLOCK", WHAT, Reason::Errno(errno as i32)))
            }
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the channel is live as long as `self`, and its descriptor is open as long as the
        // channel.
        unsafe { BorrowedFd::borrow_raw(self.handle.raw.as_ref().fd) }
    }

    /// Waits for the next event until `deadline`.
    ///
    /// # Errors
    /// [`Reason::Deadline`] when none came; the errno of `poll` or `rdma_get_cm_event`.
    pub fn next(&self, waiting_for: &str, deadline: Instant) -> Result<CmEvent, VerbsError> {
        let mut event: *mut rdma_cm_event = ptr::null_mut();
        loop {
            // SAFETY: live channel, valid out parameter.
            let code =
                unsafe { (self.handle.cm.rdma_get_cm_event)(self.handle.raw.as_ptr(), &mut event) };
            if code == 0 {
                break;
            }
            match Errno::last() {
                Errno::EAGAIN | Errno::EINTR => {}
                errno => {
                    let reason = Reason::Errno(errno as i32);
                    return Err(VerbsError::new("rdma_get_cm_event", waiting_for, reason));
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(VerbsError::new("waiting for", waiting_for, Reason::Deadline));
            }
            let slice = left.min(Duration::from_secs(1)).as_millis().clamp(1, 1000) as u16;
            let mut fds = [PollFd::new(self.fd(), PollFlags::POLLIN)];
            match poll(&mut fds, PollTimeout::from(slice)) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => {
                    return Err(VerbsError::new("poll", waiting_for, Reason::Errno(errno as i32)));
                }
            }
        }
        // SAFETY: the library returned a live event, which is read here and acknowledged exactly
        // once below.
        let raw = unsafe { &*event };
        let kind = CmEventKind::from_raw(raw.event);
        let with_data = matches!(
            kind,
            CmEventKind::ConnectRequest | CmEventKind::Established | CmEventKind::Other(_)
        );
        let private_data = if with_data {
            // SAFETY: for a connected port space the union holds `conn`; events without parameters
            // have it zeroed by the library.
            let conn = unsafe { &raw.param.conn };
            if conn.private_data.is_null() {
                Vec::new()
            } else {
                // SAFETY: the library vouches for `private_data_len` bytes until the event is
                // acknowledged; they are copied.
                unsafe {
                    std::slice::from_raw_parts(
                        conn.private_data.cast::<u8>(),
                        usize::from(conn.private_data_len),
                    )
                }
                .to_vec()
            }
        } else {
            Vec::new()
        };
        let requested = (kind == CmEventKind::ConnectRequest)
            .then(|| NonNull::new(raw.id))
            .flatten()
            // SAFETY: with a connect request the library hands over a new id, which nobody else
            // owns.
            .map(|id| unsafe { CmId::adopt(id, self.clone()) });
        let status = raw.status;
        // SAFETY: acknowledged once; nothing borrows from the event any more.
        unsafe { (self.handle.cm.rdma_ack_cm_event)(event) };
        Ok(CmEvent { kind, status, private_data, requested })
    }

    /// Waits for one particular event; any other is the error.
    ///
    /// # Errors
    /// As [`EventChannel::next`]; [`Reason::Event`] when another event came, or this one with a
    /// status.
    pub fn expect(
        &self,
        wanted: CmEventKind,
        object: &str,
        deadline: Instant,
    ) -> Result<CmEvent, VerbsError> {
        let event = self.next(object, deadline)?;
        if event.kind == wanted && event.status == 0 {
            return Ok(event);
        }
        let reason = Reason::Event { event: event.kind.name().to_owned(), status: event.status };
        Err(VerbsError::new("connecting", object, reason))
    }
}
