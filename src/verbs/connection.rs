//! Connection identifiers of rdma_cm: the way a connection is made on RoCE, InfiniBand and iWARP
//! alike.

use std::ffi::{c_int, c_void};
use std::mem;
use std::net::SocketAddr;
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::time::Duration;

use rdma_sys::{ibv_context, rdma_cm_id, rdma_conn_param, rdma_port_space};

use super::device::{PortAttributes, query};
use super::error::{Reason, VerbsError};
use super::event::{ChannelHandle, EventChannel};
use super::library::Rdmacm;
use super::queue::QueuePair;

/// A connection identifier: a listener, or one end of a connection.
#[derive(Clone)]
pub struct CmId {
    pub(super) handle: Rc<IdHandle>,
}

/// The library's identifier. What lives on its device (a domain, a queue pair) keeps it alive:
/// librdmacm may close the device with its last identifier.
pub(super) struct IdHandle {
    raw: NonNull<rdma_cm_id>,
    channel: Rc<ChannelHandle>,
}

impl Drop for IdHandle {
    fn drop(&mut self) {
        // SAFETY: owned, destroyed once; events are acknowledged as they are read, so the call does
        // not wait for one; no queue pair is left on it, since a `QueuePair` holds this handle.
        unsafe { (self.channel.cm().rdma_destroy_id)(self.raw.as_ptr()) };
    }
}

/// What both ends agree on before they connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// RDMA reads the peer may have outstanding towards this end.
    pub responder_resources: u8,
    /// RDMA reads this end may have outstanding.
    pub initiator_depth: u8,
}

impl ConnectionLimits {
    /// The connection parameters. They borrow `private_data`.
    fn parameters(self, private_data: &[u8]) -> rdma_conn_param {
        // SAFETY: a struct of integers and pointers, for which zero (null) is valid.
        let mut parameters: rdma_conn_param = unsafe { mem::zeroed() };
        parameters.private_data = private_data.as_ptr().cast::<c_void>();
        parameters.private_data_len = u8::try_from(private_data.len()).unwrap_or(0);
        parameters.responder_resources = self.responder_resources;
        parameters.initiator_depth = self.initiator_depth;
        // One below the largest: rxe takes 7 for "for ever", as the specification does for RNR
        // only.
        parameters.retry_count = 6;
        parameters.rnr_retry_count = 7;
        parameters
    }
}

impl CmId {
    /// A new identifier for reliable connections (RC).
    ///
    /// # Errors
    /// The errno of `rdma_create_id`.
    pub fn create(channel: &EventChannel) -> Result<Self, VerbsError> {
        let cm = channel.handle.cm();
        let mut id: *mut rdma_cm_id = ptr::null_mut();
        let space = rdma_port_space::RDMA_PS_TCP;
        // SAFETY: live channel, valid out parameter, no context pointer.
        let code = unsafe {
            (cm.rdma_create_id)(channel.handle.as_ptr(), &mut id, ptr::null_mut(), space)
        };
        match NonNull::new(id) {
            // SAFETY: just created, owned by nobody else.
            Some(id) if code == 0 => Ok(unsafe { Self::adopt(id, channel.clone()) }),
            _ => Err(VerbsError::last_os("rdma_create_id", "for a reliable connection")),
        }
    }

    /// Takes over an identifier of the library.
    ///
    /// # Safety
    /// `id` must be live, owned by the caller alone, and its events must arrive on `channel`.
    pub(super) unsafe fn adopt(id: NonNull<rdma_cm_id>, channel: EventChannel) -> Self {
        let channel = channel.handle;
        Self { handle: Rc::new(IdHandle { raw: id, channel }) }
    }

    /// Binds to a local address, and with it to the RDMA device of the interface that holds the
    /// address. Port 0 lets the kernel choose.
    ///
    /// # Errors
    /// `EADDRINUSE` for a taken port, `EADDRNOTAVAIL`/`ENODEV` where no RDMA device has the
    /// address.
    pub fn bind(&self, address: SocketAddr) -> Result<(), VerbsError> {
        let mut raw = RawAddress::from(address);
        // SAFETY: live id; the address is a sockaddr of its family, copied by the call.
        let code = unsafe { (self.cm().rdma_bind_addr)(self.as_ptr(), raw.as_mut_ptr()) };
        self.done(code, "rdma_bind_addr", || address.to_string())
    }

    /// The local port, host byte order.
    pub fn port(&self) -> u16 {
        // SAFETY: live id.
        u16::from_be(unsafe { (self.cm().rdma_get_src_port)(self.as_ptr()) })
    }

    /// Asks for the device and path to `peer` from the bound address; answered by an
    /// `ADDR_RESOLVED` event.
    ///
    /// # Errors
    /// The errno of `rdma_resolve_addr`.
    pub fn resolve_address(&self, peer: SocketAddr, timeout: Duration) -> Result<(), VerbsError> {
        let mut raw = RawAddress::from(peer);
        let timeout = milliseconds(timeout);
        // SAFETY: live id, already bound, so that no source is given; the destination is copied by
        // the call.
        let code = unsafe {
            (self.cm().rdma_resolve_addr)(self.as_ptr(), ptr::null_mut(), raw.as_mut_ptr(), timeout)
        };
        self.done(code, "rdma_resolve_addr", || peer.to_string())
    }

    /// Asks for the route; answered by a `ROUTE_RESOLVED` event.
    ///
    /// # Errors
    /// The errno of `rdma_resolve_route`.
    pub fn resolve_route(&self, timeout: Duration) -> Result<(), VerbsError> {
        // SAFETY: live id.
        let code = unsafe { (self.cm().rdma_resolve_route)(self.as_ptr(), milliseconds(timeout)) };
        self.done(code, "rdma_resolve_route", || "to the peer".to_owned())
    }

    /// Listens for one peer.
    ///
    /// # Errors
    /// The errno of `rdma_listen`. siw listens on a kernel TCP socket, so that any TCP listener on
    /// the port is `EADDRINUSE` here.
    pub fn listen(&self) -> Result<(), VerbsError> {
        // SAFETY: live id.
        let code = unsafe { (self.cm().rdma_listen)(self.as_ptr(), 4) };
        self.done(code, "rdma_listen", || format!("on port {}", self.port()))
    }

    /// Connects; answered by an `ESTABLISHED` event.
    ///
    /// # Errors
    /// The errno of `rdma_connect`.
    pub fn connect(
        &self,
        queue: &QueuePair,
        limits: ConnectionLimits,
        private_data: &[u8],
    ) -> Result<(), VerbsError> {
        debug_assert!(queue.belongs_to(self));
        let mut parameters = limits.parameters(private_data);
        // SAFETY: live id with a queue pair; the parameters and the private data are copied by the
        // call.
        let code = unsafe { (self.cm().rdma_connect)(self.as_ptr(), &mut parameters) };
        self.done(code, "rdma_connect", || "to the peer".to_owned())
    }

    /// Accepts a requested connection; answered by an `ESTABLISHED` event.
    ///
    /// # Errors
    /// The errno of `rdma_accept`.
    pub fn accept(&self, queue: &QueuePair, limits: ConnectionLimits) -> Result<(), VerbsError> {
        debug_assert!(queue.belongs_to(self));
        let mut parameters = limits.parameters(&[]);
        // SAFETY: as for connect.
        let code = unsafe { (self.cm().rdma_accept)(self.as_ptr(), &mut parameters) };
        self.done(code, "rdma_accept", || "of the peer's connection".to_owned())
    }

    /// Ends the connection. Best effort: the other side may have ended it already.
    pub fn disconnect(&self) {
        // SAFETY: live id; an error means that there is no connection any more.
        unsafe { (self.cm().rdma_disconnect)(self.as_ptr()) };
    }

    /// Sets the acknowledgement timeout to 4.096 us x 2^`exponent`; kernels before 5.3 ignore it.
    pub fn set_ack_timeout(&self, exponent: u8) {
        const RDMA_OPTION_ID: c_int = 0;
        const RDMA_OPTION_ID_ACK_TIMEOUT: c_int = 3;
        let mut value = exponent;
        let value = ptr::from_mut(&mut value).cast::<c_void>();
        // SAFETY: the option takes one byte, which is copied.
        unsafe {
            (self.cm().rdma_set_option)(
                self.as_ptr(),
                RDMA_OPTION_ID,
                RDMA_OPTION_ID_ACK_TIMEOUT,
                value,
                1,
            )
        };
    }

    /// What the bound device and port say of themselves.
    ///
    /// # Errors
    /// `ENODEV` when the identifier is bound to no device, otherwise the errno of the queries.
    pub fn attributes(&self) -> Result<PortAttributes, VerbsError> {
        let context = self.context()?;
        // SAFETY: live id; the context is its device's, open as long as the id is bound.
        unsafe { query(context, self.handle.raw.as_ref().port_num) }
    }

    /// The verbs context of the bound device. Valid while this identifier lives.
    pub(super) fn context(&self) -> Result<NonNull<ibv_context>, VerbsError> {
        // SAFETY: live id; `verbs` is null until it is bound to a device.
        NonNull::new(unsafe { self.handle.raw.as_ref().verbs }).ok_or_else(|| {
            VerbsError::new(
                "finding the RDMA device",
                "of the bound address",
                Reason::Errno(libc::ENODEV),
            )
        })
    }

    pub(super) fn as_ptr(&self) -> *mut rdma_cm_id {
        self.handle.raw.as_ptr()
    }

    pub(super) fn cm(&self) -> &'static Rdmacm {
        self.handle.channel.cm()
    }

    fn done(
        &self,
        code: c_int,
        operation: &str,
        object: impl FnOnce() -> String,
    ) -> Result<(), VerbsError> {
        if code == 0 { Ok(()) } else { Err(VerbsError::last_os(operation, object())) }
    }
}

fn milliseconds(duration: Duration) -> c_int {
    c_int::try_from(duration.as_millis()).unwrap_or(c_int::MAX).max(1)
}

/// A socket address in the C form that rdma_cm takes.
enum RawAddress {
    V4(libc::sockaddr_in),
    V6(libc::sockaddr_in6),
}

impl From<SocketAddr> for RawAddress {
    fn from(address: SocketAddr) -> Self {
        match address {
            SocketAddr::V4(v4) => Self::V4(libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                sin_zero: [0; 8],
            }),
            SocketAddr::V6(v6) => Self::V6(libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: 0,
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            }),
        }
    }
}

impl RawAddress {
    fn as_mut_ptr(&mut self) -> *mut libc::sockaddr {
        match self {
            Self::V4(raw) => ptr::from_mut(raw).cast(),
            Self::V6(raw) => ptr::from_mut(raw).cast(),
        }
    }
}
