//! Administrative state of a link.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whether a link is administratively up (`IFF_UP`); the carrier is another matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// `ip link set ... up`
    Up,
    /// `ip link set ... down`
    Down,
}

impl fmt::Display for LinkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LinkState::Up => "up",
            LinkState::Down => "down",
        })
    }
}
