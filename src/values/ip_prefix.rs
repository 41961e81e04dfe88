//! Addresses of interfaces, with their prefix.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::{InvalidValue, serde_as_text};

/// An address and the length of its network, `100.0.1.10/24`. The host bits are kept: this is an
/// address that an interface has, not a route.
///
/// Any address a host may report is a value; what a *profile* may ask for is narrower, see
/// [`IpPrefix::assignable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpPrefix {
    ip: IpAddr,
    length: u8,
}

const KIND: &str = "an address with a prefix";

impl IpPrefix {
    /// # Errors
    /// A length above 32 (IPv4) or 128 (IPv6).
    pub fn new(ip: IpAddr, length: u8) -> Result<IpPrefix, InvalidValue> {
        let prefix = IpPrefix { ip, length };
        if length > prefix.bits() {
            return Err(InvalidValue::new(
                KIND,
                &prefix.to_string(),
                format!(
                    "a prefix length of {} goes up to {}",
                    if ip.is_ipv4() { "IPv4" } else { "IPv6" },
                    prefix.bits()
                ),
            ));
        }
        Ok(prefix)
    }

    /// The address.
    pub fn ip(self) -> IpAddr {
        self.ip
    }

    /// Number of network bits.
    pub fn length(self) -> u8 {
        self.length
    }

    /// Whether this is IPv4.
    pub fn is_ipv4(self) -> bool {
        self.ip.is_ipv4()
    }

    /// The network: the same with the host bits cleared.
    pub fn network(self) -> IpPrefix {
        let ip = match self.ip {
            IpAddr::V4(ip) => IpAddr::V4(Ipv4Addr::from_bits(ip.to_bits() & self.mask() as u32)),
            IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & self.mask())),
        };
        IpPrefix { ip, ..self }
    }

    /// Whether an address is in the network.
    pub fn contains(self, ip: IpAddr) -> bool {
        self.is_ipv4() == ip.is_ipv4() && IpPrefix { ip, ..self }.network() == self.network()
    }

    /// Whether the two networks have an address in common: one then contains the other.
    pub fn overlaps(self, other: IpPrefix) -> bool {
        if self.length <= other.length { self.contains(other.ip) } else { other.contains(self.ip) }
    }

    /// Whether this can be the address of a port.
    ///
    /// # Errors
    /// Prefix length 0; unspecified, loopback and multicast addresses, IPv4 0/8 and 240/4; the
    /// network and broadcast address of an IPv4 network wider than /31 (RFC 3021 uses both of a
    /// /31).
    pub fn assignable(self) -> Result<(), InvalidValue> {
        let refuse = |reason: String| {
            Err(InvalidValue::new("an address of a port", &self.to_string(), reason))
        };
        if self.ip.is_unspecified() {
            return refuse("that is the unspecified address".into());
        }
        if self.ip.is_loopback() {
            return refuse("that is a loopback address".into());
        }
        if self.ip.is_multicast() {
            return refuse("that is a multicast address".into());
        }
        if self.length == 0 {
            return refuse(
                "prefix length 0 would make every address a neighbour on this port".into(),
            );
        }
        match self.ip {
            IpAddr::V4(ip) => {
                if ip.octets()[0] == 0 || ip.octets()[0] >= 240 {
                    return refuse("that range is reserved".into());
                }
                if self.length < 31 {
                    let network = self.network();
                    if network == self {
                        return refuse(format!(
                            "that is the address of the network {network} itself"
                        ));
                    }
                    if ip.to_bits() | self.mask() as u32 == u32::MAX {
                        return refuse(format!("that is the broadcast address of {network}"));
                    }
                }
            }
            IpAddr::V6(ip) => {
                if let Some(v4) = ip.to_ipv4_mapped() {
                    let error = InvalidValue::new(
                        "an address of a port",
                        &self.to_string(),
                        "that is an IPv4 address in IPv6 clothes",
                    );
                    return Err(error.suggest(v4.to_string()));
                }
            }
        }
        Ok(())
    }

    fn bits(self) -> u8 {
        if self.is_ipv4() { 32 } else { 128 }
    }

    /// The mask in the low bits of its family.
    fn mask(self) -> u128 {
        let host_bits = u32::from(self.bits() - self.length);
        u128::MAX.checked_shl(host_bits).unwrap_or(0)
    }
}

impl fmt::Display for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.length)
    }
}

impl FromStr for IpPrefix {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<IpPrefix, InvalidValue> {
        let Some((ip, length)) = text.split_once('/') else {
            return Err(InvalidValue::new(KIND, text, "its form is 100.0.1.10/24"));
        };
        let Ok(ip) = ip.parse() else {
            return Err(InvalidValue::new(
                KIND,
                text,
                "what stands before `/` is no IPv4 or IPv6 address",
            ));
        };
        let digits = !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit());
        match length.parse() {
            Ok(length) if digits => IpPrefix::new(ip, length),
            _ => Err(InvalidValue::new(KIND, text, "what stands after `/` is no prefix length")),
        }
    }
}

serde_as_text!(IpPrefix);

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> IpPrefix {
        text.parse().unwrap()
    }

    #[test]
    fn networks_are_the_address_without_host_bits() {
        for (given, network) in [
            ("100.0.1.10/24", "100.0.1.0/24"),
            ("100.0.1.10/8", "100.0.0.0/8"),
            ("100.0.1.10/0", "0.0.0.0/0"),
            ("100.0.1.10/32", "100.0.1.10/32"),
            ("fd00:0:0:1::a/64", "fd00:0:0:1::/64"),
            ("fd00::a/0", "::/0"),
            ("fd00::a/128", "fd00::a/128"),
        ] {
            assert_eq!(prefix(given).network().to_string(), network);
        }
    }

    #[test]
    fn the_classful_networks_of_two_cards_overlap_and_explicit_ones_do_not() {
        assert!(prefix("100.0.1.10/8").overlaps(prefix("100.0.2.10/8")));
        assert!(prefix("100.0.1.10/8").overlaps(prefix("100.0.2.10/24")));
        assert!(prefix("100.0.2.10/24").overlaps(prefix("100.0.1.10/8")));
        assert!(!prefix("100.0.1.10/24").overlaps(prefix("100.0.2.10/24")));
        assert!(!prefix("::/0").overlaps(prefix("0.0.0.0/0")));
        assert!(prefix("fd00::1/64").overlaps(prefix("fd00::2/126")));
    }

    #[test]
    fn wrong_texts_are_refused_with_the_reason() {
        for (text, reason) in [
            ("100.0.1.10", "its form is 100.0.1.10/24"),
            ("100.0.1/24", "what stands before `/` is no IPv4 or IPv6 address"),
            ("100.0.1.10/", "what stands after `/` is no prefix length"),
            ("100.0.1.10/+4", "what stands after `/` is no prefix length"),
            ("100.0.1.10/256", "what stands after `/` is no prefix length"),
            ("100.0.1.10/33", "a prefix length of IPv4 goes up to 32"),
            ("fd00::1/129", "a prefix length of IPv6 goes up to 128"),
        ] {
            assert_eq!(text.parse::<IpPrefix>().unwrap_err().reason, reason, "{text}");
        }
    }

    #[test]
    fn a_port_can_not_have_every_address() {
        for (text, reason) in [
            ("0.0.0.0/8", "that is the unspecified address"),
            ("127.0.0.1/8", "that is a loopback address"),
            ("224.0.0.1/24", "that is a multicast address"),
            ("ff02::1/64", "that is a multicast address"),
            ("255.255.255.255/32", "that range is reserved"),
            ("0.0.0.5/24", "that range is reserved"),
            ("100.0.1.0/24", "that is the address of the network 100.0.1.0/24 itself"),
            ("100.0.1.255/24", "that is the broadcast address of 100.0.1.0/24"),
            ("100.0.1.3/30", "that is the broadcast address of 100.0.1.0/30"),
            ("100.0.1.1/0", "prefix length 0 would make every address a neighbour on this port"),
            ("::ffff:100.0.1.1/120", "that is an IPv4 address in IPv6 clothes"),
        ] {
            assert_eq!(prefix(text).assignable().unwrap_err().reason, reason, "{text}");
        }
        for text in [
            "100.0.1.0/31",
            "100.0.1.1/31",
            "100.0.1.0/32",
            "100.0.1.254/24",
            "fd00::/64",
            "fe80::1/64",
        ] {
            assert_eq!(prefix(text).assignable(), Ok(()), "{text}");
        }
    }

    #[test]
    fn json_is_the_text() {
        let json = serde_json::to_string(&prefix("100.0.1.10/24")).unwrap();
        assert_eq!(json, "\"100.0.1.10/24\"");
        assert_eq!(serde_json::from_str::<IpPrefix>(&json).unwrap(), prefix("100.0.1.10/24"));
    }
}
