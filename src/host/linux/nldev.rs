//! RDMA netlink (NETLINK_RDMA, client NLDEV): what sysfs does not say about RDMA devices, and the
//! making and removing of software devices.
//!
//! Never opened for looking while `/sys/class/infiniband` is absent: opening it could load `ib_core`.

use std::collections::BTreeMap;

use neli::consts::socket::NlFamily;

use super::deadline::{CHANGE, READ, within};
use super::message::{Attribute, Value, attribute, attributes, number, string};
use super::netlink::{Refusal, Session};
use crate::facts::{KernelUser, Protocol};
use crate::values::Software;

/// RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command).
const fn kind(command: u16) -> u16 {
    (5 << 10) + command
}

// enum rdma_nldev_command
const GET: u16 = kind(1);
const NEWLINK: u16 = kind(3);
const DELLINK: u16 = kind(4);
const PORT_GET: u16 = kind(5);
const RES_QP_GET: u16 = kind(10);
const RES_CM_ID_GET: u16 = kind(11);
const GET_CHARDEV: u16 = kind(15);

// enum rdma_nldev_attr
const DEV_INDEX: u16 = 1;
const DEV_NAME: u16 = 2;
const PORT_INDEX: u16 = 3;
const NDEV_NAME: u16 = 51;
const RES_QP: u16 = 19;
const RES_TYPE: u16 = 26;
const RES_KERN_NAME: u16 = 29;
const RES_CM_ID: u16 = 30;
const LINK_TYPE: u16 = 65;
const DEV_PROTOCOL: u16 = 67;
const CHARDEV_TYPE: u16 = 69;
const UVERBS_DRIVER_ID: u16 = 73;

// enum rdma_driver_id
const DRIVER_RXE: u32 = 14;
const DRIVER_SIW: u32 = 18;

/// IB_QPT_SMI and IB_QPT_GSI: the management queue pairs that ib_core has on every device.
const MANAGEMENT_QPS: [u32; 2] = [0, 1];

/// What RDMA netlink says of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) index: u32,
    pub(crate) protocol: Option<Protocol>,
    /// Network interface by port; a port that has none is absent.
    pub(crate) netdevs: BTreeMap<u32, String>,
    /// The software driver, where the kernel said which driver it is.
    pub(crate) software: Option<Software>,
}

/// Devices by name. `with_driver` names those whose driver is to be asked for as well: the request
/// would load ib_uverbs if it were missing, so only devices that have a character device belong there.
pub(crate) fn devices(with_driver: Vec<String>) -> Result<BTreeMap<String, Device>, Refusal> {
    within(READ, move || {
        let mut session = Session::open(NlFamily::Rdma)?;
        let (replies, end) = session.ask(GET, true, None, &[]);
        end?;
        let mut devices: BTreeMap<String, Device> =
            replies.iter().filter_map(|reply| device(reply)).collect();
        for (name, device) in &mut devices {
            let which = [Attribute(DEV_INDEX, Value::Number(device.index))];
            // A device may go between the two requests; what was read of its ports stays.
            let (ports, _) = session.ask(PORT_GET, true, None, &which);
            device.netdevs = ports.iter().filter_map(|reply| port(reply)).collect();
            if with_driver.contains(name) {
                let which = [
                    Attribute(DEV_INDEX, Value::Number(device.index)),
                    Attribute(CHARDEV_TYPE, Value::Text("uverbs".to_owned())),
                ];
                let (replies, _) = session.ask(GET_CHARDEV, false, None, &which);
                device.software = replies.iter().find_map(|reply| driver(reply));
            }
        }
        Ok(devices)
    })
    .unwrap_or_else(|late| Err(Refusal::said(late.to_string())))
}

fn device(reply: &[u8]) -> Option<(String, Device)> {
    let protocol = attribute(reply, DEV_PROTOCOL).map(|name| match string(name).as_str() {
        "ib" => Protocol::Ib,
        "roce" => Protocol::Roce,
        "iw" => Protocol::Iw,
        _ => Protocol::Other,
    });
    let index = number(attribute(reply, DEV_INDEX)?);
    Some((string(attribute(reply, DEV_NAME)?), Device { index, protocol, ..Device::default() }))
}

fn port(reply: &[u8]) -> Option<(u32, String)> {
    Some((number(attribute(reply, PORT_INDEX)?), string(attribute(reply, NDEV_NAME)?)))
}

fn driver(reply: &[u8]) -> Option<Software> {
    match number(attribute(reply, UVERBS_DRIVER_ID)?) {
        DRIVER_RXE => Some(Software::Rxe),
        DRIVER_SIW => Some(Software::Siw),
        _ => None,
    }
}

/// Queue pairs and connections that kernel modules own, without ib_core's own.
pub(crate) fn kernel_users() -> Result<Vec<KernelUser>, Refusal> {
    within(READ, || {
        let mut session = Session::open(NlFamily::Rdma)?;
        let (replies, end) = session.ask(GET, true, None, &[]);
        end?;
        let mut users = Vec::new();
        for (name, device) in replies.iter().filter_map(|reply| device(reply)) {
            let which = [Attribute(DEV_INDEX, Value::Number(device.index))];
            for (command, table, resource) in
                [(RES_QP_GET, RES_QP, "QP"), (RES_CM_ID_GET, RES_CM_ID, "CM_ID")]
            {
                let (replies, end) = session.ask(command, true, None, &which);
                // A device without this table, or one that has gone, has no users.
                if let Err(refusal) = end
                    && !matches!(
                        refusal.errno,
                        Some(libc::ENODEV | libc::EOPNOTSUPP | libc::EINVAL)
                    )
                {
                    return Err(refusal);
                }
                for owner in replies.iter().flat_map(|reply| owners(reply, table)) {
                    let user =
                        KernelUser { owner, device: name.clone(), resource: resource.to_owned() };
                    if !users.contains(&user) {
                        users.push(user);
                    }
                }
            }
        }
        Ok(users)
    })
    .unwrap_or_else(|late| Err(Refusal::said(late.to_string())))
}

/// Names of the kernel modules in a table of resources.
fn owners(reply: &[u8], table: u16) -> Vec<String> {
    let Some(entries) = attribute(reply, table) else {
        return Vec::new();
    };
    attributes(entries)
        .filter_map(|(_, entry)| {
            let owner = string(attribute(entry, RES_KERN_NAME)?);
            let management = table == RES_QP
                && attribute(entry, RES_TYPE)
                    .is_some_and(|kind| MANAGEMENT_QPS.contains(&number(kind)));
            (!management && owner != "ib_core").then_some(owner)
        })
        .collect()
}

/// Makes a software device. The kernel loads its module itself if need be.
pub(crate) fn add_link(name: &str, software: Software, netdev: &str) -> Result<(), Refusal> {
    let request = [
        Attribute(DEV_NAME, Value::Text(name.to_owned())),
        Attribute(LINK_TYPE, Value::Text(software.to_string())),
        Attribute(NDEV_NAME, Value::Text(netdev.to_owned())),
    ];
    change(NEWLINK, request.into())
}

/// Removes the device with this index.
pub(crate) fn remove_link(index: u32) -> Result<(), Refusal> {
    change(DELLINK, vec![Attribute(DEV_INDEX, Value::Number(index))])
}

fn change(command: u16, request: Vec<Attribute>) -> Result<(), Refusal> {
    within(CHANGE, move || Session::open(NlFamily::Rdma)?.ask(command, false, None, &request).1)
        .unwrap_or_else(|late| Err(Refusal::said(late.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: u16, value: &str) -> Vec<u8> {
        bytes(name, &[value.as_bytes(), &[0]].concat())
    }

    fn bytes(name: u16, value: &[u8]) -> Vec<u8> {
        let mut all = Vec::new();
        all.extend(u16::try_from(value.len() + 4).expect("short").to_ne_bytes());
        all.extend(name.to_ne_bytes());
        all.extend(value);
        all.resize(all.len().next_multiple_of(4), 0);
        all
    }

    #[test]
    fn a_device_and_its_port_are_decoded() {
        let reply = [
            bytes(DEV_INDEX, &3u32.to_ne_bytes()),
            text(DEV_NAME, "irdma1"),
            text(DEV_PROTOCOL, "iw"),
        ]
        .concat();
        let device = device(&reply).expect("complete");
        assert_eq!(device.0, "irdma1");
        assert_eq!((device.1.index, device.1.protocol), (3, Some(Protocol::Iw)));
        let reply = [bytes(PORT_INDEX, &1u32.to_ne_bytes()), text(NDEV_NAME, "ens1f1")].concat();
        assert_eq!(port(&reply), Some((1, "ens1f1".to_owned())));
        assert_eq!(super::device(&text(DEV_NAME, "no index")), None);
    }

    #[test]
    fn only_foreign_kernel_owners_are_users() {
        let entry = |kind: u8, owner: &str| {
            bytes(20 | 0x8000, &[bytes(RES_TYPE, &[kind]), text(RES_KERN_NAME, owner)].concat())
        };
        let user =
            bytes(20 | 0x8000, &[bytes(RES_TYPE, &[2]), bytes(28, &77u32.to_ne_bytes())].concat());
        let table = [entry(1, "ib_core"), entry(0, "mlx"), entry(2, "nvme_rdma"), user].concat();
        assert_eq!(owners(&bytes(RES_QP | 0x8000, &table), RES_QP), ["nvme_rdma"]);
    }
}
