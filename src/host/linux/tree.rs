//! Reading small files of sysfs and procfs below a root that tests can replace.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use crate::facts::Seen;

/// The longest that a sysfs attribute can be.
const PAGE: usize = 4096;
/// The longest files of /proc that are read here are mount tables.
const LONGEST: u64 = 4 << 20;

/// A part of the file system, with the name that an administrator knows it by.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    name: String,
    /// The files are attributes of at most a page.
    attributes: bool,
}

impl Tree {
    pub(crate) fn new(root: impl Into<PathBuf>, name: &str) -> Tree {
        Tree { root: root.into(), name: name.to_owned(), attributes: name == "/sys" }
    }

    /// Where a file is.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        if file.is_empty() { self.root.clone() } else { self.root.join(file) }
    }

    /// What a file is called in messages.
    pub(crate) fn name(&self, file: &str) -> String {
        if file.is_empty() { self.name.clone() } else { format!("{}/{file}", self.name) }
    }

    /// The content without surrounding white space.
    pub(crate) fn text(&self, file: &str) -> io::Result<String> {
        let mut open = File::open(self.path(file))?;
        let mut first = [0; PAGE];
        let length = open.read(&mut first)?;
        // sysfs gives an attribute whole in one read; asking again for the end costs as much as the read.
        if self.attributes && length < PAGE {
            return Ok(String::from_utf8_lossy(&first[..length]).trim().to_owned());
        }
        let mut bytes = first[..length].to_vec();
        open.take(LONGEST).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The content, if the file is there and readable and not empty.
    pub(crate) fn optional(&self, file: &str) -> Option<String> {
        self.text(file).ok().filter(|text| !text.is_empty())
    }

    /// The content as a reading.
    pub(crate) fn seen(&self, file: &str) -> Seen<String> {
        match self.text(file) {
            Ok(text) => Seen::known(text, self.name(file)),
            Err(error) => Seen::unknown(words(&error), self.name(file)),
        }
    }

    /// The content as a reading of something that must be understood.
    pub(crate) fn parsed<T>(&self, file: &str, parse: impl FnOnce(&str) -> Option<T>) -> Seen<T> {
        match self.text(file) {
            Ok(text) => match parse(&text) {
                Some(value) => Seen::known(value, self.name(file)),
                None => Seen::unknown(
                    format!("\"{}\" is not understood", brief(&text)),
                    self.name(file),
                ),
            },
            Err(error) => Seen::unknown(words(&error), self.name(file)),
        }
    }

    /// Names in a directory, in order.
    pub(crate) fn names(&self, directory: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.path(directory))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    pub(crate) fn exists(&self, file: &str) -> bool {
        self.path(file).exists()
    }

    /// What a symbolic link points to, as it is written.
    pub(crate) fn link(&self, file: &str) -> Option<PathBuf> {
        std::fs::read_link(self.path(file)).ok()
    }

    /// The last part of what a symbolic link points to.
    pub(crate) fn link_name(&self, file: &str) -> Option<String> {
        self.link(file)
            .as_deref()
            .and_then(Path::file_name)
            .map(|name| name.to_string_lossy().into_owned())
    }
}

/// The system's words for an error, without Rust's "(os error N)".
pub(crate) fn words(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => errno_words(number),
        None => error.to_string(),
    }
}

/// The system's words for an errno, with its name.
pub(crate) fn errno_words(number: i32) -> String {
    match Errno::from_raw(number) {
        Errno::UnknownErrno => errno_name(number),
        errno => format!("{} ({errno:?})", errno.desc()),
    }
}

/// The name of an errno.
pub(crate) fn errno_name(number: i32) -> String {
    match Errno::from_raw(number) {
        Errno::UnknownErrno => format!("error {number}"),
        errno => format!("{errno:?}"),
    }
}

/// A value that came from outside, short enough for a message.
pub(crate) fn brief(text: &str) -> String {
    let line: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect();
    if text.chars().count() > 60 { format!("{line}...") } else { line }
}
