//! RDMA transports of a port, and the kernel's software devices.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::InvalidValue;

/// What a port speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// RDMA over UDP port 4791, routable.
    RoceV2,
    /// RDMA over Ethernet type 0x8915, one subnet only.
    RoceV1,
    /// RDMA over TCP.
    Iwarp,
    /// Not Ethernet at all; checked, never set.
    Infiniband,
}

impl Mode {
    /// All modes, as a profile may name them.
    pub const ALL: [Mode; 4] = [Mode::RoceV2, Mode::RoceV1, Mode::Iwarp, Mode::Infiniband];

    /// The word a profile uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::RoceV2 => "rocev2",
            Mode::RoceV1 => "rocev1",
            Mode::Iwarp => "iwarp",
            Mode::Infiniband => "infiniband",
        }
    }

    /// The name a sentence uses.
    pub fn title(self) -> &'static str {
        match self {
            Mode::RoceV2 => "RoCEv2",
            Mode::RoceV1 => "RoCEv1",
            Mode::Iwarp => "iWARP",
            Mode::Infiniband => "InfiniBand",
        }
    }

    /// RoCE of either version: the driver is in the same state for both, only GIDs and the
    /// default of rdma_cm differ.
    pub fn is_roce(self) -> bool {
        matches!(self, Mode::RoceV2 | Mode::RoceV1)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Mode, InvalidValue> {
        if let Some(mode) = Mode::ALL.into_iter().find(|mode| mode.as_str() == text) {
            return Ok(mode);
        }
        let error = InvalidValue::new(
            "an RDMA mode",
            text,
            "the modes are rocev2, rocev1, iwarp and infiniband",
        );
        let plain: String = text
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        Err(match plain.as_str() {
            "rocev2" | "roce2" | "roce" | "rroce" => error.suggest("rocev2"),
            "rocev1" | "roce1" => error.suggest("rocev1"),
            "iwarp" | "iw" => error.suggest("iwarp"),
            "infiniband" | "ib" => error.suggest("infiniband"),
            _ => error,
        })
    }
}

/// A software RDMA device of the Linux kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Software {
    /// Soft RoCE, `rdma_rxe`: RoCEv2 only.
    Rxe,
    /// Soft iWARP, `siw`.
    Siw,
}

impl Software {
    /// The word a profile and `rdma link add ... type` use.
    pub fn as_str(self) -> &'static str {
        match self {
            Software::Rxe => "rxe",
            Software::Siw => "siw",
        }
    }

    /// The one mode that such a device has.
    pub fn mode(self) -> Mode {
        match self {
            Software::Rxe => Mode::RoceV2,
            Software::Siw => Mode::Iwarp,
        }
    }

    /// The kernel module behind it.
    pub fn module(self) -> &'static str {
        match self {
            Software::Rxe => "rdma_rxe",
            Software::Siw => "siw",
        }
    }
}

impl fmt::Display for Software {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Software {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Software, InvalidValue> {
        match text {
            "rxe" => Ok(Software::Rxe),
            "siw" => Ok(Software::Siw),
            _ => {
                let error = InvalidValue::new(
                    "a software RDMA device",
                    text,
                    "there are rxe (RoCEv2) and siw (iWARP)",
                );
                Err(match text.to_ascii_lowercase().as_str() {
                    "soft-roce" | "softroce" | "rdma_rxe" | "rdma-rxe" => error.suggest("rxe"),
                    "soft-iwarp" | "softiwarp" => error.suggest("siw"),
                    _ => error,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_json_use_the_same_word() {
        for mode in Mode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
            assert_eq!(serde_json::to_string(&mode).unwrap(), format!("\"{mode}\""));
        }
        assert_eq!(serde_json::to_string(&Software::Rxe).unwrap(), "\"rxe\"");
    }

    #[test]
    fn other_spellings_are_refused_with_the_right_one() {
        for (written, meant) in [
            ("RoCEv2", "rocev2"),
            ("roce", "rocev2"),
            ("RoCE v1", "rocev1"),
            ("iWARP", "iwarp"),
            ("ib", "infiniband"),
        ] {
            let error = written.parse::<Mode>().unwrap_err();
            assert_eq!(error.suggestion.as_deref(), Some(meant), "{written}");
        }
        assert_eq!("fast".parse::<Mode>().unwrap_err().suggestion, None);
    }
}
