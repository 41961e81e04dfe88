//! What is wrong with a profile, in one style for syntax and meaning.

use std::fmt;

use serde::Serialize;

use super::source::{Source, Spot};

/// A profile that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// The file could not be read.
    #[error("cannot read the profile {path}: {reason}")]
    Unreadable {
        /// The file as it was named.
        path: String,
        /// Why, in the system's words where it has some.
        reason: String,
    },
    /// The file was read, and these things are wrong with it.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// The profile is in order but not meant for this host.
    #[error(
        "the profile {profile} is not for this host: `hosts` has {hosts}, the host's name is {host}; if it is one of them, say which with --host NAME"
    )]
    HostNotListed {
        /// The profile's file.
        profile: String,
        /// The host's name as it was given.
        host: String,
        /// The hosts of the profile, shortened as Slurm would.
        hosts: String,
    },
    /// More than one entry of `hosts` has the short name of this host.
    #[error(
        "the profile {profile} does not say which host {host} is: `hosts` has {hosts}; give the full name with --host NAME"
    )]
    HostAmbiguous {
        /// The profile's file.
        profile: String,
        /// The host's name as it was given.
        host: String,
        /// The entries that fit.
        hosts: String,
    },
}

/// All that is wrong with a profile, in the order of its lines; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problems {
    /// The profile's file.
    pub profile: String,
    /// The problems, at most [`Problems::LIMIT`].
    pub problems: Vec<Problem>,
    /// How many more there are.
    pub omitted: usize,
}

impl Problems {
    /// How many problems are reported.
    pub const LIMIT: usize = 20;
}

impl std::error::Error for Problems {}

/// One thing that is wrong, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where, and what.
    #[serde(flatten)]
    pub mark: Mark,
    /// Other places that have to do with it.
    pub related: Vec<Mark>,
    /// What to write instead.
    pub help: Option<String>,
}

/// A sentence about a place in the profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The sentence.
    pub message: String,
    /// The line with a caret below it.
    pub excerpt: String,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                f.write_str("\n\n")?;
            }
            let mut width = 3;
            for mark in std::iter::once(&problem.mark).chain(&problem.related) {
                let indent = if std::ptr::eq(mark, &raw const problem.mark) { "" } else { "\n" };
                let Mark { line, column, message, excerpt } = mark;
                write!(f, "{indent}{}:{line}:{column}: {message}\n{excerpt}", self.profile)?;
                width = line.to_string().len().max(3);
            }
            if let Some(help) = &problem.help {
                write!(f, "\n{:width$} = {help}", "")?;
            }
        }
        if self.omitted > 0 {
            write!(f, "\n\nand {} more", self.omitted)?;
        }
        Ok(())
    }
}

/// A problem while the profile is still being read.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    spot: Spot,
    message: String,
    help: Option<String>,
    related: Vec<(Spot, String)>,
}

impl Finding {
    pub(super) fn new(spot: Spot, message: impl Into<String>) -> Finding {
        Finding { spot, message: message.into(), help: None, related: Vec::new() }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = Some(help.into());
        self
    }

    pub(super) fn maybe_help(mut self, help: Option<String>) -> Finding {
        self.help = help.or(self.help);
        self
    }

    pub(super) fn related(mut self, spot: Spot, message: impl Into<String>) -> Finding {
        self.related.push((spot, message.into()));
        self
    }
}

/// Collects findings, so that one pass shows all of them.
#[derive(Debug, Default)]
pub(super) struct Findings {
    list: Vec<Finding>,
    count: usize,
}

/// Findings beyond this are only counted: a file of nothing but faults must not fill the memory.
const KEPT: usize = 1000;

impl Findings {
    pub(super) fn push(&mut self, finding: Finding) {
        self.count += 1;
        if self.list.len() < KEPT {
            self.list.push(finding);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The findings with excerpts, ordered by place.
    pub(super) fn into_problems(mut self, source: &Source) -> Problems {
        self.list.sort_by_key(|finding| finding.spot.start);
        // What an alias repeats is one fault of the place it stands for.
        let before = self.list.len();
        self.list.dedup_by(|a, b| a.spot == b.spot && a.message == b.message);
        self.count -= before - self.list.len();
        let shown = self.list.len().min(Problems::LIMIT);
        let mark = |spot: Spot, message: String| {
            let (line, column) = source.position(spot.start);
            Mark { line, column, message, excerpt: source.excerpt(spot) }
        };
        let problems = self
            .list
            .drain(..shown)
            .map(|finding| Problem {
                mark: mark(finding.spot, finding.message),
                related: finding
                    .related
                    .into_iter()
                    .map(|(spot, message)| mark(spot, message))
                    .collect(),
                help: finding.help,
            })
            .collect();
        Problems { profile: source.name.clone(), problems, omitted: self.count - shown }
    }
}
