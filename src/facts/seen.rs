//! A reading: known with its source, unknown with the reason, or never asked for.

use serde::{Deserialize, Serialize};

/// One reading of the host.
///
/// Unknown and not asked are different from every value, so that neither can pass for one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "seen", rename_all = "kebab-case")]
pub enum Seen<T> {
    /// Read, and this is where.
    Known {
        /// What was read.
        value: T,
        /// The file or call it was read from.
        source: String,
    },
    /// Could not be read.
    Unknown {
        /// The kernel's or library's own words.
        why: String,
        /// The file or call that did not answer.
        source: String,
    },
    /// Outside the scope of this look.
    #[default]
    NotAsked,
}

impl<T> Seen<T> {
    /// A reading with the file or call it came from.
    pub fn known(value: T, source: impl Into<String>) -> Self {
        Seen::Known { value, source: source.into() }
    }

    /// A reading that failed, with the reason and the file or call that failed.
    pub fn unknown(why: impl Into<String>, source: impl Into<String>) -> Self {
        Seen::Unknown { why: why.into(), source: source.into() }
    }

    /// The value, if it is known.
    pub fn get(&self) -> Option<&T> {
        match self {
            Seen::Known { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The value for changing it, if it is known.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        match self {
            Seen::Known { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Where the reading came from or failed; "not asked" when there was none.
    pub fn source(&self) -> &str {
        match self {
            Seen::Known { source, .. } | Seen::Unknown { source, .. } => source,
            Seen::NotAsked => "not asked",
        }
    }

    /// Why there is no value: the reason with its source, or that it was not asked for.
    pub fn why_not(&self) -> String {
        match self {
            Seen::Known { .. } => String::new(),
            Seen::Unknown { why, source } => format!("{source}: {why}"),
            Seen::NotAsked => "not asked in this look".to_owned(),
        }
    }

    /// True for [`Seen::NotAsked`].
    pub fn is_not_asked(&self) -> bool {
        matches!(self, Seen::NotAsked)
    }

    /// Applies `f` to a known value and keeps the source.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Seen<U> {
        match self {
            Seen::Known { value, source } => Seen::Known { value: f(value), source },
            Seen::Unknown { why, source } => Seen::Unknown { why, source },
            Seen::NotAsked => Seen::NotAsked,
        }
    }
}
