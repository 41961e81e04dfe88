//! Where a command gets its host and its profile from.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::args::{DEFAULT_PROFILE, Global, ProfileArg};
use super::deadline::{SharedLook, Timed, has_passed, within};
use super::error::{CliError, Kind};
use crate::facts::Scope;
use crate::host::linux::Linux;
use crate::host::saved::Saved;
use crate::host::{Look, LookError};
use crate::profile::{HostProfile, Profile, ProfileError};

/// This host, or a facts file in its place.
///
/// # Errors
/// A facts file that cannot be used.
pub(super) fn look(facts: Option<&Path>, global: &Global) -> Result<Box<dyn Look>, CliError> {
    let end = global.deadline.map(|deadline| Instant::now() + deadline);
    let look: SharedLook = match facts {
        Some(path) => Arc::new(saved(path, end)?),
        None => Arc::new(Linux::new()),
    };
    Ok(match end {
        Some(end) => Box::new(Timed::until(look, end)),
        None => Box::new(Whole(look)),
    })
}

/// A facts file, which may be a pipe that another program takes its time to fill.
fn saved(path: &Path, end: Option<Instant>) -> Result<Saved, CliError> {
    let looked = match end {
        Some(end) => {
            let own = path.to_owned();
            within(end, &Saved::name(path), move || Saved::open(&own))
        }
        None => Saved::open(path),
    };
    looked.map_err(|error| match has_passed(&error) {
        true => unseen(&error),
        false => CliError::new(Kind::Facts, error.to_string()),
    })
}

/// A look without a deadline.
struct Whole(SharedLook);

impl Look for Whole {
    fn look(&self, scope: &Scope) -> Result<crate::facts::Facts, LookError> {
        self.0.look(scope)
    }
    fn host(&self) -> Result<String, LookError> {
        self.0.host()
    }

    fn now(&self) -> std::time::Duration {
        self.0.now()
    }
    fn pause(&self, time: std::time::Duration) {
        self.0.pause(time);
    }
}

/// A look that failed, at the edge.
pub(super) fn unseen(error: &LookError) -> CliError {
    if has_passed(error) {
        return CliError::new(Kind::Deadline, error.to_string())
            .with_fix("give it more time with --deadline SECONDS");
    }
    CliError::new(Kind::Look, error.to_string())
}

/// The profile's part for the host that is looked at.
///
/// # Errors
/// A profile that cannot be read or is not valid, or that is not for this host.
pub(super) fn profile(
    arg: &ProfileArg,
    look: &dyn Look,
    global: &Global,
) -> Result<HostProfile, CliError> {
    read_profile(arg.profile.as_deref().unwrap_or(Path::new(DEFAULT_PROFILE)), look, global)
}

/// The same, but none when no profile was named and there is no default one.
///
/// # Errors
/// As [`profile`].
pub(super) fn profile_if_any(
    arg: &ProfileArg,
    look: &dyn Look,
    global: &Global,
) -> Result<Option<HostProfile>, CliError> {
    let default = Path::new(DEFAULT_PROFILE);
    let absent = || {
        let found = std::fs::symlink_metadata(default);
        found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
    };
    if arg.profile.is_none() && absent() {
        return Ok(None);
    }
    profile(arg, look, global).map(Some)
}

fn read_profile(path: &Path, look: &dyn Look, global: &Global) -> Result<HostProfile, CliError> {
    let profile = Profile::load(path).map_err(|error| unusable(&error))?;
    let host = match &global.host {
        Some(name) => name.clone(),
        None => look.host().map_err(|error| unseen(&error))?,
    };
    profile.for_host(&host).map_err(|error| unusable(&error))
}

fn unusable(error: &ProfileError) -> CliError {
    let kind = match error {
        ProfileError::HostNotListed { .. } | ProfileError::HostAmbiguous { .. } => Kind::Host,
        _ => Kind::Profile,
    };
    CliError::new(kind, error.to_string())
}

/// How reports call a profile.
pub(super) fn name(profile: &HostProfile) -> &str {
    profile.name.as_deref().unwrap_or("unnamed")
}
