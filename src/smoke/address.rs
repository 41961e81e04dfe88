//! Addresses of this host: socket addresses with their scope, and which interface holds an address.

use std::fs;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::path::Path;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::SockaddrLike;

/// A socket address; a link-local one gets the scope of `netdev`.
pub(crate) fn socket_address(ip: IpAddr, port: u16, netdev: &str) -> SocketAddr {
    match ip {
        IpAddr::V6(v6) if v6.is_unicast_link_local() => {
            let scope = if_nametoindex(netdev).unwrap_or(0);
            SocketAddr::V6(SocketAddrV6::new(v6, port, 0, scope))
        }
        other => SocketAddr::new(other, port),
    }
}

/// The interfaces of this network namespace that hold `ip`.
pub(crate) fn holders(ip: IpAddr) -> Vec<String> {
    let Ok(addresses) = getifaddrs() else {
        return Vec::new();
    };
    let mut names: Vec<String> = addresses
        .filter(|entry| {
            entry.address.is_some_and(|address| match ip {
                IpAddr::V4(v4) => address.as_sockaddr_in().is_some_and(|found| found.ip() == v4),
                IpAddr::V6(v6) => address.as_sockaddr_in6().is_some_and(|found| found.ip() == v6),
            } && address.len() > 0)
        })
        .map(|entry| entry.interface_name)
        .collect();
    names.dedup();
    names
}

/// The interface's MTU in bytes (`/sys/class/net/<netdev>/mtu`).
pub(crate) fn netdev_mtu(sys: &Path, netdev: &str) -> Option<u32> {
    fs::read_to_string(sys.join("class/net").join(netdev).join("mtu")).ok()?.trim().parse().ok()
}

/// What the kernel's ARP table says of a neighbour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Neighbour {
    /// Its hardware address is known on this interface.
    Known {
        /// The hardware address.
        mac: String,
        /// The interface.
        netdev: String,
    },
    /// It was asked for on this interface, and nobody answered.
    Unanswered {
        /// The interface.
        netdev: String,
    },
}

/// Looks `ip` up in the text of `/proc/net/arp`. None when it is not listed, as with IPv6 and
/// behind a router.
pub(crate) fn neighbour(table: &str, ip: IpAddr) -> Option<Neighbour> {
    let ip = ip.to_string();
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [address, _, flags, mac, _, netdev] = fields.as_slice() else {
            return None;
        };
        let flags = u32::from_str_radix(flags.trim_start_matches("0x"), 16).ok()?;
        // ATF_COM of linux/if_arp.h: the entry is complete.
        (*address == ip).then(|| match flags & 2 {
            0 => Neighbour::Unanswered { netdev: (*netdev).to_owned() },
            _ => Neighbour::Known { mac: (*mac).to_owned(), netdev: (*netdev).to_owned() },
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARP: &str =
        "IP address       HW type     Flags       HW address            Mask     Device
100.0.1.11       0x1         0x2         52:54:00:00:02:00     *        ens1f0
100.0.1.12       0x1         0x0         00:00:00:00:00:00     *        ens1f0
";

    #[test]
    fn a_neighbour_is_known_unanswered_or_not_listed() {
        let ask = |ip: &str| neighbour(ARP, ip.parse().expect("an address"));
        let netdev = "ens1f0".to_owned();
        let mac = "52:54:00:00:02:00".to_owned();
        assert_eq!(ask("100.0.1.11"), Some(Neighbour::Known { mac, netdev: netdev.clone() }));
        assert_eq!(ask("100.0.1.12"), Some(Neighbour::Unanswered { netdev }));
        assert_eq!(ask("100.0.1.1"), None);
        assert_eq!(neighbour("garbage\nmore garbage", IpAddr::from([127, 0, 0, 1])), None);
    }

    #[test]
    fn loopback_holds_its_address() {
        assert_eq!(holders(IpAddr::from([127, 0, 0, 1])), ["lo"]);
        assert_eq!(holders(IpAddr::from([192, 0, 2, 77])), Vec::<String>::new());
    }
}
