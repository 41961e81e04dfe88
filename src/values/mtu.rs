//! MTU of a network device and of an RDMA path: two numbers that are often confused.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::InvalidValue;

/// MTU of a network device in bytes, as a profile may ask for it: 68, the least that IPv4 works
/// with (RFC 791), to 65535. What a host reports can lie outside (`lo` has 65536) and is a plain
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Mtu(u32);

impl Mtu {
    /// The least MTU that IPv6 works with (RFC 8200).
    pub const IPV6_MINIMUM: u32 = 1280;

    /// Bytes, without the Ethernet header.
    pub fn bytes(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for Mtu {
    type Error = InvalidValue;

    fn try_from(bytes: u32) -> Result<Mtu, InvalidValue> {
        if (68..=65535).contains(&bytes) {
            Ok(Mtu(bytes))
        } else {
            Err(InvalidValue::new(
                "an MTU",
                &bytes.to_string(),
                "it must be between 68 and 65535 bytes",
            ))
        }
    }
}

impl From<Mtu> for u32 {
    fn from(mtu: Mtu) -> u32 {
        mtu.0
    }
}

impl fmt::Display for Mtu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// MTU of an RDMA path, the payload of one packet: one of the five sizes that verbs has
/// (`enum ibv_mtu`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum PathMtu {
    /// 256 bytes
    B256,
    /// 512 bytes
    B512,
    /// 1024 bytes
    B1024,
    /// 2048 bytes
    B2048,
    /// 4096 bytes
    B4096,
}

impl PathMtu {
    /// All sizes, ascending.
    pub const ALL: [PathMtu; 5] =
        [PathMtu::B256, PathMtu::B512, PathMtu::B1024, PathMtu::B2048, PathMtu::B4096];

    /// What the kernel takes off the netdev's MTU before it picks the path MTU, in bytes: GRH 40,
    /// UDP 8, BTH 12, XRC 4, atomic header 28, ICRC 4 (`iboe_get_mtu()` in `rdma/ib_addr.h`).
    pub const ROCE_HEADERS: u32 = 96;

    /// Payload in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            PathMtu::B256 => 256,
            PathMtu::B512 => 512,
            PathMtu::B1024 => 1024,
            PathMtu::B2048 => 2048,
            PathMtu::B4096 => 4096,
        }
    }

    /// The least netdev MTU in bytes with which a RoCE port gets this path MTU.
    pub fn netdev_mtu(self) -> u32 {
        self.bytes() + PathMtu::ROCE_HEADERS
    }

    /// The path MTU that a RoCE port gets from a netdev MTU; `None` below all sizes.
    pub fn of_netdev_mtu(bytes: u32) -> Option<PathMtu> {
        PathMtu::ALL.into_iter().rev().find(|size| size.netdev_mtu() <= bytes)
    }
}

impl TryFrom<u32> for PathMtu {
    type Error = InvalidValue;

    fn try_from(bytes: u32) -> Result<PathMtu, InvalidValue> {
        let exact = PathMtu::ALL.into_iter().find(|size| size.bytes() == bytes);
        exact.ok_or_else(|| {
            let error = InvalidValue::new(
                "an RDMA path MTU",
                &bytes.to_string(),
                "the sizes are 256, 512, 1024, 2048 and 4096",
            );
            // Who writes 1500, 4200 or 9000 has the netdev's MTU in mind.
            match PathMtu::of_netdev_mtu(bytes) {
                Some(size) => error.suggest(size.to_string()),
                None => error,
            }
        })
    }
}

impl From<PathMtu> for u32 {
    fn from(size: PathMtu) -> u32 {
        size.bytes()
    }
}

impl fmt::Display for PathMtu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_mtu_follows_the_netdev_mtu_as_in_the_kernel() {
        let table = [
            (1500, Some(1024)),
            (2200, Some(2048)),
            (4191, Some(2048)),
            (4192, Some(4096)),
            (4200, Some(4096)),
            (9000, Some(4096)),
            (351, None),
        ];
        for (netdev, path) in table {
            let got = PathMtu::of_netdev_mtu(netdev).map(PathMtu::bytes);
            assert_eq!(got, path, "{netdev}");
        }
    }

    #[test]
    fn a_netdev_mtu_in_place_of_a_path_mtu_is_refused_with_the_right_one() {
        let error = PathMtu::try_from(9000).unwrap_err();
        assert_eq!(error.suggestion.as_deref(), Some("4096"));
        assert_eq!(
            error.to_string(),
            "`9000` is not an RDMA path MTU: the sizes are 256, 512, 1024, 2048 and 4096"
        );
        assert_eq!(PathMtu::try_from(100).unwrap_err().suggestion, None);
    }

    #[test]
    fn mtus_are_bounded_and_numbers_in_json() {
        assert_eq!(Mtu::try_from(68).map(Mtu::bytes), Ok(68));
        assert_eq!(Mtu::try_from(67).unwrap_err().reason, "it must be between 68 and 65535 bytes");
        assert!(
            serde_json::from_str::<Mtu>("65536").is_err_and(|e| {
                e.to_string().contains("it must be between 68 and 65535 bytes")
            })
        );
        assert_eq!(serde_json::to_string(&PathMtu::B4096).unwrap(), "4096");
        assert_eq!(serde_json::from_str::<PathMtu>("512").unwrap(), PathMtu::B512);
    }
}
