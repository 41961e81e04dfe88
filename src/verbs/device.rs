//! The devices that libibverbs offers, and what a device and a port say of themselves.

use std::ffi::{CStr, c_int};
use std::ptr::NonNull;

use rdma_sys::{ibv_context, ibv_device, ibv_device_attr, ibv_port_attr};
use serde::{Deserialize, Serialize};

use super::error::{Reason, VerbsError};
use super::library::Ibverbs;

/// One device as the verbs library lists it. A device that sysfs has and this list lacks has no
/// provider library or no uverbs node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerbsDevice {
    /// The kernel's name, such as `rdmap2s0f0`.
    pub name: String,
    /// `ibv_device.node_type`: `CA` (InfiniBand and RoCE), `RNIC` (iWARP), ...
    pub node_type: String,
    /// `ibv_device.transport_type`: `InfiniBand` (also for RoCE), `iWARP`, ...
    pub transport: String,
    /// The node GUID in sysfs notation, `5254:00ff:fe00:0100`. All zeroes crash users of rdma_cm.
    pub guid: String,
}

/// Lists the devices for which libibverbs has a provider.
///
/// # Errors
/// The loader's words when libibverbs is missing; `ENOSYS` when the kernel has no RDMA support
/// loaded.
pub fn list_devices() -> Result<Vec<VerbsDevice>, VerbsError> {
    let verbs = Ibverbs::get()?;
    let mut count: c_int = 0;
    // SAFETY: the out parameter is a valid int; the function has no other precondition.
    let list = unsafe { (verbs.ibv_get_device_list)(&mut count) };
    let Some(list) = NonNull::new(list) else {
        return Err(VerbsError::last_os("ibv_get_device_list", "of this host"));
    };
    let devices = (0..usize::try_from(count).unwrap_or(0))
        // SAFETY: the library returned `count` valid device pointers, which live until the list is
        // freed below.
        .map(|index| unsafe { describe(verbs, *list.as_ptr().add(index)) })
        .collect();
    // SAFETY: the list came from ibv_get_device_list and nothing refers to it any more: `describe`
    // copies.
    unsafe { (verbs.ibv_free_device_list)(list.as_ptr()) };
    Ok(devices)
}

/// Copies out what one entry of the device list says.
///
/// # Safety
/// `device` must be an entry of a device list that has not been freed.
unsafe fn describe(verbs: &Ibverbs, device: *mut ibv_device) -> VerbsDevice {
    // SAFETY: by this function's contract the pointer is live; the name is the library's own
    // NUL-terminated array.
    let (name, guid, node_type, transport) = unsafe {
        (
            CStr::from_ptr((verbs.ibv_get_device_name)(device)).to_string_lossy().into_owned(),
            (verbs.ibv_get_device_guid)(device),
            (*device).node_type,
            (*device).transport_type,
        )
    };
    VerbsDevice {
        name,
        node_type: node_type_name(node_type),
        transport: transport_name(transport),
        guid: guid_text(guid),
    }
}

/// A GUID in network byte order in the notation of sysfs.
fn guid_text(guid: u64) -> String {
    let b = guid.to_ne_bytes();
    format!(
        "{:02x}{:02x}:{:02x}{:02x}:{:02x}{:02x}:{:02x}{:02x}",
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]
    )
}

/// `enum ibv_node_type` without its prefix.
fn node_type_name(node_type: c_int) -> String {
    match node_type {
        1 => "CA".to_owned(),
        2 => "switch".to_owned(),
        3 => "router".to_owned(),
        4 => "RNIC".to_owned(),
        5 => "usNIC".to_owned(),
        6 => "usNIC UDP".to_owned(),
        7 => "unspecified".to_owned(),
        other => format!("unknown ({other})"),
    }
}

/// `enum ibv_transport_type` as `ibv_devinfo` prints it.
fn transport_name(transport: c_int) -> String {
    match transport {
        0 => "InfiniBand".to_owned(),
        1 => "iWARP".to_owned(),
        2 => "usNIC".to_owned(),
        3 => "usNIC UDP".to_owned(),
        4 => "unspecified".to_owned(),
        other => format!("unknown ({other})"),
    }
}

/// What a connection needs to know of its device and port (`ibv_query_device`, `ibv_query_port`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortAttributes {
    /// The device's name.
    pub device: String,
    /// The port's number on the device, from 1.
    pub port: u8,
    /// Whether the device speaks iWARP (`transport_type`).
    pub iwarp: bool,
    /// RDMA path MTU in force, bytes (`active_mtu`).
    pub active_mtu_bytes: u32,
    /// RDMA reads that a peer may have outstanding here (`max_qp_rd_atom`).
    pub max_responder_reads: u8,
    /// RDMA reads that this side may have outstanding (`max_qp_init_rd_atom`).
    pub max_initiator_reads: u8,
}

/// Asks the device and port behind an open verbs context.
///
/// # Safety
/// `context` must be a live verbs context.
pub(super) unsafe fn query(
    context: NonNull<ibv_context>,
    port: u8,
) -> Result<PortAttributes, VerbsError> {
    let verbs = Ibverbs::get()?;
    // SAFETY: the context is live by contract, and so is its device; both structs are plain
    // integers for which zero is valid.
    let (description, mut device, mut attributes) = unsafe {
        (
            describe(verbs, context.as_ref().device),
            std::mem::zeroed::<ibv_device_attr>(),
            std::mem::zeroed::<ibv_port_attr>(),
        )
    };
    // SAFETY: live context, out parameter of the header's type.
    let code = unsafe { (verbs.ibv_query_device)(context.as_ptr(), &mut device) };
    if code != 0 {
        return Err(VerbsError::new(
            "ibv_query_device",
            description.name,
            Reason::Errno(code.abs()),
        ));
    }
    // SAFETY: live context; the function fills a prefix of the struct.
    let code = unsafe { (verbs.ibv_query_port)(context.as_ptr(), port, &mut attributes) };
    if code != 0 {
        return Err(VerbsError::new(
            "ibv_query_port",
            format!("{} port {port}", description.name),
            Reason::Errno(code.abs()),
        ));
    }
    let reads = |limit: c_int| u8::try_from(limit.clamp(0, 255)).unwrap_or(u8::MAX);
    Ok(PortAttributes {
        iwarp: description.transport == "iWARP",
        device: description.name,
        port,
        // enum ibv_mtu: 1 is 256 bytes, each step doubles.
        active_mtu_bytes: if (1..=5).contains(&attributes.active_mtu) {
            128 << attributes.active_mtu
        } else {
            0
        },
        max_responder_reads: reads(device.max_qp_rd_atom),
        max_initiator_reads: reads(device.max_qp_init_rd_atom),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_is_written_as_sysfs_writes_it() {
        assert_eq!(
            guid_text(u64::from_ne_bytes([0x52, 0x54, 0, 0xff, 0xfe, 0, 1, 0])),
            "5254:00ff:fe00:0100"
        );
    }

    #[test]
    fn node_type_and_transport_have_the_names_of_the_field() {
        assert_eq!((node_type_name(4), transport_name(1)), ("RNIC".to_owned(), "iWARP".to_owned()));
        assert_eq!(transport_name(9), "unknown (9)");
    }
}
