//! What the command line allows, as the engine's guard.

use super::args::AllowArgs;
use crate::claims::Port;
use crate::engine::Guard;
use crate::profile::HostProfile;

/// The guard of a profile with what the command line allows.
pub(super) fn guard(profile: &HostProfile, allow: &AllowArgs) -> Guard {
    Guard {
        ports: profile.interfaces.iter().map(|wish| Port { wish: wish.clone() }).collect(),
        allowed: allow.allow_interface.iter().cloned().collect(),
        force_reload: allow.force_reload,
    }
}
