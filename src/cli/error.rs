//! Why a command gives no report. Always exit code 2: no verdict, and nothing was changed.

use std::fmt;

use crate::report::visible;

/// What kind of error it is, for programs that read JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The command line.
    Usage,
    /// The profile cannot be read or is not valid.
    Profile,
    /// The host is not in the profile.
    Host,
    /// A facts file cannot be read or is not valid.
    Facts,
    /// This host could not be looked at.
    Look,
    /// What is needed to start is missing: a privilege, the lock, an address.
    Start,
    /// The answer cannot be written.
    Output,
    /// The deadline passed before there was a verdict.
    Deadline,
}

impl Kind {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Usage => "usage",
            Kind::Profile => "profile",
            Kind::Host => "host",
            Kind::Facts => "facts",
            Kind::Look => "look",
            Kind::Start => "start",
            Kind::Output => "output",
            Kind::Deadline => "deadline",
        }
    }
}

/// An error at the edge: what was being done to what, what went wrong, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    /// What kind.
    pub kind: Kind,
    /// What was being done and what went wrong.
    pub message: String,
    /// What to do.
    pub fix: Option<String>,
}

impl CliError {
    /// An error without a fix.
    pub fn new(kind: Kind, message: impl Into<String>) -> CliError {
        CliError { kind, message: message.into(), fix: None }
    }

    /// The same with what to do.
    #[must_use]
    pub fn with_fix(self, fix: impl Into<String>) -> CliError {
        CliError { fix: Some(fix.into()), ..self }
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> CliError {
        CliError::new(Kind::Output, format!("cannot write the answer: {error}"))
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names from files and arguments must not steer a terminal; lines of an excerpt stay lines.
        let shown = |text: &str| text.split('\n').map(visible).collect::<Vec<_>>().join("\n");
        writeln!(f, "error: {}", shown(&self.message))?;
        match &self.fix {
            Some(fix) => writeln!(f, "  fix: {}", shown(fix)),
            None => Ok(()),
        }
    }
}
