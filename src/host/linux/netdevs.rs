//! What sysfs says of network interfaces: the PCI function, driver, NUMA node, speed; and the whole
//! interface where rtnetlink does not answer.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use nix::ifaddrs::getifaddrs;

use super::tree::Tree;
use crate::facts::{Address, LinkState, Netdev, NetdevKind, Seen};
use crate::values::{Bdf, IpPrefix};

const ETHERNET_TYPES: [(&str, NetdevKind); 2] =
    [("772", NetdevKind::Loopback), ("32", NetdevKind::Ipoib)];

/// The nearest PCI function in a path below `/sys/devices`: a NIC's own, or the one above a virtio
/// or auxiliary device.
pub(crate) fn pci_ancestor(path: &Path) -> Option<Bdf> {
    path.components().rev().find_map(|part| {
        part.as_os_str().to_str().filter(|text| text.matches(':').count() == 2)?.parse().ok()
    })
}

/// Adds what sysfs knows to interfaces that rtnetlink listed.
pub(crate) fn complete(sys: &Tree, details: bool, netdevs: &mut BTreeMap<String, Netdev>) {
    for (name, netdev) in netdevs {
        let class = format!("class/net/{name}");
        // `lo` and virtual devices have no device below them, and so nothing more to read.
        let Some(place) = sys.link(&class) else {
            continue;
        };
        if place.components().any(|part| part.as_os_str() == "virtual") {
            if details {
                netdev.speed_mbps = speed(sys, &class, netdev);
            }
            continue;
        }
        netdev.bdf = pci_ancestor(&place);
        let device = match netdev.bdf {
            Some(bdf) => format!("bus/pci/devices/{bdf}"),
            None => format!("{class}/device"),
        };
        netdev.driver = sys.link_name(&format!("{device}/driver"));
        netdev.is_vf = sys.link(&format!("{device}/physfn")).is_some();
        if !details {
            continue;
        }
        netdev.speed_mbps = speed(sys, &class, netdev);
        netdev.vfs = sys
            .optional(&format!("{device}/sriov_numvfs"))
            .and_then(|count| count.parse().ok())
            .unwrap_or(0);
        netdev.numa_node = match sys
            .parsed(&format!("{device}/numa_node"), |text| text.parse::<i32>().ok())
        {
            Seen::Known { value, source } => match u32::try_from(value) {
                Ok(node) => Seen::Known { value: node, source },
                Err(_) => Seen::unknown("the kernel says -1: the firmware does not tell", source),
            },
            Seen::Unknown { why, source } => Seen::Unknown { why, source },
            Seen::NotAsked => Seen::NotAsked,
        };
    }
}

/// Reading it fails with EINVAL while the link is down, and gives -1 while there is no carrier.
fn speed(sys: &Tree, class: &str, netdev: &Netdev) -> Seen<u32> {
    let file = format!("{class}/speed");
    if netdev.carrier.get() != Some(&true) {
        return Seen::unknown("there is no carrier", sys.name(&file));
    }
    match sys.parsed(&file, |text| text.parse::<i64>().ok()) {
        Seen::Known { value, source } => match u32::try_from(value) {
            Ok(speed) => Seen::known(speed, source),
            Err(_) => Seen::unknown("the driver reports no speed", source),
        },
        Seen::Unknown { why, source } => Seen::unknown(why, source),
        Seen::NotAsked => Seen::NotAsked,
    }
}

/// Interfaces and addresses without rtnetlink. Of addresses, getifaddrs tells no lifetime: all count
/// as permanent.
pub(crate) fn fallback(
    sys: &Tree,
    details: bool,
) -> std::io::Result<(BTreeMap<String, Netdev>, BTreeMap<String, LinkState>)> {
    let mut netdevs = BTreeMap::new();
    let mut states = BTreeMap::new();
    for name in sys.names("class/net")? {
        let class = format!("class/net/{name}");
        let Some(index) =
            sys.optional(&format!("{class}/ifindex")).and_then(|text| text.parse().ok())
        else {
            continue;
        };
        let flags = sys
            .optional(&format!("{class}/flags"))
            .and_then(|text| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok());
        let up = flags.is_some_and(|flags| flags & 1 != 0);
        let kind = sys.optional(&format!("{class}/type"));
        let devtype = sys.optional(&format!("{class}/uevent")).and_then(|text| {
            text.lines().find_map(|line| Some(line.strip_prefix("DEVTYPE=")?.to_owned()))
        });
        let virtual_device =
            sys.link(&class).is_some_and(|place| place.iter().any(|part| part == "virtual"));
        let netdev = Netdev {
            index,
            kind: ETHERNET_TYPES
                .into_iter()
                .find_map(|(number, known)| (kind.as_deref() == Some(number)).then_some(known))
                .unwrap_or(match devtype {
                    Some(devtype) if virtual_device => NetdevKind::Virtual(devtype),
                    None if virtual_device => NetdevKind::Virtual("virtual".to_owned()),
                    _ => NetdevKind::Physical,
                }),
            mac: sys.optional(&format!("{class}/address")).and_then(|text| text.parse().ok()),
            permanent_mac: Seen::unknown(
                "only rtnetlink reports it, and that did not answer",
                "rtnetlink",
            ),
            carrier: if up {
                sys.parsed(&format!("{class}/carrier"), |text| match text {
                    "0" => Some(false),
                    "1" => Some(true),
                    _ => None,
                })
            } else {
                Seen::unknown(
                    "the link is down by administration",
                    sys.name(&format!("{class}/carrier")),
                )
            },
            master: sys.link_name(&format!("{class}/master")),
            ..Netdev::default()
        };
        let mtu =
            sys.optional(&format!("{class}/mtu")).and_then(|text| text.parse().ok()).unwrap_or(0);
        netdevs.insert(name.clone(), netdev);
        states.insert(name, LinkState { up, mtu, ..LinkState::default() });
    }
    complete(sys, details, &mut netdevs);
    Ok((netdevs, states))
}

/// Adds addresses from getifaddrs to the links of the fallback.
pub(crate) fn add_addresses(states: &mut BTreeMap<String, LinkState>) -> std::io::Result<()> {
    for one in getifaddrs()? {
        let ip = |storage: &nix::sys::socket::SockaddrStorage| -> Option<IpAddr> {
            let v4 = storage.as_sockaddr_in().map(|address| IpAddr::from(address.ip()));
            v4.or_else(|| storage.as_sockaddr_in6().map(|address| IpAddr::from(address.ip())))
        };
        let Some(state) = states.get_mut(&one.interface_name) else {
            continue;
        };
        let address = one.address.as_ref().and_then(ip);
        let length = one.netmask.as_ref().and_then(ip).map(|mask| match mask {
            IpAddr::V4(mask) => u32::from(mask).count_ones(),
            IpAddr::V6(mask) => u128::from(mask).count_ones(),
        });
        if let (Some(address), Some(length)) = (address, length)
            && let Ok(prefix) = IpPrefix::new(address, u8::try_from(length).unwrap_or(0))
        {
            state.addresses.insert(Address::plain(prefix));
        }
    }
    Ok(())
}
