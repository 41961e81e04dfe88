//! A host profile: what must be true of a host, as an administrator writes it.
//!
//! Strictly parsed, with positions; knows nothing of the kernel and reads nothing but its own
//! file. What is true of the host is the matter of `facts`, what follows from both of `claims`.
//!
//! The way of a profile: `file` reads bytes, `node` makes a tree with places of them,
//! `schema` a document for all hosts, `select` the [`HostProfile`] of one.

mod error;
mod expect;
mod file;
mod hostlist;
mod limit;
mod node;
mod schema;
mod select;
mod shorten;
mod source;
mod suggest;
mod syntax;
#[cfg(test)]
mod tests;
mod wishes;

use std::path::Path;

pub use error::{Mark, Problem, Problems, ProfileError};
pub use expect::{Expectation, Figure, TestName};
pub use limit::{Bound, Limit};
pub use wishes::{
    HostProfile, InterfaceWish, ModuleWish, OtherAddresses, Peer, RdmaWish, Selector, SmokeLink,
    SmokeWish,
};

use error::{Finding, Findings};
use source::{Source, Spot};

/// A profile that has been read and checked, for all its hosts.
#[derive(Debug)]
pub struct Profile {
    source_name: String,
    document: schema::Document,
}

impl Profile {
    /// Reads a profile from its file, of at most 1 MiB.
    ///
    /// # Errors
    /// A file that cannot be read, and everything that is wrong with its content.
    pub fn load(path: &Path) -> Result<Profile, ProfileError> {
        Profile::parse(&file::read(path)?, &path.display().to_string())
    }

    /// Reads a profile from its content; `name` stands in front of every message.
    ///
    /// # Errors
    /// Everything that is wrong with the content, ordered by place.
    pub fn parse(content: &[u8], name: &str) -> Result<Profile, ProfileError> {
        let source = decode(content, name)?;
        let problems = |findings: Findings| ProfileError::Invalid(findings.into_problems(&source));
        let root = node::read(&source).map_err(problems)?;
        let document = schema::read(&source, &root).map_err(problems)?;
        Ok(Profile { source_name: source.name, document })
    }

    /// The hosts of the profile, in its order; empty if it fits every host.
    pub fn hosts(&self) -> &[String] {
        self.document.hosts.as_ref().map_or(&[], |hosts| &hosts.names)
    }

    /// The part of the profile for one host, by its short or full name in any case. A profile
    /// without `hosts` fits every host.
    ///
    /// # Errors
    /// The host is not in `hosts`, or its short name fits more than one entry.
    pub fn for_host(&self, host: &str) -> Result<HostProfile, ProfileError> {
        let Some(hosts) = &self.document.hosts else {
            return Ok(select::select(&self.document, None));
        };
        let profile = self.source_name.clone();
        let host = host.to_owned();
        match select::position(&hosts.names, &host) {
            Ok(position) => Ok(select::select(&self.document, Some(position))),
            Err(select::NoPosition::Absent) => Err(ProfileError::HostNotListed {
                profile,
                host,
                hosts: shorten::shorten(&hosts.names),
            }),
            Err(select::NoPosition::Ambiguous(fitting)) => Err(ProfileError::HostAmbiguous {
                profile,
                host,
                hosts: shorten::shorten(&fitting),
            }),
        }
    }
}

/// The text of a profile; what is no text at all is told by its byte.
fn decode(content: &[u8], name: &str) -> Result<Source, ProfileError> {
    let unreadable = |reason: String| ProfileError::Unreadable { path: name.to_owned(), reason };
    if content.len() as u64 > file::LIMIT {
        return Err(unreadable("it is larger than 1 MiB, which no profile is".into()));
    }
    if content.starts_with(&[0xff, 0xfe]) || content.starts_with(&[0xfe, 0xff]) {
        return Err(unreadable("it is UTF-16; save it as UTF-8".into()));
    }
    match std::str::from_utf8(content) {
        Ok(text) => Ok(Source::new(name, text.to_owned())),
        Err(error) => {
            let offset = error.valid_up_to();
            let source = Source::new(name, String::from_utf8_lossy(content).into_owned());
            let byte = content.get(offset).copied().unwrap_or_default();
            let mut findings = Findings::default();
            findings.push(
                Finding::new(
                    Spot::new(offset, offset + 1),
                    format!("byte {} of the file, 0x{byte:02x}, is not UTF-8", offset + 1),
                )
                .help("save the file as UTF-8"),
            );
            Err(ProfileError::Invalid(findings.into_problems(&source)))
        }
    }
}
