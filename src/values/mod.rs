//! The words that profiles, facts and changes share: addresses, names, modes, versions.
//!
//! One file per kind. A value that exists is valid: the rules of the kernel are checked when it is
//! parsed, never later. Nothing here reads the host, and nothing here knows the profile.

mod bdf;
mod ip_prefix;
mod link_state;
mod mac;
mod mode;
mod mtu;
mod names;
mod version;

pub use bdf::Bdf;
pub use ip_prefix::IpPrefix;
pub use link_state::LinkState;
pub use mac::MacAddr;
pub use mode::{Mode, Software};
pub use mtu::{Mtu, PathMtu};
pub use names::{InterfaceName, ModuleName, RdmaDeviceName};
pub use version::{DriverVersion, Operator, VersionReq};

/// A text or number that is not a value of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not {kind}: {reason}")]
pub struct InvalidValue {
    /// The kind with its article, "an interface name".
    pub kind: &'static str,
    /// What was given.
    pub given: String,
    /// The rule it breaks.
    pub reason: String,
    /// What was probably meant, where that can be told.
    pub suggestion: Option<String>,
}

impl InvalidValue {
    pub(crate) fn new(kind: &'static str, given: &str, reason: impl Into<String>) -> InvalidValue {
        InvalidValue { kind, given: shorten(given), reason: reason.into(), suggestion: None }
    }

    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> InvalidValue {
        self.suggestion = Some(suggestion.into());
        self
    }
}

/// At most 60 characters of a text, so that a hostile value cannot fill a terminal; control
/// characters are escaped.
fn shorten(text: &str) -> String {
    const LIMIT: usize = 60;
    let mut short = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == LIMIT {
            short.push('…');
            break;
        }
        if c.is_control() {
            short.extend(c.escape_default());
        } else {
            short.push(c);
        }
    }
    short
}

/// Serialises a value as the text that `Display` writes and `FromStr` reads, so that a facts file
/// shows `"0000:02:00.0"` and a value read from a file obeys the same rules as any other.
macro_rules! serde_as_text {
    ($kind:ty) => {
        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $kind {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
use serde_as_text;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_to_json_as_text_and_read_back_under_the_same_rules() {
        let bdf: Bdf = serde_json::from_str("\"0000:02:00.0\"").unwrap();
        assert_eq!(serde_json::to_string(&bdf).unwrap(), "\"0000:02:00.0\"");
        let error = serde_json::from_str::<InterfaceName>("\"a/b\"").unwrap_err();
        assert_eq!(error.to_string(), "`a/b` is not an interface name: it contains `/`");
    }

    #[test]
    fn a_long_or_hostile_text_is_shortened_in_messages() {
        let error = InvalidValue::new("a thing", &"x".repeat(5000), "no");
        assert_eq!(error.given, format!("{}…", "x".repeat(60)));
        assert_eq!(InvalidValue::new("a thing", "a\u{1b}[2J", "no").given, "a\\u{1b}[2J");
    }
}
