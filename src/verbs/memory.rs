//! Protection domains and registered memory.

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::atomic::{Ordering, fence};

use rdma_sys::{ibv_mr, ibv_pd};
use serde::{Deserialize, Serialize};

use super::connection::CmId;
use super::error::{Reason, VerbsError};
use super::library::Ibverbs;

/// A protection domain on the device of a connection.
#[derive(Clone)]
pub struct ProtectionDomain {
    pub(super) handle: Rc<DomainHandle>,
}

pub(super) struct DomainHandle {
    raw: NonNull<ibv_pd>,
    verbs: &'static Ibverbs,
    device: String,
    /// Keeps the verbs context open.
    _id: CmId,
}

impl Drop for DomainHandle {
    fn drop(&mut self) {
        // SAFETY: owned, freed once; every region and queue pair in it holds an Rc of this handle.
        unsafe { (self.verbs.ibv_dealloc_pd)(self.raw.as_ptr()) };
    }
}

impl DomainHandle {
    pub(super) fn as_ptr(&self) -> *mut ibv_pd {
        self.raw.as_ptr()
    }
}

impl ProtectionDomain {
    /// Allocates a domain on the device that `id` is bound to.
    ///
    /// # Errors
    /// `ENODEV` when it is bound to none, otherwise the errno of `ibv_alloc_pd`.
    pub fn allocate(id: &CmId) -> Result<Self, VerbsError> {
        let verbs = Ibverbs::get()?;
        let device = id.attributes()?.device;
        let context = id.context()?;
        // SAFETY: the context is open as long as the id, which the handle keeps.
        let raw = unsafe { (verbs.ibv_alloc_pd)(context.as_ptr()) };
        match NonNull::new(raw) {
            Some(raw) => {
                Ok(Self { handle: Rc::new(DomainHandle { raw, verbs, device, _id: id.clone() }) })
            }
            None => Err(VerbsError::last_os("ibv_alloc_pd", format!("on {device}"))),
        }
    }
}

/// Where a peer may read and write: what it needs to know of a [`MemoryRegion`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteMemory {
    /// Virtual address of the first byte.
    pub address: u64,
    /// Remote key.
    pub rkey: u32,
    /// Bytes.
    pub length: u32,
}

/// Page-aligned memory that the device and the peer may read and write.
///
/// The device changes it behind the compiler's back, so it is never a Rust slice: bytes are copied
/// in and out.
pub struct MemoryRegion {
    address: NonNull<u8>,
    length: usize,
    region: NonNull<ibv_mr>,
    verbs: &'static Ibverbs,
    /// Deregistration needs the domain.
    _domain: Rc<DomainHandle>,
}

impl Drop for MemoryRegion {
    fn drop(&mut self) {
        // SAFETY: owned, deregistered once, and only then unmapped, so the device never holds a
        // mapping to freed memory. If the deregistration fails, the memory is leaked on purpose.
        unsafe {
            if (self.verbs.ibv_dereg_mr)(self.region.as_ptr()) == 0 {
                libc::munmap(self.address.as_ptr().cast::<c_void>(), self.length);
            }
        }
    }
}

impl MemoryRegion {
    /// Maps and registers `length` zeroed bytes for local writing and remote reading and writing.
    ///
    /// Remote writing also where only local reads are wanted: on iWARP the answer to a read is a
    /// write from the peer.
    ///
    /// # Errors
    /// `ENOMEM` when the locked-memory limit is too low.
    pub fn register(domain: &ProtectionDomain, length: u32) -> Result<Self, VerbsError> {
        // IBV_ACCESS_LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ of the verbs header.
        const ACCESS: c_int = 1 | 2 | 4;
        let verbs = domain.handle.verbs;
        let object = || format!("{length} bytes on {}", domain.handle.device);
        let bytes = length as usize;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice.
        let mapped = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        let Some(address) =
            NonNull::new(mapped.cast::<u8>()).filter(|_| mapped != libc::MAP_FAILED)
        else {
            return Err(VerbsError::last_os("mmap", object()));
        };
        // SAFETY: live domain; the mapping is `bytes` long and outlives the region (see Drop).
        let region = unsafe { (verbs.ibv_reg_mr)(domain.handle.as_ptr(), mapped, bytes, ACCESS) };
        match NonNull::new(region) {
            Some(region) => {
                Ok(Self { address, length: bytes, region, verbs, _domain: domain.handle.clone() })
            }
            None => {
                let error = VerbsError::last_os("ibv_reg_mr", object());
                // SAFETY: mapped above, and registered nowhere.
                unsafe { libc::munmap(mapped, bytes) };
                Err(error)
            }
        }
    }

    /// What the peer must know to reach this region.
    pub fn remote(&self) -> RemoteMemory {
        // SAFETY: the region is live.
        let rkey = unsafe { self.region.as_ref().rkey };
        RemoteMemory { address: self.address.as_ptr() as u64, rkey, length: self.length as u32 }
    }

    /// The local key and the address of `offset`, for a scatter/gather entry.
    pub(super) fn local(&self, offset: u32, length: u32) -> Result<(u64, u32), VerbsError> {
        self.check(offset as usize, length as usize)?;
        // SAFETY: the region is live.
        let lkey = unsafe { self.region.as_ref().lkey };
        Ok((self.address.as_ptr() as u64 + u64::from(offset), lkey))
    }

    /// Copies bytes into the region.
    ///
    /// # Errors
    /// `ERANGE` when they do not fit.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), VerbsError> {
        self.check(offset, bytes.len())?;
        // SAFETY: inside the mapping (checked); the source is a Rust slice, which the mapping never
        // overlaps.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.address.as_ptr().add(offset), bytes.len())
        };
        // What was written must be in memory before a work request that refers to it is posted.
        fence(Ordering::SeqCst);
        Ok(())
    }

    /// Copies bytes out of the region.
    ///
    /// # Errors
    /// `ERANGE` when the range is not inside it.
    pub fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), VerbsError> {
        self.check(offset, into.len())?;
        fence(Ordering::SeqCst);
        // SAFETY: as for write, the other way round.
        unsafe {
            ptr::copy_nonoverlapping(
                self.address.as_ptr().add(offset),
                into.as_mut_ptr(),
                into.len(),
            )
        };
        Ok(())
    }

    /// One byte, read anew from memory each time: for waiting on what the device writes. Outside
    /// the region it is zero.
    #[inline]
    pub fn byte(&self, offset: usize) -> u8 {
        if offset >= self.length {
            return 0;
        }
        // SAFETY: inside the mapping; volatile, because the device writes it.
        let byte = unsafe { ptr::read_volatile(self.address.as_ptr().add(offset)) };
        fence(Ordering::Acquire);
        byte
    }

    /// Sets one byte. Outside the region it does nothing.
    #[inline]
    pub fn set_byte(&self, offset: usize, value: u8) {
        if offset < self.length {
            // SAFETY: inside the mapping; volatile, because the device reads it.
            unsafe { ptr::write_volatile(self.address.as_ptr().add(offset), value) };
            fence(Ordering::Release);
        }
    }

    fn check(&self, offset: usize, length: usize) -> Result<(), VerbsError> {
        match offset.checked_add(length) {
            Some(end) if end <= self.length => Ok(()),
            _ => Err(VerbsError::new(
                "reaching",
                format!("bytes {offset}+{length} of a region of {}", self.length),
                Reason::Errno(libc::ERANGE),
            )),
        }
    }
}
