//! The JSON views: always one whole document, also of a failure.

use std::io::{self, Write};

use serde::Serialize;

use super::{FORMAT, Report};

/// Writes a report as a JSON document.
///
/// # Errors
/// Those of the writer.
pub fn write_json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_document(report, out)
}

/// Writes any value as one indented JSON document with a line feed at its end.
///
/// # Errors
/// Those of the writer.
pub fn write_document<T: Serialize>(value: &T, out: &mut dyn Write) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    out.write_all(&text)
}

/// Why a command gave no report, for programs that read JSON.
#[derive(Debug, Serialize)]
pub struct ErrorDocument<'a> {
    /// Version of this format, [`FORMAT`].
    pub format: u32,
    /// The command; none when the command line was not understood.
    pub command: Option<&'a str>,
    /// What went wrong.
    pub error: ErrorText<'a>,
}

/// The text of an error.
#[derive(Debug, Serialize)]
pub struct ErrorText<'a> {
    /// `usage`, `profile`, `facts`, `look`, `privilege`, ... : what kind of error it is.
    pub kind: &'a str,
    /// What was being done to what, and what went wrong.
    pub message: &'a str,
    /// What to do.
    pub fix: Option<&'a str>,
}

impl<'a> ErrorDocument<'a> {
    /// The document of an error.
    pub fn new(command: Option<&'a str>, error: ErrorText<'a>) -> ErrorDocument<'a> {
        ErrorDocument { format: FORMAT, command, error }
    }
}
