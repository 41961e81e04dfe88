//! Completion queues and queue pairs: posting RDMA writes and reads, and hearing of their end.

use std::ffi::c_int;
use std::mem;
use std::ptr::{self, NonNull};
use std::rc::Rc;

use rdma_sys::{
    ibv_cq, ibv_poll_cq, ibv_post_send, ibv_qp, ibv_qp_init_attr, ibv_qp_type, ibv_send_flags,
    ibv_send_wr, ibv_sge, ibv_wc, ibv_wr_opcode,
};

use super::connection::CmId;
use super::error::{Reason, VerbsError, completion_name};
use super::library::Ibverbs;
use super::memory::{DomainHandle, MemoryRegion, ProtectionDomain, RemoteMemory};

/// A completion queue.
pub struct CompletionQueue {
    raw: NonNull<ibv_cq>,
    verbs: &'static Ibverbs,
    /// Keeps the verbs context open.
    _id: CmId,
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        // SAFETY: owned, destroyed once; a queue pair that uses it holds an Rc of it.
        unsafe { (self.verbs.ibv_destroy_cq)(self.raw.as_ptr()) };
    }
}

impl CompletionQueue {
    /// Creates a queue of `entries` on the device of `id`.
    ///
    /// # Errors
    /// The errno of `ibv_create_cq`.
    pub fn create(id: &CmId, entries: u16) -> Result<Rc<Self>, VerbsError> {
        let verbs = Ibverbs::get()?;
        let context = id.context()?;
        // SAFETY: the context is open as long as the id, which the queue keeps; neither context
        // pointer nor channel is used.
        let raw = unsafe {
            (verbs.ibv_create_cq)(
                context.as_ptr(),
                c_int::from(entries),
                ptr::null_mut(),
                ptr::null_mut(),
                0,
            )
        };
        match NonNull::new(raw) {
            Some(raw) => Ok(Rc::new(Self { raw, verbs, _id: id.clone() })),
            None => Err(VerbsError::last_os("ibv_create_cq", format!("of {entries} entries"))),
        }
    }

    /// Takes completed operations off the queue, up to a small batch; returns how many.
    ///
    /// # Errors
    /// [`Reason::Completion`] for the first one that is not a success.
    #[inline]
    pub fn poll(&self, object: &str) -> Result<u32, VerbsError> {
        const BATCH: usize = 16;
        // SAFETY: plain integers, for which zero is valid.
        let mut completions: [ibv_wc; BATCH] = unsafe { mem::zeroed() };
        // SAFETY: live queue, room for BATCH completions.
        let count =
            unsafe { ibv_poll_cq(self.raw.as_ptr(), BATCH as c_int, completions.as_mut_ptr()) };
        let Ok(count) = usize::try_from(count) else {
            return Err(VerbsError::new("ibv_poll_cq", object, Reason::Errno(count.abs())));
        };
        match completions[..count.min(BATCH)].iter().find(|completion| completion.status != 0) {
            None => Ok(count as u32),
            Some(failed) => Err(VerbsError::new(
                "RDMA",
                object,
                Reason::Completion {
                    status: failed.status,
                    name: completion_name(failed.status).to_owned(),
                    vendor: failed.vendor_err,
                },
            )),
        }
    }
}

/// The one-sided operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// Local memory into the peer's.
    Write,
    /// The peer's memory into the local one.
    Read,
}

/// A reliable connected queue pair on a connection identifier.
pub struct QueuePair {
    raw: NonNull<ibv_qp>,
    id: CmId,
    completions: Rc<CompletionQueue>,
    _domain: Rc<DomainHandle>,
}

impl Drop for QueuePair {
    fn drop(&mut self) {
        // SAFETY: created on this id by rdma_create_qp, destroyed once, before the id, the queue
        // and the domain that it holds.
        unsafe { (self.id.cm().rdma_destroy_qp)(self.id.as_ptr()) };
    }
}

impl QueuePair {
    /// Creates the queue pair of a connection, with room for `depth` outstanding operations.
    ///
    /// # Errors
    /// The errno of `rdma_create_qp`; `EINVAL` when a limit is beyond the device's.
    pub fn create(
        id: &CmId,
        domain: &ProtectionDomain,
        completions: &Rc<CompletionQueue>,
        depth: u16,
    ) -> Result<Self, VerbsError> {
        // SAFETY: integers and pointers, for which zero (null) is valid.
        let mut attributes: ibv_qp_init_attr = unsafe { mem::zeroed() };
        attributes.send_cq = completions.raw.as_ptr();
        attributes.recv_cq = completions.raw.as_ptr();
        attributes.qp_type = ibv_qp_type::IBV_QPT_RC;
        attributes.sq_sig_all = 1;
        attributes.cap.max_send_wr = u32::from(depth);
        attributes.cap.max_recv_wr = 1;
        attributes.cap.max_send_sge = 1;
        attributes.cap.max_recv_sge = 1;
        // SAFETY: live id, domain and queue, all of the id's device; the attributes are copied.
        let code = unsafe {
            (id.cm().rdma_create_qp)(id.as_ptr(), domain.handle.as_ptr(), &mut attributes)
        };
        let object = || format!("of {depth} operations");
        if code != 0 {
            return Err(VerbsError::last_os("rdma_create_qp", object()));
        }
        // SAFETY: live id; the call above has set its queue pair.
        match NonNull::new(unsafe { (*id.as_ptr()).qp }) {
            Some(raw) => Ok(Self {
                raw,
                id: id.clone(),
                completions: Rc::clone(completions),
                _domain: Rc::clone(&domain.handle),
            }),
            None => Err(VerbsError::new("rdma_create_qp", object(), Reason::Errno(libc::ENODEV))),
        }
    }

    /// Whether this is the queue pair of `id`.
    pub(super) fn belongs_to(&self, id: &CmId) -> bool {
        self.id.as_ptr() == id.as_ptr()
    }

    /// The queue on which posted operations complete.
    pub fn completions(&self) -> &CompletionQueue {
        &self.completions
    }

    /// Posts one operation between `local` and `remote`; it completes on
    /// [`QueuePair::completions`].
    ///
    /// # Errors
    /// `ERANGE` outside either region; `ENOMEM` when the queue is full; otherwise the provider's
    /// errno.
    #[inline]
    pub fn post(
        &self,
        transfer: Transfer,
        (local, local_offset): (&MemoryRegion, u32),
        (remote, remote_offset): (RemoteMemory, u32),
        length: u32,
    ) -> Result<(), VerbsError> {
        let object = || format!("of {length} bytes");
        if remote_offset.checked_add(length).is_none_or(|end| end > remote.length) {
            return Err(VerbsError::new("ibv_post_send", object(), Reason::Errno(libc::ERANGE)));
        }
        let (addr, lkey) = local.local(local_offset, length)?;
        let mut entry = ibv_sge { addr, length, lkey };
        // SAFETY: integers, pointers and unions of them, for which zero (null) is valid.
        let mut request: ibv_send_wr = unsafe { mem::zeroed() };
        request.sg_list = &mut entry;
        request.num_sge = 1;
        request.opcode = match transfer {
            Transfer::Write => ibv_wr_opcode::IBV_WR_RDMA_WRITE,
            Transfer::Read => ibv_wr_opcode::IBV_WR_RDMA_READ,
        };
        request.send_flags = ibv_send_flags::IBV_SEND_SIGNALED.0;
        request.wr.rdma.remote_addr = remote.address.wrapping_add(u64::from(remote_offset));
        request.wr.rdma.rkey = remote.rkey;
        let mut bad: *mut ibv_send_wr = ptr::null_mut();
        // SAFETY: live queue pair; the request and its entry are copied by the call. The local
        // range is inside a registered region, which the caller keeps until the operation has
        // completed or the queue pair is gone.
        let code = unsafe { ibv_post_send(self.raw.as_ptr(), &mut request, &mut bad) };
        if code == 0 {
            Ok(())
        } else {
            Err(VerbsError::new("ibv_post_send", object(), Reason::Errno(code.abs())))
        }
    }
}
